/** Rows up to which labelings are tried: three times what H heads can fit in every way. */
export const mostRows = (heads: number): number => 3 * (heads + 1);

/** So many random labelings of n rows are tried, or all 2^n where there are no more. */
export const LABELINGS = 256;

/**
 * The share of the labelings of `rows` points in general position that a threshold on w·h + b fits: Cover's count,
 * 2 (C(n-1, 0) + ... + C(n-1, H)) of 2^n.
 */
export function coverShare(rows: number, heads: number): number {
  let [term, sum] = [1, 0];
  for (let k = 0; k <= Math.min(heads, rows - 1); k++) {
    sum += term;
    term *= (rows - 1 - k) / (k + 1);
  }
  return sum / 2 ** (rows - 1);
}
