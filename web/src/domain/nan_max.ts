/** The larger of two errors; NaN is the largest. */
export function worse(a: number, b: number): number {
  return a > b || Number.isNaN(a) ? a : b;
}
