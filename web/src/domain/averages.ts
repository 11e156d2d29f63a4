/** The arithmetic mean; NaN of no values. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] ?? NaN;
  return sum / values.length;
}

/** The value in the middle, or the mean of the two in the middle; NaN of no values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which a part of all are, `part` from 0 to 1; between two values by linear interpolation. NaN of no values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (high - low) * (at - Math.floor(at));
}
