import { softmaxOf } from '../../../domain/softmax';

/**
 * The most that sum |p' - p| can be when no score moves by more than `shake`. Between any two groups of keys, ln of the ratio of
 * their weights moves by at most 2 shake / tau; the weight of a group changes most when it goes from below one half to as much above.
 */
export const sharpBound = (shake: number, tau: number): number => 2 * Math.tanh(shake / (2 * tau));

/** What sharpBound is for small shakes, and never less than it. */
export const simpleBound = (shake: number, tau: number): number => shake / tau;

/** The worst shake of these scores: some keys go up by `shake`, the others down; every choice of them is tried. */
export function worstChange(scores: readonly number[], shake: number, tau: number): number {
  const p = softmaxOf(scores.map((score) => score / tau));
  const factor = Math.exp((-2 * shake) / tau);
  let most = 0;
  for (let group = 1; group < 2 ** scores.length - 1; group++) {
    const inside = p.reduce((sum, weight, i) => sum + ((group >> i) & 1 ? weight : 0), 0);
    const after = inside / (inside + (1 - inside) * factor);
    most = Math.max(most, 2 * (after - inside));
  }
  return most;
}
