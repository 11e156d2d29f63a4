/** The finaliser of MurmurHash3: of a counter it makes 32 bits that look random. */
export function mixed(counter: number): number {
  let bits = Math.imul(counter ^ (counter >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** From one counter to the next. */
export const STEP = 0x9e3779b9;

/** Draws of whole numbers, the same for a seed in every browser: integers only. */
export interface Dice {
  /** Uniform in 0 .. n - 1. */
  below(n: number): number;
  /** `count` different numbers below n, in random order. */
  different(count: number, n: number): number[];
}

/** SplitMix32, as in models/recipes/random.js: a seed gives the same rows there and here. */
export function randomOf(seed: number): Dice {
  let counter = seed;
  const below = (n: number) => {
    counter = (counter + STEP) | 0;
    return Math.floor((mixed(counter) / 2 ** 32) * n);
  };
  return {
    below,
    different(count, n) {
      const all = Array.from({ length: n }, (_, i) => i);
      for (let i = 0; i < count; i++) {
        const j = i + below(n - i);
        [all[i], all[j]] = [all[j]!, all[i]!];
      }
      return all.slice(0, count);
    },
  };
}

/** The same for seeds that stand beside each other, as 1 and 2, which are mixed before they are used. */
export const dice = (seed: number): Dice => randomOf(Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d));
