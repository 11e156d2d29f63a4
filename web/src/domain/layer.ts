import type { Source } from '../engine/sources';
import type { NumberSet } from '../numbersets';
import type { Mask, Positions } from './choices';

/** What the heads compute: everything else follows from this. */
export interface LayerRequest {
  readonly tokens: readonly string[];
  readonly source: Source;
  readonly seed: number;
  readonly positions: Positions;
  readonly mask: Mask;
  readonly temperature: number;
  /** For the source `yours`. */
  readonly numbers: NumberSet;
}
