/** One row of the shown head. */
export interface RowData {
  readonly row: number;
  /** [T] */
  readonly weights: Float32Array;
  /** [T], before the temperature; -Infinity where masked. */
  readonly scores: Float32Array;
  readonly entropy: number;
  readonly lse: number;
  /** The key that weighs most. */
  readonly largest: number;
}
