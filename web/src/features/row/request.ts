import type { PageState } from '../../state/page';
import type { RowState } from './state';
import type { NumberSet } from '../../domain/number_sets';

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
