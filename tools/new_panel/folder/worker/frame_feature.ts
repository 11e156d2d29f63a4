import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { stage } from '../../../engine/memo';
import type { RowData } from '../../../domain/row_data';
import type { PanelnameRequest } from '../state';

/** The heaviest keys of the query. */
export interface PanelnameResult {
  readonly query: number;
  /** Heaviest first, of equal ones the first in the sentence; masked keys are left out. */
  readonly keys: readonly { readonly key: number; readonly weight: number }[];
  /** The sum of their weights. */
  readonly share: number;
}

function heaviestKeys({ row, weights }: RowData, count: number): PanelnameResult {
  const seen = Array.from(weights, (weight, key) => ({ key, weight })).filter(
    ({ weight }) => weight > 0,
  );
  const keys = seen.sort((a, b) => b.weight - a.weight || a.key - b.key).slice(0, count);
  return { query: row, keys, share: keys.reduce((sum, { weight }) => sum + weight, 0) };
}

export function panelnameFrames({
  log,
}: Workbench): FrameFeature<PanelnameRequest, PanelnameResult> {
  // Runs again when the row or the count is another, and not when the reader moves something else.
  const heaviest = stage('panelname', log, heaviestKeys);
  return { compute: ({ count }, { query }) => query && heaviest(query, count) };
}
