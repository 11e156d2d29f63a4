import { MAX_TOKENS } from '../../domain/tokenizer';
import { integer, optionalNumber, type StateOf } from '../../state/field';
import type { FrameAsk } from '../feature';
import type { pairFrames } from './worker/frame_feature';

export const pairFields = {
  /** The key whose products are shown; null, or one that the query may not see: the key that weighs most. */
  pairKey: optionalNumber(integer('pk', 0, [0, MAX_TOKENS - 1])),
};
export type PairState = StateOf<typeof pairFields>;

export const pairRequest: FrameAsk<typeof pairFrames, PairState> = ({ pairKey }) => ({
  key: pairKey,
});
