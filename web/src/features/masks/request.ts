import type { MasksState } from './state';
import type { MaskChoice } from './shared/mask_grid';

export interface MasksRequest extends MaskChoice {
  /** The seed of the order the tokens are in; 0: as they are written. */
  readonly maskShuffle: number;
}

export function masksRequest(state: MasksState): MasksRequest {
  const { maskKind, maskSize, maskPaint, maskShuffle } = state;
  return { maskKind, maskSize, maskPaint, maskShuffle };
}
