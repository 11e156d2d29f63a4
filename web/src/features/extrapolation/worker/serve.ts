import { describeFailure } from '../../../domain/describe_failure';
import type { LabFailed } from '../../../domain/failure';
import { trainEngine } from '../../../engine/train_engine';
import type { FromExtrapolationLab, ToExtrapolationLab } from '../shared/protocol';
import { positionModels } from './position_models';

const tell = (message: FromExtrapolationLab | LabFailed) => self.postMessage(message);

export function serve(): (message: ToExtrapolationLab) => void {
  const engine = trainEngine();
  let latest = 0;
  const run = async ({ settings }: ToExtrapolationLab) => {
    const own = ++latest;
    const qkv = await engine;
    for (const tested of positionModels(qkv, settings)) {
      tell({ type: 'tested', tested });
      await new Promise((next) => setTimeout(next)); // another message may have come
      if (own !== latest) return;
    }
  };
  return (message) => {
    run(message).catch((error: unknown) =>
      tell({ type: 'failed', failure: describeFailure(error) }),
    );
  };
}
