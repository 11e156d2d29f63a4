import { prefixMatches } from '../../../domain/prefix_matching';
import type { TaskId } from './run_settings';

/** Ways of reading that a head may learn; each has a score between 0 and 1. */
export type ScoreId = 'previous' | 'induction' | 'source' | 'mirror' | 'same' | 'gets' | 'gives';

/** A head has learned to read in a way when its score passes this. */
export const BORN = 0.5;

/** What is looked for in the heads of each task. */
export const SCORES_OF: Readonly<Record<TaskId, readonly ScoreId[]>> = {
  copy: ['previous', 'induction', 'source'],
  reverse: ['mirror'],
  induction: ['previous', 'induction'],
  addition: ['previous'],
  histogram: ['same'],
  names: ['gets', 'gives'],
  characters: ['previous', 'induction'],
};

type Keys = (ids: readonly number[], targets: readonly number[], query: number) => number[];

const places = (ids: readonly number[], wanted: (key: number) => boolean) =>
  Array.from(ids.keys()).filter(wanted);

/** The keys that a query reads in each way; none where the way has no meaning for it. */
const KEYS: Readonly<Record<ScoreId, Keys>> = {
  /** The token before it. */
  previous: (_ids, _targets, query) => (query > 0 ? [query - 1] : []),
  /** Each token that came after an earlier place of its own token. */
  induction: (ids, _targets, query) => prefixMatches(ids, query),
  /** Where its answer stands before it. */
  source: (ids, targets, query) => {
    const wanted = targets[query]!;
    return wanted < 0 ? [] : places(ids, (key) => key <= query && ids[key] === wanted);
  },
  /** In a sentence of names: where the answer was named. */
  gets: (ids, targets, query) => KEYS.source(ids, targets, query),
  /** Where a word other than its own comes again: in a sentence of names, the one who gives. */
  gives: (ids, targets, query) =>
    targets[query]! < 0
      ? []
      : places(ids, (key) => ids[key] !== ids[query] && ids.indexOf(ids[key]!) < key),
  /** The place that is as far from the end as it is from the beginning. */
  mirror: (ids, _targets, query) => [ids.length - 1 - query],
  /** The other places of its own token. */
  same: (ids, _targets, query) => places(ids, (key) => key !== query && ids[key] === ids[query]),
};

/** The keys of every query of a row, to be made once. */
export function keysOf(
  score: ScoreId,
  { ids, targets }: { readonly ids: readonly number[]; readonly targets: readonly number[] },
): readonly (readonly number[])[] {
  return ids.map((_, query) => KEYS[score](ids, targets, query));
}

/**
 * The mean, over the queries that have such keys, of the weight that they give to all of them together. weights holds the rows of
 * one head, [T, T], from `offset` on.
 */
export function scoreOf(
  keys: readonly (readonly number[])[],
  weights: Float32Array,
  offset = 0,
): number {
  let [sum, count] = [0, 0];
  keys.forEach((wanted, query) => {
    if (wanted.length === 0) return;
    count++;
    for (const key of wanted) sum += weights[offset + query * keys.length + key]!;
  });
  return count === 0 ? 0 : sum / count;
}

/** What a head that reads everything it may in equal parts would score. */
export function evenScore(keys: readonly (readonly number[])[], causal: boolean): number {
  const rows = new Float32Array(keys.length ** 2);
  keys.forEach((_, query) => {
    const read = causal ? query + 1 : keys.length;
    rows.fill(1 / read, query * keys.length, query * keys.length + read);
  });
  return scoreOf(keys, rows);
}
