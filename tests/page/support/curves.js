// What a temperature makes of the scores of one row, in float64 and from the formulas.
import { softmax } from './oracle.js';

const U = 2 ** -24;
const norm = (values) => Math.hypot(...values);

/** H, p_max and |J|_F of softmax(scores / tau) in float64, each with a bound for what float32 may differ. */
export function curvePoint(scores, tau) {
  // Division by tau, or multiplication by 1/tau, rounds at most twice.
  const logits = scores.map((s) => ({ value: s / tau, error: 2 * U * Math.abs(s / tau) }));
  const { weights, bounds, entropy } = softmax(logits);
  let square = 0;
  weights.forEach((p, i) => {
    weights.forEach((q, j) => (square += ((i === j ? p : 0) - p * q) ** 2));
  });
  const off = norm(bounds);
  const surprise = weights.map((p, j) => bounds[j] * (p > 0 ? 1 - Math.log(p) : 90));
  return {
    entropy,
    largest: Math.max(...weights),
    gradient: Math.sqrt(square) / tau,
    bounds: {
      // |d(-p ln p)| <= (|ln p| + 1) |dp|, and the core rounds the sum once.
      entropy: surprise.reduce((a, b) => a + b) + 2 * U * entropy + 1e-12,
      largest: Math.max(...bounds),
      gradient: (off * (1 + 2 * norm(weights) + off)) / tau + 1e-12,
    },
  };
}

/** v, tau_c and ln n - v / (2 tau^2) of a row. */
export function law(scores) {
  const n = scores.length;
  const mean = scores.reduce((a, b) => a + b) / n;
  const v = scores.reduce((sum, s) => sum + (s - mean) ** 2, 0) / n;
  return {
    v,
    critical: Math.sqrt(v) / Math.sqrt(2 * Math.log(n)),
    theory: (tau) => Math.log(n) - v / 2 / tau / tau,
  };
}
