/** One row of the shown head. */
export interface RowData {
  readonly row: number;
  /** [T] */
  readonly weights: Float32Array;
  /** [T], before the temperature; -Infinity where masked. */
  readonly scores: Float32Array;
  /** In nats. */
  readonly entropy: number;
  /** ln of the sum of exp(score / temperature). */
  readonly lse: number;
  /** The key that weighs most. */
  readonly largest: number;
}
