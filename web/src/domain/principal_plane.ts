/** Rows on the plane of their two largest principal components. */
export interface Principal {
  /** [rows, 2]: of each row its places along both axes. */
  readonly points: Float32Array;
  /** Parts of the variance along each. */
  readonly shares: readonly [number, number];
}
