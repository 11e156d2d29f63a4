/** How far the float32 results of the core are from a float64 recomputation. */
export interface Check {
  /** Largest |difference| of an attention weight. */
  readonly weights: number;
  /** Largest |difference| of a row's entropy, in nats. */
  readonly entropy: number;
  /** Largest |sum of a row - 1|. */
  readonly rowSum: number;
}
