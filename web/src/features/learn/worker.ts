import { describeFailure } from '../../worker/describe_failure';
import { trainEngine } from '../../worker/train_engine';
import type { FromWorker, ToWorker } from './protocol';
import { Session, type Post } from './session';

const post: Post = (message: FromWorker, transfer = []) => self.postMessage(message, { transfer });

/** What arrives before the engine does waits for it. */
export function serve(): (message: ToWorker) => void {
  const session = trainEngine().then((qkv) => new Session(qkv, post));
  return (message) => {
    void session
      .then((ready) => ready.receive(message))
      .catch((error: unknown) => {
        post({ type: 'failed', failure: describeFailure(error) });
      });
  };
}
