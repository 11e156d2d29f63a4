// Numbers as files keep them: float32, bfloat16, and int8 in blocks of 32 with a scale each.

import type { StoredArray } from './safetensors.js';

/** Numbers of a row that have one scale. */
const block = 32;
const most = 127;

/** The array with the scales of an array in int8. */
export const scaleOf = (name: string): string => `${name}.scale`;
/** Its shape: a scale for every block of a row, the last of which may be shorter. */
export const scaleShape = ([rows = 0, columns = 0]: readonly number[]): readonly number[] => [
  rows,
  Math.ceil(columns / block),
];

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** The upper halves of float32, rounded to the nearest, to an even one of two. NaN stays one. */
function toBf16(data: Float32Array): Uint8Array {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const halves = new Uint16Array(data.length);
  for (const [i, word] of bits.entries()) {
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    halves[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return bytesOf(halves);
}

/** Blocks of a row as int8, and their scales. */
function toInt8(data: Float32Array, shape: readonly number[]) {
  const [rows = 0, columns = 0] = shape;
  const perRow = Math.ceil(columns / block);
  const scales = new Float32Array(rows * perRow);
  const numbers = new Int8Array(data.length);
  for (let b = 0; b < scales.length; b += 1) {
    const from = Math.floor(b / perRow) * columns + (b % perRow) * block;
    const end = Math.min(from + block, (Math.floor(b / perRow) + 1) * columns);
    const part = data.subarray(from, end);
    const scale = Math.fround(part.reduce((peak, x) => Math.max(peak, Math.abs(x)), 0) / most);
    scales[b] = scale;
    // A scale of 0, NaN or infinity leaves zeros: so does what it is multiplied with.
    part.forEach((x, i) => {
      numbers[from + i] = Math.max(-most, Math.min(most, Math.round(x / scale)));
    });
  }
  return { numbers: bytesOf(numbers), scales: bytesOf(scales) };
}

/** The elements in a format; int8 has its scales in another array. */
export function encode(
  data: Float32Array,
  shape: readonly number[],
  format: 'f32' | 'bf16' | 'int8',
): { array: StoredArray; scales?: StoredArray } {
  if (format === 'f32') return { array: { dtype: 'F32', shape, bytes: bytesOf(data) } };
  if (format === 'bf16') return { array: { dtype: 'BF16', shape, bytes: toBf16(data) } };
  const { numbers, scales } = toInt8(data, shape);
  return {
    array: { dtype: 'I8', shape, bytes: numbers },
    scales: { dtype: 'F32', shape: scaleShape(shape), bytes: scales },
  };
}

/** The elements of an array of F32, BF16, or I8 with its scales; files may have them at any address. */
export function decode(
  stored: StoredArray,
  scales: StoredArray | undefined,
  to: Float32Array,
): void {
  const { dtype, shape, bytes } = stored;
  if (dtype === 'F32') bytesOf(to).set(bytes);
  else if (dtype === 'BF16') {
    const words = new Uint32Array(to.buffer, to.byteOffset, to.length);
    for (let i = 0; i < words.length; i += 1) {
      words[i] = ((bytes[2 * i] ?? 0) << 16) | ((bytes[2 * i + 1] ?? 0) << 24);
    }
  } else if (scales) {
    const [, columns = 0] = shape;
    const perRow = Math.ceil(columns / block);
    const factors = new Float32Array(scales.bytes.slice().buffer);
    for (let i = 0; i < to.length; i += 1) {
      const factor = factors[Math.floor(i / columns) * perRow + Math.floor((i % columns) / block)];
      to[i] = (((bytes[i] ?? 0) << 24) >> 24) * (factor ?? 0);
    }
  }
}
