import { TESTED_LENGTHS, expected } from './task';

/** Tokens that were right, of all that were tested, by length. */
export interface Tally {
  readonly length: number;
  sequences: number;
  right: number;
  /** Sequences of which every token was right. */
  whole: number;
}

export const emptyTallies = (): Tally[] =>
  TESTED_LENGTHS.map((length) => ({ length, sequences: 0, right: 0, whole: 0 }));

/** Which tokens of what was said are right, each at its place. What is missing is wrong. */
export const marks = (source: readonly number[], said: ArrayLike<number>): boolean[] =>
  expected(source).map((token, t) => said[t] === token);

/** Adds what was said of sources of one length. */
export function count(
  tally: Tally,
  sources: readonly (readonly number[])[],
  said: readonly ArrayLike<number>[],
): void {
  sources.forEach((source, b) => {
    const right = marks(source, said[b] ?? []).filter(Boolean).length;
    tally.sequences++;
    tally.right += right;
    // One that goes on after the last token was not said right.
    if (right === source.length && said[b]?.length === source.length) tally.whole++;
  });
}

/** The part of tokens that are right; NaN before the first. */
export const accuracyOf = ({ length, sequences, right }: Tally): number =>
  right / (length * sequences);

/** The same over several lengths, each token counting once. */
export function accuracyWhere(tallies: readonly Tally[], has: (length: number) => boolean): number {
  const some = tallies.filter(({ length }) => has(length));
  const sum = (of: (tally: Tally) => number) => some.reduce((total, each) => total + of(each), 0);
  return sum(({ right }) => right) / sum(({ length, sequences }) => length * sequences);
}
