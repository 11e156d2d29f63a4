import { describeFailure } from '../../../domain/describe_failure';
import type { LabFailed } from '../../../domain/failure';
import { principalPlane } from '../../../engine/principal_plane';
import { spectraEngine } from '../../../engine/spectra_engine';
import type { FromWordsLab, ToWordsLab } from '../shared/protocol';

const tell = (message: FromWordsLab | LabFailed) => self.postMessage(message);

/** The plane of words, as often as it is requested. */
export function serve(): (message: ToWordsLab) => void {
  const engine = spectraEngine();
  const run = async ({ key, data, width }: ToWordsLab) =>
    tell({ type: 'plane', key, principal: principalPlane(await engine, data, width) });
  return (message) => {
    run(message).catch((error: unknown) =>
      tell({ type: 'failed', failure: describeFailure(error) }),
    );
  };
}
