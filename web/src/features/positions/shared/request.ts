import type { Scheme } from '../../../domain/schemes';
import type { PairLayout } from './pair_table';

export interface PositionsRequest {
  /** k and p of PE(p + k) = M_k PE(p). */
  readonly shift: number;
  readonly position: number;
  /** Of the encoding, and of what turns its pairs. */
  readonly layout: PairLayout;
  readonly scheme: Scheme;
  readonly rotaryQ: number;
  readonly rotaryK: number;
  readonly seed: number;
}
