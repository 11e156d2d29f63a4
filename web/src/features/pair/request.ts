import type { PairState } from './state';

export interface PairRequest {
  /** Null, or a key that the query may not see: the key that weighs most. */
  readonly key: number | null;
}

export const pairRequest = ({ pairKey }: PairState): PairRequest => ({ key: pairKey });
