// Arrays to feed the operators with, the same on every run.

/** @typedef {{ data: Float32Array, shape: number[] }} NdArray */

export const sizeOf = (shape) => shape.reduce((product, extent) => product * extent, 1);

/** A generator of numbers in [-1, 1), by xorshift. */
export function random(seed) {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state | 0) / 2 ** 31;
  };
}

/**
 * An array filled by `value(index)`.
 * @returns {NdArray}
 */
export function filled(shape, value) {
  return { data: Float32Array.from({ length: sizeOf(shape) }, (_, i) => value(i)), shape };
}

/**
 * An array of numbers in [-1, 1).
 * @returns {NdArray}
 */
export const randomArray = (shape, seed) => filled(shape, random(seed));

export const zeros = (shape) => filled(shape, () => 0);

/** A boolean mask: 1 where `allowed(index)`. */
export const booleanMask = (shape, allowed) => ({
  data: Uint8Array.from({ length: sizeOf(shape) }, (_, i) => Number(allowed(i))),
  shape,
});

/** q, k and v as [B, H, T, d]; what is left out is small. */
export function problem(sizes = {}) {
  const { batch = 2, heads = 4, tq = 7, dK = 8, seed = 1 } = sizes;
  const { kvHeads = heads, tk = tq, dV = dK } = sizes;
  return {
    q: randomArray([batch, heads, tq, dK], seed),
    k: randomArray([batch, kvHeads, tk, dK], seed + 1),
    v: randomArray([batch, kvHeads, tk, dV], seed + 2),
  };
}

/**
 * The same elements as [B, T, H*d] (rank 3) or, for one batch row, [T, H*d] (rank 2).
 * @param {NdArray} array [B, H, T, d]
 */
export function toRank(array, rank) {
  if (rank === 4) return array;
  const [batch, heads, tokens, width] = array.shape;
  const data = new Float32Array(array.data.length);
  let from = 0;
  for (let b = 0; b < batch; ++b) {
    for (let h = 0; h < heads; ++h) {
      for (let t = 0; t < tokens; ++t, from += width) {
        const row = array.data.subarray(from, from + width);
        data.set(row, ((b * tokens + t) * heads + h) * width);
      }
    }
  }
  return { data, shape: [...(rank === 3 ? [batch] : []), tokens, heads * width] };
}
