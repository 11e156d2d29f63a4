/** The value that as many are below as above. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A quantile, between neighbours by proportion. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (high - low) * (at - Math.floor(at));
}

/** Where two curves over the same x cross for the last time, between points by straight lines on logarithmic axes; null: never. */
export function crossing(
  xs: readonly number[],
  first: readonly number[],
  second: readonly number[],
): number | null {
  const ratios = xs.map((_, i) => Math.log((second[i] ?? NaN) / (first[i] ?? NaN)));
  for (let i = xs.length - 1; i > 0; i--) {
    const [before, after] = [ratios[i - 1] ?? NaN, ratios[i] ?? NaN];
    if (before < 0 === after < 0) continue;
    const part = before / (before - after);
    const [from, to] = [Math.log(xs[i - 1] ?? NaN), Math.log(xs[i] ?? NaN)];
    return Math.exp(from + part * (to - from));
  }
  return null;
}
