import type { PairRequest } from './worker/frame_feature';
import type { PairState } from './state';

export const pairRequest = ({ pairKey }: PairState): PairRequest => ({ key: pairKey });
