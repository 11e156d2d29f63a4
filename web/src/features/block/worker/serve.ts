import { Slices } from '../../../engine/slices';
import { describeFailure } from '../../../domain/describe_failure';
import type { LabFailed } from '../../../domain/failure';
import { trainEngine } from '../../../engine/train_engine';
import { depthStudy } from './depth_study';
import type { DepthResult, FromDepthLab, ToDepthLab } from '../shared/protocol';

/** How long it works before it looks for another request, in milliseconds. */
const SLICE = 30;

let job: Slices<number, DepthResult | null> | undefined;

function reply(message: FromDepthLab | LabFailed): void {
  self.postMessage(message);
}

export function serve(): (message: ToDepthLab) => void {
  const engine = trainEngine();
  let asked = 0;
  return ({ request }) => {
    const number = ++asked;
    engine.then(
      (qkv) => {
        if (number !== asked) return;
        job?.end();
        job = new Slices(depthStudy(qkv, request), SLICE, {
          onSlice: (done) => reply({ type: 'progress', done }),
          onDone: (result) => reply({ type: 'result', result }),
          onError: (error) => reply({ type: 'failed', failure: describeFailure(error) }),
        });
        job.run();
      },
      (error: unknown) => reply({ type: 'failed', failure: describeFailure(error) }),
    );
  };
}
