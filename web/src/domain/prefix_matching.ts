/**
 * What an induction head attends to from `query`: each token that came right after an earlier place of its own token (the prefix
 * matching of Olsson et al. 2022). The one definition that "induction" has on the page.
 */
export function prefixMatches(ids: ArrayLike<number>, query: number): number[] {
  const keys: number[] = [];
  for (let key = 1; key <= query; key++) if (ids[key - 1] === ids[query]) keys.push(key);
  return keys;
}

/** The mean, over the queries that have such keys, of the weight that a head, [T, T], gives to all of them together. */
export function prefixMatching(weights: Float32Array, ids: ArrayLike<number>): number {
  let [sum, count] = [0, 0];
  for (let query = 0; query < ids.length; query++) {
    const keys = prefixMatches(ids, query);
    if (keys.length > 0) count++;
    for (const key of keys) sum += weights[query * ids.length + key] ?? 0;
  }
  return count === 0 ? 0 : sum / count;
}
