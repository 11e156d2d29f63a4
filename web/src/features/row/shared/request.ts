import type { NumberSet } from '../../../domain/number_sets';

export interface RowRequest {
  readonly numbers: NumberSet;
  readonly query: number;
  /** Keys left out, a bit for each. */
  readonly masked: number;
  /** Null: 1 / sqrt(d_k). */
  readonly scale: number | null;
  readonly subtractMax: boolean;
}
