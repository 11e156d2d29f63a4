import { clamp, type Limits } from './field';

/** Scores that a reader may type. */
export const SCORES: Limits = [-5, 5];

/** Two decimals: what a box and a link show. */
export const clampScore = (value: number): number =>
  clamp(Math.round(value * 100) / 100, SCORES) + 0;
