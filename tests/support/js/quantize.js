// Float32 in the blocks of GGUF, by plain rounding to nearest: what ggml's quantize_row_*_ref() does for blocks of 32, and a
// simpler choice of scales for blocks of 256. The layouts are those of ggml-common.h; blocks.js reads them.
import { float16, fromFloat16 } from './half.js';

/** Bytes of `blocks` blocks, which `write(view, at, from)` fills: a block at byte `at` has the numbers from number `from` on. */
function blocksOf(data, [numbers, size], write) {
  const bytes = new Uint8Array((data.length / numbers) * size);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block < data.length / numbers; block += 1) {
    write(view, block * size, block * numbers);
  }
  return bytes;
}

/** Writes a float16 and gives the number that it then is. */
function setHalf(view, at, value) {
  const bits = float16(value);
  view.setUint16(at, bits, true);
  return fromFloat16(bits);
}

const inverseOf = (scale) => (scale === 0 ? 0 : Math.fround(1 / scale));
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** The number of the largest magnitude among `count` from `from` on, with its sign. */
function largestOf(data, from, count) {
  let largest = 0;
  for (let i = from; i < from + count; i += 1) {
    if (Math.abs(data[i]) > Math.abs(largest)) largest = data[i];
  }
  return largest;
}

/** d = max|x| / 127, q = round(x / d), halves away from zero, with d before it was rounded. */
export const toQ8Blocks = (data) =>
  blocksOf(data, [32, 34], (view, at, from) => {
    const scale = Math.fround(Math.abs(largestOf(data, from, 32)) / 127);
    const inverse = inverseOf(scale);
    setHalf(view, at, scale);
    for (let i = 0; i < 32; i += 1) {
      const x = Math.fround(data[from + i] * inverse);
      view.setInt8(at + 2 + i, Math.sign(x) * Math.floor(Math.abs(x) + 0.5));
    }
  });

/** d = x / -2^(bits - 1) for the x of the largest magnitude, q = min(2^bits - 1, round(x / d) + 2^(bits - 1)). */
const symmetric = (data, { size, bits, write }) =>
  blocksOf(data, [32, size], (view, at, from) => {
    const half = 2 ** (bits - 1);
    const scale = Math.fround(largestOf(data, from, 32) / -half);
    const inverse = inverseOf(scale);
    setHalf(view, at, scale);
    write(view, at, (i) =>
      Math.min(2 * half - 1, Math.floor(Math.fround(data[from + i] * inverse) + half + 0.5)),
    );
  });

/** Byte i has number i in its low half, and number i + 16 in its high one. */
export const toQ4Blocks = (data) =>
  symmetric(data, {
    size: 18,
    bits: 4,
    write(view, at, code) {
      for (let i = 0; i < 16; i += 1) view.setUint8(at + 2 + i, code(i) | (code(i + 16) << 4));
    },
  });

/** The fifth bits are 32 bits of their own. */
export const toQ5Blocks = (data) =>
  symmetric(data, {
    size: 22,
    bits: 5,
    write(view, at, code) {
      let fifths = 0;
      for (let i = 0; i < 16; i += 1) {
        const [low, high] = [code(i), code(i + 16)];
        view.setUint8(at + 6 + i, (low & 15) | ((high & 15) << 4));
        fifths |= ((low >> 4) << i) | ((high >> 4) << (i + 16));
      }
      view.setUint32(at + 2, fifths >>> 0, true);
    },
  });

/** Scales and minima of eight runs, six bits each, in twelve bytes. */
function setSixes(view, at, scales, minima) {
  for (let j = 0; j < 4; j += 1) {
    view.setUint8(at + j, scales[j] | ((scales[j + 4] >> 4) << 6));
    view.setUint8(at + 4 + j, minima[j] | ((minima[j + 4] >> 4) << 6));
    view.setUint8(at + 8 + j, (scales[j + 4] & 15) | ((minima[j + 4] & 15) << 4));
  }
}

/**
 * x = d s q - dmin m with q of 4 bits, and s and m of 6 bits for each run of 32: from min(0, smallest) to the largest of a run
 * in 15 steps.
 */
export const toQ4KBlocks = (data) => {
  const steps = new Float32Array(8);
  const lowest = new Float32Array(8);
  const codes = new Uint8Array(256);
  return blocksOf(data, [256, 144], (view, at, from) => {
    for (let run = 0; run < 8; run += 1) {
      let [low, high] = [0, -Infinity];
      for (let i = from + 32 * run; i < from + 32 * run + 32; i += 1) {
        low = Math.min(low, data[i]);
        high = Math.max(high, data[i]);
      }
      steps[run] = Math.max(0, high - low) / 15;
      lowest[run] = -low;
    }
    const d = setHalf(view, at, Math.max(...steps) / 63);
    const dmin = setHalf(view, at + 2, Math.max(...lowest) / 63);
    const scales = steps.map((x) => clamp(Math.round(x * inverseOf(d)), 0, 63));
    const minima = lowest.map((x) => clamp(Math.round(x * inverseOf(dmin)), 0, 63));
    setSixes(view, at + 4, scales, minima);
    for (let i = 0; i < 256; i += 1) {
      const run = i >> 5;
      const inverse = inverseOf(d * scales[run]);
      codes[i] = clamp(Math.round((data[from + i] + dmin * minima[run]) * inverse), 0, 15);
    }
    // Two runs share 32 bytes.
    for (let i = 0; i < 128; i += 1) {
      const first = 64 * (i >> 5) + (i & 31);
      view.setUint8(at + 16 + i, codes[first] | (codes[first + 32] << 4));
    }
  });
};

/** x = d s (q - 32) with q of 6 bits and s of 8 bits for each 16. */
export const toQ6KBlocks = (data) => {
  const steps = new Float32Array(16);
  const codes = new Uint8Array(256);
  return blocksOf(data, [256, 210], (view, at, from) => {
    for (let group = 0; group < 16; group += 1) {
      steps[group] = largestOf(data, from + 16 * group, 16) / -32;
    }
    const d = setHalf(view, at + 208, largestOf(steps, 0, 16) / -128);
    const scales = steps.map((x) => clamp(Math.round(x * inverseOf(d)), -128, 127));
    for (let i = 0; i < 256; i += 1) {
      const inverse = inverseOf(d * scales[i >> 4]);
      codes[i] = clamp(Math.round(data[from + i] * inverse), -32, 31) + 32;
    }
    scales.forEach((scale, group) => view.setInt8(at + 192 + group, scale));
    for (let i = 0; i < 64; i += 1) {
      // Halves of 128: bytes of four low bits are shared by numbers i and i + 64, those of two high bits by four runs of 32.
      const [half, j] = [i >> 5, i & 31];
      const [a, b, c, e] = [0, 32, 64, 96].map((run) => codes[128 * half + run + j]);
      view.setUint8(at + 64 * half + j, (a & 15) | ((c & 15) << 4));
      view.setUint8(at + 64 * half + 32 + j, (b & 15) | ((e & 15) << 4));
      view.setUint8(at + 128 + i, (a >> 4) | ((b >> 4) << 2) | ((c >> 4) << 4) | ((e >> 4) << 6));
    }
  });
};
