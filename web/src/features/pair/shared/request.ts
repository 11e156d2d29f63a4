export interface PairRequest {
  /** Null, or a key that the query may not see: the key that weighs most. */
  readonly key: number | null;
}
