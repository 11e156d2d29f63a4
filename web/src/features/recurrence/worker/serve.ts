import { describeFailure } from '../../../domain/describe_failure';
import type { LabFailed } from '../../../domain/failure';
import { trainEngine } from '../../../engine/train_engine';
import { Desk } from './training_loop';
import type { News, Order } from '../shared/protocol';

const tell = (message: News | LabFailed) => postMessage(message);

let turning = false;

/** Turns until nothing is to be done; messages are read between two of them. */
async function work(ready: Desk): Promise<void> {
  if (turning) return;
  turning = true;
  try {
    while (ready.busy) {
      for (const news of ready.turn()) tell(news);
      await new Promise((next) => setTimeout(next));
    }
  } finally {
    turning = false;
  }
}

export function serve(): (order: Order) => void {
  const desk = trainEngine().then((qkv) => new Desk(qkv));
  return (order) => {
    desk
      .then(async (ready) => {
        for (const news of ready.take(order)) tell(news);
        await work(ready);
      })
      .catch((error: unknown) => tell({ type: 'failed', failure: describeFailure(error) }));
  };
}
