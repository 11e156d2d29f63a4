/** A multi-head layer as numbers: what is handed to the core, and what the check multiplies again. */
export interface Model {
  readonly numHeads: number;
  /** [D_MODEL, numHeads * D_K] */
  readonly wq: Float32Array;
  readonly wk: Float32Array;
  readonly wv: Float32Array;
  /** [numHeads * D_K] */
  readonly bq: Float32Array;
  /** [numHeads * D_K, D_MODEL] */
  readonly wo: Float32Array;
  /** How many of the first dimensions the position is added to. */
  readonly positionWidth: number;
  /** [D_MODEL], without its position. */
  readonly embed: (token: string) => Float32Array;
}
