// Softmax and what is computed from it, in float64 by the formula: what the numbers of the core are compared with.

/** exp(x - largest) of each score as a part of the sum of all; zeros where every score is -Infinity. */
export function softmaxOf(scores: ArrayLike<number>): Float64Array {
  const powers = Float64Array.from(scores);
  const largest = powers.reduce((a, b) => Math.max(a, b), -Infinity);
  if (largest === -Infinity) return powers.fill(0);
  let sum = 0;
  powers.forEach((score, i) => (sum += powers[i] = Math.exp(score - largest)));
  return powers.map((power) => power / sum);
}

/** -sum of p ln p in nats; a weight of 0 adds nothing. */
export function entropyOf(weights: ArrayLike<number>): number {
  let entropy = 0;
  for (let i = 0; i < weights.length; i++) {
    const p = weights[i] ?? 0;
    if (p > 0) entropy -= p * Math.log(p);
  }
  return entropy;
}

/** ln of the sum of exp(x); -Infinity of none, and where every score is -Infinity. */
export function logSumExp(scores: ArrayLike<number>): number {
  const all = Float64Array.from(scores);
  const largest = all.reduce((a, b) => Math.max(a, b), -Infinity);
  if (largest === -Infinity) return largest;
  return largest + Math.log(all.reduce((sum, x) => sum + Math.exp(x - largest), 0));
}
