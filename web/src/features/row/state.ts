import { MAX_KEYS, type NumberSet } from '../../domain/number_sets';
import {
  clamp,
  flag,
  integer,
  number,
  optionalNumber,
  significant,
  type Limits,
  type StateOf,
} from '../../state/field';
import type { PageState } from '../../state/page';

const SCALES: Limits = [-1e4, 1e4];

export function clampScale(value: number): number {
  const scale = clamp(significant(value, 4), SCALES);
  return scale === 0 ? 0 : scale;
}

export const rowFields = {
  /** Which of the queries the panel follows. */
  rowQuery: integer('rq', 0, [0, MAX_KEYS - 1]),
  /** Keys it leaves out, a bit for each. */
  rowMasked: integer('rm', 0, [0, 2 ** MAX_KEYS - 1]),
  /** Its factor on q.k; null: 1 / sqrt(d_k). */
  rowScale: optionalNumber(number('rs', 1, SCALES, clampScale)),
  /** Whether it subtracts the maximum before exp. */
  rowMax: flag('rmax', true),
};
export type RowState = StateOf<typeof rowFields>;

export interface RowRequest {
  readonly numbers: NumberSet;
  readonly query: number;
  /** Keys left out, a bit for each. */
  readonly masked: number;
  /** Null: 1 / sqrt(d_k). */
  readonly scale: number | null;
  readonly subtractMax: boolean;
}

export function rowRequest(state: PageState & RowState): RowRequest {
  const { numbers, rowQuery, rowMasked, rowScale, rowMax } = state;
  return { numbers, query: rowQuery, masked: rowMasked, scale: rowScale, subtractMax: rowMax };
}
