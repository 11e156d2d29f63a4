import type { Way } from './constants';

/** What a head costs for a whole text, every query reading the keys up to itself. */
export interface Cost {
  /** Multiplications and additions; exp, phi and divisions, a few for each score or number, are left out. */
  readonly operations: number;
  /** Numbers that have to be kept to go on with the next token. */
  readonly kept: number;
}

interface Sizes {
  readonly tokens: number;
  readonly width: number;
  readonly window: number;
}

/** Pairs of a query and a key that it reads, of which each costs a product q·k and a share of v. */
const pairs = (tokens: number, window: number) => {
  const full = Math.min(tokens, window);
  return (full * (full + 1)) / 2 + (tokens - full) * window;
};

export function costOf(way: Way, { tokens, width, window }: Sizes): Cost {
  if (way === 'linear') {
    // Each token adds phi(k) v^T to a d x d matrix and phi(k) to a vector, and multiplies both by phi(q).
    const operations = tokens * (2 * width * width + width + 2 * width * width + 2 * width);
    return { operations, kept: width * width + width };
  }
  const seen = way === 'window' ? window : tokens;
  return { operations: 4 * width * pairs(tokens, seen), kept: 2 * width * Math.min(tokens, seen) };
}
