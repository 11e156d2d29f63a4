import type { PairRequest } from './compute';
import type { PairState } from './state';

export const pairRequest = ({ pairKey }: PairState): PairRequest => ({ key: pairKey });
