/** A straight line through points on logarithmic axes: y = factor x^slope. */
export interface Power {
  readonly slope: number;
  /** Standard error of the slope, from how far the points are off the line. */
  readonly error: number;
  readonly factor: number;
  readonly points: number;
}

/** Least squares through (ln x, ln y). Two points have no spread: the error is NaN then. */
export function fitPower(xs: readonly number[], ys: readonly number[]): Power {
  const points = xs.length;
  const [u, v] = [xs.map(Math.log), ys.map(Math.log)];
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / points;
  const [mu, mv] = [mean(u), mean(v)];
  let [square, product] = [0, 0];
  u.forEach((x, i) => {
    square += (x - mu) ** 2;
    product += (x - mu) * ((v[i] ?? NaN) - mv);
  });
  const slope = product / square;
  const intercept = mv - slope * mu;
  const rest = u.reduce((sum, x, i) => sum + ((v[i] ?? NaN) - intercept - slope * x) ** 2, 0);
  const error = points > 2 ? Math.sqrt(rest / (points - 2) / square) : NaN;
  return { slope, error, factor: Math.exp(intercept), points };
}

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
