// Blocks of GGUF by the formula of each type: number i of a block at byte `at` (ggml-common.h has the layouts). Products and sums
// are rounded to float32 one by one, as ggml rounds them.
import { fromFloat16 } from './half.js';
import { randomOf } from './random.js';

const f = Math.fround;
/** The bits of a byte from `low` on. */
const bits = (view, at, low, count) => (view.getUint8(at) >> low) & (2 ** count - 1);
const half = (view, at) => fromFloat16(view.getUint16(at, true));
/** Byte i has number i in its low half, and number i + 16 in its high one. */
const nibble = (view, at, i) => bits(view, at + (i % 16), i < 16 ? 0 : 4, 4);
const fifth = (view, at, i) => 16 * bits(view, at + (i >> 3), i % 8, 1);
/** Of types of 256: 32 numbers to a run. */
const run = (i) => i >> 5;
/** Two bits of each; four runs share 32 bytes. */
const pair = (view, at, i) => bits(view, at + 32 * (i >> 7) + (i % 32), 2 * (run(i) % 4), 2);

/** Scale and minimum, six bits each, of a run of Q4_K and Q5_K. */
function six(view, at, j) {
  if (j < 4) return [bits(view, at + j, 0, 6), bits(view, at + j + 4, 0, 6)];
  const high = (k) => 16 * bits(view, at + k, 6, 2);
  return [bits(view, at + j + 4, 0, 4) + high(j - 4), bits(view, at + j + 4, 4, 4) + high(j)];
}
const ofK = (view, at, i, q) => {
  const [scale, least] = six(view, at + 4, run(i));
  return f(f(f(half(view, at) * scale) * q) - f(half(view, at + 2) * least));
};
const ofRun = (view, at, i) => bits(view, at + 32 * (i >> 6) + (i % 32), 4 * (run(i) % 2), 4);

const table = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/** Of each type the numbers and bytes of a block, where its float16 are, and its numbers. */
export const blockTypes = {
  Q8_0: [32, 34, [0], (v, at, i) => f(half(v, at) * v.getInt8(at + 2 + i))],
  Q4_0: [32, 18, [0], (v, at, i) => f(half(v, at) * (nibble(v, at + 2, i) - 8))],
  Q4_1: [32, 20, [0, 2], (v, at, i) => f(f(half(v, at) * nibble(v, at + 4, i)) + half(v, at + 2))],
  Q5_0: [32, 22, [0], (v, at, i) => f(half(v, at) * (nibble(v, at + 6, i) + fifth(v, at + 2, i) - 16))],
  Q5_1: [32, 24, [0, 2], (v, at, i) => f(f(half(v, at) * (nibble(v, at + 8, i) + fifth(v, at + 4, i))) + half(v, at + 2))],
  IQ4_NL: [32, 18, [0], (v, at, i) => f(half(v, at) * table[nibble(v, at + 2, i)])],
  Q2_K: [256, 84, [80, 82], (v, at, i) => {
    const [scale, least] = [0, 4].map((low) => bits(v, at + (i >> 4), low, 4));
    return f(f(f(half(v, at + 80) * scale) * pair(v, at + 16, i)) - f(half(v, at + 82) * least));
  }],
  Q3_K: [256, 110, [108], (v, at, i) => {
    const k = i >> 4;
    const scale = bits(v, at + 96 + (k % 8), k < 8 ? 0 : 4, 4) + 16 * bits(v, at + 104 + (k % 4), 2 * (k >> 2), 2);
    const q = pair(v, at + 32, i) - (bits(v, at + (i % 32), run(i), 1) ? 0 : 4);
    return f(f(half(v, at + 108) * (scale - 32)) * q);
  }],
  Q4_K: [256, 144, [0, 2], (v, at, i) => ofK(v, at, i, ofRun(v, at + 16, i))],
  Q5_K: [256, 176, [0, 2], (v, at, i) => ofK(v, at, i, ofRun(v, at + 48, i) + 16 * bits(v, at + 16 + (i % 32), run(i), 1))],
  Q6_K: [256, 210, [208], (v, at, i) => {
    const [part, j] = [i >> 7, run(i) % 4];
    const low = bits(v, at + 64 * part + 32 * (j % 2) + (i % 32), 4 * (j >> 1), 4);
    const q = low + 16 * bits(v, at + 128 + 32 * part + (i % 32), 2 * j, 2) - 32;
    return f(f(half(v, at + 208) * v.getInt8(at + 192 + (i >> 4))) * q);
  }],
  IQ4_XS: [256, 136, [0], (v, at, i) => {
    const j = run(i);
    const scale = bits(v, at + 4 + (j >> 1), 4 * (j % 2), 4) + 16 * ((v.getUint16(at + 2, true) >> (2 * j)) & 3);
    return f(f(half(v, at) * (scale - 32)) * table[nibble(v, at + 8 + 16 * j, i % 32)]);
  }],
}; // oxfmt-ignore

/** Number i of a row of blocks. */
export function numberOf(type, bytes, i) {
  const [numbers, size, , number] = blockTypes[type];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return number(view, size * Math.floor(i / numbers), i % numbers);
}

/** Blocks of `count` numbers, random but for their float16, which are of either sign and near 2^-10, so that numbers are moderate. */
export function randomBlocks(type, count, seed) {
  const [numbers, size, halves] = blockTypes[type];
  const random = randomOf(seed);
  const bytes = Uint8Array.from({ length: (count / numbers) * size }, () => 256 * random());
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += size) {
    for (const place of halves)
      view.setUint16(at + place, (0x1000 + 0x800 * random()) | (random() < 0.5 ? 0x8000 : 0), true);
  }
  return bytes;
}
