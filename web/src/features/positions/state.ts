import { SCHEMES, type Scheme } from '../../domain/schemes';
import { choice, flag, integer, optional, optionalNumber, type StateOf } from '../../state/field';
import type { PageState } from '../../state/page';
import { T5_HEADS, XL_TERMS, type XlTerm } from './shared/constants';
import { LAYOUTS, PAIRS, type PairLayout } from '../../domain/pair_table';

const ROTATIONS = [0, 4096] as const;

export const positionsFields = {
  /** k of PE(p + k) = M_k PE(p). */
  shift: integer('k', 5, [0, 128]),
  /** p of it. */
  position: integer('pp', 10, [0, 65536]),
  pair: integer('pi', 4, [0, PAIRS - 1]),
  layout: choice('pl', 'interleaved', LAYOUTS),
  /** The way of saying where a token is whose map is shown. */
  scheme: choice('ps', 'sinusoidal', SCHEMES),
  /** The head whose biases of T5 are shown, and what of the score of Transformer-XL; null: the first, and what b and d add. */
  t5Head: optionalNumber(integer('pt', 0, [0, T5_HEADS - 1])),
  xlTerm: optional(choice('px', 'position', XL_TERMS)),
  /** Where a query and a key are turned to. */
  rotaryQ: integer('pm', 12, ROTATIONS),
  rotaryK: integer('pn', 5, ROTATIONS),
  /** Whether the reader guesses before the rotated scores are shown. */
  positionsAsk: flag('pa', false),
  /** Of the scheme's random numbers; null: that of the page. */
  positionsSeed: optionalNumber(integer('psd', 0, [0, 999999])),
};
export type PositionsState = StateOf<typeof positionsFields>;

/** The seed of what this panel draws. */
export const positionsSeedOf = ({
  positionsSeed,
  seed,
}: PositionsState & { readonly seed: number }): number => positionsSeed ?? seed;

export interface PositionsRequest {
  /** k and p of PE(p + k) = M_k PE(p). */
  readonly shift: number;
  readonly position: number;
  /** Of the encoding, and of what turns its pairs. */
  readonly layout: PairLayout;
  readonly scheme: Scheme;
  readonly t5Head: number;
  readonly xlTerm: XlTerm;
  readonly rotaryQ: number;
  readonly rotaryK: number;
  readonly seed: number;
}

export function positionsRequest(state: PageState & PositionsState): PositionsRequest {
  const { shift, position, layout, scheme, rotaryQ, rotaryK } = state;
  const { t5Head, xlTerm } = state;
  return {
    ...{ shift, position, layout, scheme, rotaryQ, rotaryK, seed: positionsSeedOf(state) },
    ...{ t5Head: t5Head ?? 0, xlTerm: xlTerm ?? 'position' },
  };
}
