import type { MasksRequest } from './worker/masked_grid';
import type { MasksState } from './state';

export function masksRequest(state: MasksState): MasksRequest {
  const { maskKind, maskSize, maskPaint, maskShuffle } = state;
  return { maskKind, maskSize, maskPaint, maskShuffle };
}
