import type { Dice } from '../../../domain/random_ints';

/** The tokens that sequences are made of: 0 to 9. */
export const TOKENS = 10;
/** What the decoder reads first, and what it says when it is done. */
export const START = TOKENS;
export const END = TOKENS + 1;
/** Lengths that models are trained on. */
export const SHORTEST = 4;
export const LONGEST = 20;
/** Lengths that are tested, and the longest source a reader can type. */
export const TESTED_LENGTHS: readonly number[] = Array.from(
  { length: 19 },
  (_, i) => SHORTEST + 2 * i,
);
export const LONGEST_TESTED = 40;
const BATCH = 32;

export const sequence = (random: Dice, length: number): number[] =>
  Array.from({ length }, () => random.below(TOKENS));

/** What should be said of a source: its tokens from the last to the first. */
export const expected = (source: readonly number[]): number[] => source.slice().reverse();

/** Rows to train on: sources, what the decoder reads, and what it should say after each token of that. */
export interface Rows {
  readonly source: Int32Array;
  readonly sourceLengths: Int32Array;
  readonly ids: Int32Array;
  readonly targets: Int32Array;
  readonly batch: number;
}

/** The next batch of the task, padded to the longest row there can be. */
export function nextRows(random: Dice): Rows {
  const said = LONGEST + 1;
  const rows: Rows = {
    source: new Int32Array(BATCH * LONGEST).fill(END),
    sourceLengths: new Int32Array(BATCH),
    ids: new Int32Array(BATCH * said).fill(END),
    targets: new Int32Array(BATCH * said).fill(-1),
    batch: BATCH,
  };
  for (let b = 0; b < BATCH; b++) {
    const length = SHORTEST + random.below(LONGEST - SHORTEST + 1);
    const source = sequence(random, length);
    const target = [...expected(source), END];
    rows.source.set(source, b * LONGEST);
    rows.sourceLengths[b] = length;
    rows.ids.set([START, ...target.slice(0, -1)], b * said);
    rows.targets.set(target, b * said);
  }
  return rows;
}

/** The digits of a text, as many as a source can have. */
export const readSource = (text: string): number[] =>
  Array.from(text.replace(/\D/g, '').slice(0, LONGEST_TESTED), Number);
