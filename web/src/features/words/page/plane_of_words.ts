import { principalPlane } from '../../../domain/principal_plane';
import { cosine } from '../shared/similarity';
import { glossed } from '../shared/glosses';
import { plainWord, unitOf, type WordTable } from '../shared/word_table';

/** More words than these are not drawn. */
const MOST_WORDS = 40;

export interface PlaneOfWords {
  readonly words: readonly string[];
  /** The words as they are written on the plane. */
  readonly names: readonly string[];
  /** Words that the table does not have. */
  readonly unknown: readonly string[];
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Words that are joined, by their places in the list. */
  readonly pairs: readonly (readonly [number, number])[];
  readonly shares: readonly [number, number];
  /** The mean cosine of the differences of two pairs, in all dimensions; NaN of fewer than two pairs. */
  readonly parallel: number;
}

function meanCosine(differences: readonly (readonly number[])[]): number {
  const all = differences.flatMap((a, i) => differences.slice(i + 1).map((b) => cosine(a, b)));
  return all.reduce((sum, value) => sum + value, 0) / all.length;
}

/** The words of a list such as "cat dog man>woman" on the plane of their two principal components; null: there are too few. */
export function planeOfWords(
  table: WordTable,
  list: string,
  language: string,
): Pick<PlaneOfWords, 'unknown'> & { readonly plane: PlaneOfWords | null } {
  const groups = list
    .split(/[\s,，、]+/)
    .map((part) => part.split('>').map(plainWord).filter(Boolean))
    .filter((group) => group.length > 0);
  const asked = [...new Set(groups.flat())];
  const words = asked.filter((word) => table.rowOf.has(word)).slice(0, MOST_WORDS);
  const unknown = asked.filter((word) => !table.rowOf.has(word));
  if (words.length < 3) return { unknown, plane: null };
  const units = words.map((word) => unitOf(table, word)!);
  const data = new Float32Array(words.length * table.width);
  units.forEach((unit, i) => data.set(unit, i * table.width));
  const steps = principalPlane(data, table.width);
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { points, shares } = step.value;
  const pairs = groups
    .flatMap((group) => group.slice(1).map((word, i) => [group[i] ?? '', word] as const))
    .map(([a, b]) => [words.indexOf(a), words.indexOf(b)] as const)
    .filter(([a, b]) => a >= 0 && b >= 0);
  const differences = pairs.map(([a, b]) => Array.from(units[a]!, (x, i) => units[b]![i]! - x));
  return {
    unknown,
    plane: {
      ...{ words, unknown, pairs, shares, parallel: meanCosine(differences) },
      names: words.map((word) => glossed(word, language)),
      points: words.map((_, i) => [points[2 * i]!, points[2 * i + 1]!]),
    },
  };
}
