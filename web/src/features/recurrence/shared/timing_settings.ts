// What is timed: in a module of its own, as the page needs it without the engine.

/** Width of both, and heads of attention. */
export const WIDTH = 64;
export const LAYER_HEADS = 4;
/** Slopes are fitted from this length on. */
export const FITTED_FROM = 256;
export const LENGTHS: readonly number[] = [16, 32, 64, 128, 256, 512, 1024, 2048];
export const LONGEST_TIMED = Math.max(...LENGTHS);
/** How often each is timed. */
export const REPEATS = 7;

/** Medians and quartiles of the times of one pass, in ms. */
export interface Timing {
  readonly length: number;
  readonly gru: Spread;
  readonly attention: Spread;
}

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}
