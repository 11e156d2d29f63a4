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
