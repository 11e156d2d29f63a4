import type { Principal } from '../../../domain/principal_plane';
import { cosine } from '../shared/similarity';
import { glossed } from '../shared/glosses';
import { plainWord, unitOf, type WordTable } from '../shared/word_table';

/** More words than these are not drawn. */
export const MOST_WORDS = 40;

/** Words that go on one plane, before it is known where. */
export interface ChosenWords {
  readonly words: readonly string[];
  /** The words as they are written on the plane. */
  readonly names: readonly string[];
  /** Words that the table does not have. */
  readonly unknown: readonly string[];
  /** Words that are joined, by their places in the list. */
  readonly pairs: readonly (readonly [number, number])[];
  /** The mean cosine of the differences of two pairs, in all dimensions; NaN of fewer than two pairs. */
  readonly parallel: number;
  /** The vectors of the words, of length 1: [words, width]. */
  readonly data: Float32Array;
}

export interface PlaneOfWords extends ChosenWords {
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Parts of the variance across and upwards. */
  readonly shares: readonly [number, number];
}

function meanCosine(differences: readonly (readonly number[])[]): number {
  const all = differences.flatMap((a, i) => differences.slice(i + 1).map((b) => cosine(a, b)));
  return all.reduce((sum, value) => sum + value, 0) / all.length;
}

/** What a list of words comes to. */
export interface PlaneList extends Pick<ChosenWords, 'unknown'> {
  /** Words of the list that the table has: the first MOST_WORDS of them go on the plane. */
  readonly found: number;
  /** Null: there are fewer than three. */
  readonly chosen: ChosenWords | null;
}

/** The words of a list such as "cat dog man>woman" that go on a plane. */
export function wordsOfPlane(table: WordTable, list: string, language: string): PlaneList {
  const groups = list
    .split(/[\s,，、]+/)
    .map((part) => part.split('>').map(plainWord).filter(Boolean))
    .filter((group) => group.length > 0);
  const all = [...new Set(groups.flat())];
  const known = all.filter((word) => table.rowOf.has(word));
  const found = known.length;
  const words = known.slice(0, MOST_WORDS);
  const unknown = all.filter((word) => !table.rowOf.has(word));
  if (found < 3) return { unknown, found, chosen: null };
  const units = words.map((word) => unitOf(table, word)!);
  const data = new Float32Array(words.length * table.width);
  units.forEach((unit, i) => data.set(unit, i * table.width));
  const pairs = groups
    .flatMap((group) => group.slice(1).map((word, i) => [group[i] ?? '', word] as const))
    .map(([a, b]) => [words.indexOf(a), words.indexOf(b)] as const)
    .filter(([a, b]) => a >= 0 && b >= 0);
  const differences = pairs.map(([a, b]) => Array.from(units[a]!, (x, i) => units[b]![i]! - x));
  return {
    unknown,
    found,
    chosen: {
      ...{ words, unknown, pairs, data, parallel: meanCosine(differences) },
      names: words.map((word) => glossed(word, language)),
    },
  };
}

/** These words on the plane of the two principal components of their vectors. */
export function onPlane(chosen: ChosenWords, { points, shares }: Principal): PlaneOfWords {
  const place = (i: number) => [points[2 * i]!, points[2 * i + 1]!] as const;
  return { ...chosen, shares, points: chosen.words.map((_, i) => place(i)) };
}
