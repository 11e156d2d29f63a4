/** Weights of one head, [T, T]. */
type Weights = Float32Array;

/** The mean over queries from `from` on of the weight on the key `back` places before each. */
function meanWeight(weights: Weights, from: number, keyOf: (query: number) => number): number {
  const count = Math.sqrt(weights.length);
  let sum = 0;
  for (let t = from; t < count; t++) sum += weights[t * count + keyOf(t)]!;
  return count > from ? sum / (count - from) : 0;
}

/** How much the queries after the first read the token before them. */
export const previousScore = (weights: Weights) => meanWeight(weights, 1, (t) => t - 1);

/** How much the queries after the first read the first token. */
export const firstScore = (weights: Weights) => meanWeight(weights, 1, () => 0);
