// The steps of one row of attention from their formulas, for panels that show them and for the worker that computes them.

/** Of { numbers, query, masked, scale, subtractMax }, in float32 where the page computes in float32. */
export function rowSteps({ numbers, query, masked: leftOut, scale: own, subtractMax }) {
  const count = numbers.k.length / 2;
  const at = 2 * Math.min(query, count - 1);
  const scale = own ?? Math.SQRT1_2;
  const of = (make) => Float32Array.from({ length: count }, (_, j) => make(j));
  const pair = (name, j) => [numbers[name][j], numbers[name][j + 1]];
  const [q0, q1] = pair('q', at);
  const products = of((j) => q0 * numbers.k[2 * j] + q1 * numbers.k[2 * j + 1]);
  const scaled = products.map((p) => p * scale);
  const isOut = (j) => ((leftOut >> j) & 1) === 1;
  const masked = scaled.map((s, j) => (isOut(j) ? -Infinity : s));
  const most = Math.max(...masked);
  const exps = masked.map((s) => (s === -Infinity ? 0 : Math.exp(s - (subtractMax ? most : 0))));
  const sum = exps.reduce((a, b) => a + b, 0);
  const naive = exps.map((e) => (sum === 0 ? 0 : e / sum));
  // The core always subtracts the maximum.
  const stable = of((j) => (masked[j] === -Infinity ? 0 : Math.exp(masked[j] - most)));
  const total = stable.reduce((a, b) => a + b, 0);
  const weights = stable.map((e) => (total === 0 ? 0 : e / total));
  const outputOf = (p) =>
    Float32Array.from([0, 1], (d) => p.reduce((o, w, j) => o + w * numbers.v[2 * j + d], 0));
  return {
    ...{ scale, products, scaled, masked, exps, sum, naive, weights },
    ...{ max: most, lse: Math.log(total) + most },
    ...{ naiveOutput: outputOf(naive), output: outputOf(weights) },
  };
}
