import type { MaskChoice } from './mask_grid';

export interface MasksRequest extends MaskChoice {
  /** The seed of the order the tokens are in; 0: as they are written. */
  readonly maskShuffle: number;
}
