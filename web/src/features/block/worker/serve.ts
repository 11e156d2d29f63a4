import { Slices } from '../../../engine/slices';
import { describeFailure } from '../../../domain/describe_failure';
import type { LabFailed } from '../../../domain/failure';
import { trainEngine } from '../../../engine/train_engine';
import { depthStudy } from './depth_study';
import type { DepthResult, FromDepthLab, ToDatesLab, ToDepthLab } from '../shared/protocol';
import { SLICE } from '../shared/constants';
import { datesLab } from './dates_lab';

let job: Slices<number, DepthResult | null> | undefined;

function reply(message: FromDepthLab | LabFailed): void {
  self.postMessage(message);
}

/** Each part of the panel has a worker of its own, which computes one of the two. */
export function serve(): (message: ToDepthLab | ToDatesLab) => void {
  const engine = trainEngine();
  const depth = depthLab(engine);
  const dates = datesLab(engine);
  return (message) => (message.type === 'run' ? depth(message) : dates(message));
}

function depthLab(engine: ReturnType<typeof trainEngine>): (message: ToDepthLab) => void {
  let latest = 0;
  return ({ request }) => {
    const number = ++latest;
    engine.then(
      (qkv) => {
        if (number !== latest) return;
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
