import { mean } from './averages';

/** y = factor x^slope, as found from measurements. */
export interface PowerFit {
  readonly slope: number;
  /** Standard error of the slope; NaN for fewer than three points, which leave nothing to judge it by. */
  readonly spread: number;
  readonly factor: number;
}

/**
 * The straight line through (ln x, ln y) by least squares, and the standard error of its slope: the root of
 * (sum of squared residuals / (n - 2)) / sum of (ln x - mean ln x)^2. Points that are not above 0 have no
 * logarithm and are left out. With fewer than two different x there is no line: all three are NaN.
 */
export function fitPower(x: readonly number[], y: readonly number[]): PowerFit {
  const points = x
    .map((value, i) => [Math.log(value), Math.log(y[i] ?? NaN)] as const)
    .filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
  const centre = mean(points.map(([a]) => a));
  const level = mean(points.map(([, b]) => b));
  const sum = (term: (a: number, b: number) => number) =>
    points.reduce((total, [a, b]) => total + term(a - centre, b - level), 0);
  const width = sum((a) => a * a);
  // The mean of equal numbers can be another one by rounding: whether there is a line is not read off the sums.
  const isLine = points.some(([a]) => a !== points[0]?.[0]);
  const slope = isLine ? sum((a, b) => a * b) / width : NaN;
  const squares = sum((a, b) => (b - slope * a) ** 2);
  const free = points.length - 2;
  const spread = free > 0 ? Math.sqrt(squares / free / width) : NaN;
  return { slope, spread, factor: Math.exp(level - slope * centre) };
}
