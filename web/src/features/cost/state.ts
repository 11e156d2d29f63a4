import type { Field } from '../../state/field';
import { readResult, writeResult, type BenchResult } from './shared/bench_result';
import { PRESETS, readShape, writeShape, type Shape } from './shared/shape';

const shape: Field<Shape> = {
  key: 'cs',
  initial: PRESETS.gpt2,
  write: writeShape,
  read: readShape,
};
/** What was measured, on this device or on that of whoever made the link. */
const result: Field<BenchResult | null> = {
  ...{ key: 'cb', initial: null, write: writeResult, read: readResult },
};

export const costFields = { costShape: shape, costResult: result };
