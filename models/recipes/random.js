// Numbers for the data of recipes, the same everywhere for a seed.

/** SplitMix32: below(n) is uniform in 0 .. n - 1. */
export function randomOf(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  const below = (n) => Math.floor((next() / 2 ** 32) * n);
  return {
    below,
    /** `count` different numbers below n, in random order. */
    different(count, n) {
      const all = Array.from({ length: n }, (_, i) => i);
      for (let i = 0; i < count; ++i) {
        const j = i + below(n - i);
        [all[i], all[j]] = [all[j], all[i]];
      }
      return all.slice(0, count);
    },
  };
}

/** Batches of rows that `row(random)` makes, whose arrays have the same names and lengths: { ids, targets, ... }. */
export function batches({ seed, batch, row }) {
  const random = randomOf(seed);
  return () => {
    const rows = Array.from({ length: batch }, () => row(random));
    const join = (key) => [key, Int32Array.from(rows.flatMap((made) => made[key]))];
    return { ...Object.fromEntries(Object.keys(rows[0]).map(join)), batch };
  };
}
