import { D_MODEL } from './sources';

/** Where sine and cosine of a pair stand: side by side as in the paper, or all sines first. */
export const LAYOUTS = ['interleaved', 'concatenated'] as const;
export type PairLayout = (typeof LAYOUTS)[number];

export const PAIRS = D_MODEL / 2;
export const BASE = 10000;

/** The two dimensions of a pair. */
export function columnsOfPair(layout: PairLayout, pair: number): readonly [number, number] {
  return layout === 'interleaved' ? [2 * pair, 2 * pair + 1] : [pair, pair + PAIRS];
}

export function pairOfColumn(layout: PairLayout, col: number): number {
  return layout === 'interleaved' ? col >> 1 : col % PAIRS;
}

/** w_i, the angle of one step, in radians. */
export function frequency(pair: number): number {
  return BASE ** ((-2 * pair) / D_MODEL);
}
