import { describeFailure } from '../../worker/describe_failure';
import type { LabFailed } from '../../worker/lab';
import { trainEngine } from '../../worker/train_engine';
import { depthStudy } from './depth';
import type { FromDepthLab, ToDepthLab } from './lab_protocol';

/** How long it works before it looks for another request, in milliseconds. */
const SLICE = 30;

let job: ReturnType<typeof depthStudy> | undefined;

function reply(message: FromDepthLab | LabFailed): void {
  self.postMessage(message);
}

function slice(of: NonNullable<typeof job>): void {
  if (of !== job) return;
  const end = performance.now() + SLICE;
  try {
    let step = of.next();
    while (!step.done && performance.now() < end) step = of.next();
    if (step.done) {
      reply({ type: 'result', result: step.value });
      return;
    }
    reply({ type: 'progress', done: step.value });
  } catch (error) {
    reply({ type: 'failed', failure: describeFailure(error) });
    return;
  }
  setTimeout(slice, 0, of);
}

export function serve(): (message: ToDepthLab) => void {
  const engine = trainEngine();
  let asked = 0;
  return ({ request }) => {
    const number = ++asked;
    engine.then(
      (qkv) => {
        if (number !== asked) return;
        job = depthStudy(qkv, request);
        slice(job);
      },
      (error: unknown) => reply({ type: 'failed', failure: describeFailure(error) }),
    );
  };
}
