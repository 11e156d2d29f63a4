import { init } from 'qkv';
import { describeFailure } from '../../../domain/describe_failure';
import { benchmark } from './benchmark';
import type { LabFailed } from '../../../domain/failure';
import type { FromBenchLab, ToBenchLab } from '../shared/protocol';

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
