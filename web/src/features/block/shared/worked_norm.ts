import { mean } from '../../../domain/averages';
import { EPSILON, type NormType } from './constants';

/** How many numbers the row has. */
export const ROW_LENGTH = 6;

export interface WorkedNorm {
  /** What is subtracted; of RMSNorm 0. */
  readonly centre: number;
  /** What is divided by: sqrt(mean square + EPSILON). */
  readonly deviation: number;
  readonly centred: readonly number[];
  readonly normed: readonly number[];
  readonly output: readonly number[];
}

export const meanSquare = (row: readonly number[]): number => mean(row.map((x) => x * x));

/** A row through LayerNorm or RMSNorm, step by step. */
export function workedNorm(
  row: readonly number[],
  type: NormType,
  { gain, shift }: { readonly gain: number; readonly shift: number },
): WorkedNorm {
  const centre = type === 'layer' ? mean(row) : 0;
  const centred = row.map((x) => x - centre);
  const deviation = Math.sqrt(meanSquare(centred) + EPSILON);
  const normed = centred.map((x) => x / deviation);
  return { centre, deviation, centred, normed, output: normed.map((x) => gain * x + shift) };
}
