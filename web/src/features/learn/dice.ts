/** Draws of whole numbers, the same for a seed in every browser: integers only. */
export interface Dice {
  /** Uniform in 0 .. n - 1. */
  below(n: number): number;
  /** `count` different numbers below n, in random order. */
  different(count: number, n: number): number[];
}

/** SplitMix32. Two seeds beside each other share nothing: the seed is mixed before it is used. */
export function dice(seed: number): Dice {
  let state = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  const below = (n: number) => Math.floor((next() / 2 ** 32) * n);
  return {
    below,
    different(count, n) {
      const all = Array.from({ length: n }, (_, i) => i);
      for (let i = 0; i < count; i++) {
        const j = i + below(n - i);
        [all[i], all[j]] = [all[j] ?? 0, all[i] ?? 0];
      }
      return all.slice(0, count);
    },
  };
}
