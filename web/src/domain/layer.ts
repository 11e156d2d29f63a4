import type { HeadSource } from './sources';
import type { NumberSet } from './number_sets';
import type { Mask, Positions } from './choices';

/** Up to this many tokens all weights of a head go to the page. */
export const MAX_MATRIX = 64;

/** What the heads compute: everything else follows from this. */
export interface LayerRequest extends HeadSource {
  readonly tokens: readonly string[];
  readonly seed: number;
  readonly positions: Positions;
  readonly mask: Mask;
  readonly temperature: number;
  /** For the source `yours`. */
  readonly numbers: NumberSet;
  /** For the source `trained`: which model, and the tokens that it reads. Null: none is loaded. */
  readonly trained: { readonly model: number; readonly ids: readonly number[] } | null;
}
