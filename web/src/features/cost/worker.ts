import { init } from 'qkv';
import { describeFailure } from '../../worker/describe_failure';
import { benchmark } from './bench';
import type { LabFailed } from '../../worker/lab';
import type { FromBenchLab, ToBenchLab } from './lab_protocol';

function reply(message: FromBenchLab | LabFailed): void {
  self.postMessage(message);
}

async function run(cores: number): Promise<void> {
  try {
    for await (const news of benchmark(() => init({ shared: false }), cores)) {
      reply({ type: 'news', news });
    }
    reply({ type: 'done' });
  } catch (error) {
    reply({ type: 'failed', failure: describeFailure(error) });
  }
}

export const serve = () => (message: ToBenchLab) => void run(message.cores);
