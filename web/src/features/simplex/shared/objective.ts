import { entropyOf } from '../../../domain/softmax';

/** The weights of three keys: none is negative, and they sum to 1. */
export type Weights = readonly [number, number, number];

/** Weights from two of them in thousandths. */
export const fromWhole = (first: number, second: number): Weights => [
  first / 1000,
  second / 1000,
  (1000 - first - second) / 1000,
];

/** The nearest weights in thousandths; numbers below 0 count as 0. */
export function toThousandths(values: readonly number[]): Weights {
  const kept = [0, 1, 2].map((i) => Math.max(0, values[i] ?? 0));
  const sum = kept.reduce((a, b) => a + b, 0);
  const [first = 0, second = 0] = kept.map((value) => Math.round((1000 * value) / sum));
  return fromWhole(first, Math.min(second, 1000 - first));
}

/** J(p) = p·s + tau H(p). */
export function objective(p: ArrayLike<number>, s: readonly number[], tau: number): number {
  return s.reduce((sum, score, i) => sum + score * (p[i] ?? 0), 0) + tau * entropyOf(p);
}

/** s_i - tau (1 + ln p_i), the slope of J along p_i; +Infinity where p_i is 0. */
export const slopes = (p: ArrayLike<number>, s: readonly number[], tau: number): number[] =>
  s.map((score, i) => score - tau * (1 + Math.log(p[i] ?? 0)));

/** KL(p || best) = sum of p ln(p / best) in nats. */
export function divergence(p: ArrayLike<number>, best: ArrayLike<number>): number {
  return Array.from(p).reduce(
    (sum, weight, i) => sum + (weight > 0 ? weight * Math.log(weight / (best[i] ?? 0)) : 0),
    0,
  );
}
