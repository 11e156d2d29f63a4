import { MAX_TOKENS } from '../../domain/tokenizer';
import { integer, optionalNumber, type StateOf } from '../../state/field';

export const pairFields = {
  /** The key whose products are shown; null, or one that the query may not see: the key that weighs most. */
  pairKey: optionalNumber(integer('pk', 0, [0, MAX_TOKENS - 1])),
};
export type PairState = StateOf<typeof pairFields>;

export interface PairRequest {
  /** Null, or a key that the query may not see: the key that weighs most. */
  readonly key: number | null;
}

export const pairRequest = ({ pairKey }: PairState): PairRequest => ({ key: pairKey });
