import { describeFailure } from '../../../domain/describe_failure';
import { trainEngine } from '../../../engine/train_engine';
import type { FromWorker, ToWorker } from '../shared/protocol';
import { Session, type Post, type Turn } from './training_loop';

const post: Post = (message: FromWorker, transfer = []) => self.postMessage(message, { transfer });

let next: (() => void) | null = null;
const channel = new MessageChannel();
channel.port1.onmessage = () => next?.();
const soon: Turn = (again) => {
  next = again;
  channel.port2.postMessage(null);
};

/** What arrives before the engine does waits for it. */
export function serve(): (message: ToWorker) => void {
  const session = trainEngine().then((qkv) => new Session(qkv, post, soon));
  return (message) => {
    void session
      .then((ready) => ready.receive(message))
      .catch((error: unknown) => {
        post({ type: 'failed', failure: describeFailure(error) });
      });
  };
}
