import { unitOf, type WordTable } from './word_table';

export interface Neighbour {
  readonly word: string;
  readonly cosine: number;
}

export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** a.b / (|a| |b|); 0 where one of them has no length. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const lengths = Math.sqrt(dot(a, a) * dot(b, b));
  return lengths === 0 ? 0 : dot(a, b) / lengths;
}

/** The cosine of two words of the table; NaN where one is not in it. */
export function cosineOf(table: WordTable, a: string, b: string): number {
  const [x, y] = [unitOf(table, a), unitOf(table, b)];
  return x && y ? dot(x, y) : NaN;
}

/** From one word to another. */
type Step = readonly [to: string, from: string];

/** The difference of their vectors of length 1; null where one is not in the table. */
function differenceOf(table: WordTable, [to, from]: Step): Float32Array | null {
  const [end, start] = [unitOf(table, to), unitOf(table, from)];
  return end && start ? end.map((x, i) => x - start[i]!) : null;
}

/** The cosine of two steps; NaN where a word is not in the table. */
export function cosineOfSteps(table: WordTable, a: Step, b: Step): number {
  const [first, second] = [differenceOf(table, a), differenceOf(table, b)];
  return first && second ? cosine(first, second) : NaN;
}

/** The words whose vectors have the largest cosines with this one, the largest first. */
export function nearest(
  { words, units, width }: WordTable,
  vector: ArrayLike<number>,
  count: number,
): Neighbour[] {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  const found: Neighbour[] = [];
  for (let row = 0; row < words.length; row++) {
    const from = row * width;
    let sum = 0;
    for (let i = 0; i < width; i++) sum += vector[i]! * units[from + i]!;
    const value = sum / length;
    if (found.length === count && value <= found[count - 1]!.cosine) continue;
    const place = found.findIndex((other) => other.cosine < value);
    found.splice(place < 0 ? found.length : place, 0, { word: words[row]!, cosine: value });
    if (found.length > count) found.pop();
  }
  return found;
}

/** The words nearest to one of the table, without itself. */
export function neighboursOf(table: WordTable, word: string, count: number): Neighbour[] {
  const unit = unitOf(table, word);
  if (!unit) return [];
  return nearest(table, unit, count + 1)
    .filter((other) => other.word !== word)
    .slice(0, count);
}

/** The words of `a - b + c`. */
export type Analogy = readonly [a: string, b: string, c: string];

export interface Answer {
  /** Nearest to a - b + c, without the three words themselves. */
  readonly nearest: readonly Neighbour[];
  /** Nearest of all words: often one of the three. */
  readonly withInputs: Neighbour;
}

/** What is nearest to a - b + c, of rows of length 1 (Mikolov et al. 2013); null where one of them is no word of the table. */
export function answerOf(table: WordTable, analogy: Analogy, count: number): Answer | null {
  const [a, b, c] = analogy.map((word) => unitOf(table, word));
  if (!a || !b || !c) return null;
  const sum = a.map((x, i) => x - b[i]! + c[i]!);
  const all = nearest(table, sum, count + analogy.length);
  const [withInputs] = all;
  if (!withInputs) return null;
  const others = all.filter(({ word }) => !analogy.includes(word));
  return { nearest: others.slice(0, count), withInputs };
}
