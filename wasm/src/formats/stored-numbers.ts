// Numbers as files keep them: float32, bfloat16, and int8 in blocks of 32 with a scale each, a half float.

import type { StoredArray } from './safetensors.js';

/** Numbers that have one scale. */
const block = 32;
const most = 127;

/** The axis along which a block lies: 0, down a column, or 1, along a row. */
export type BlockAxis = 0 | 1;

/** The array with the scales of an array in int8. */
export const scaleOf = (name: string): string => `${name}.scale`;
/** Its shape: a scale for every block, the last of which may be shorter. */
export const scaleShape = (
  [rows = 0, columns = 0]: readonly number[],
  axis: BlockAxis,
): readonly number[] =>
  axis === 0 ? [Math.ceil(rows / block), columns] : [rows, Math.ceil(columns / block)];

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

/** The bits of the half float that is nearest to x >= 0, of an even one of two; more than 65,504 is infinite. */
function toHalf(x: number): number {
  if (Number.isNaN(x)) return 0x7e00;
  if (x >= 65520) return 0x7c00;
  const [bits = 0] = new Uint32Array(Float32Array.of(x).buffer);
  const exponent = Math.max(-14, (bits >>> 23) - 127);
  const units = x / 2 ** (exponent - 10);
  const whole = Math.floor(units);
  const above = units - whole;
  const up = above > 0.5 || (above === 0.5 && whole % 2 === 1);
  // 1,024 units are the hidden one, which is one more in the exponent.
  return (exponent + 14) * 1024 + whole + (up ? 1 : 0);
}

/** The number that these bits of a half float are. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, units] = [(bits >>> 10) & 31, bits & 1023];
  if (exponent === 31) return units === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? units * 2 ** -24 : (1024 + units) * 2 ** (exponent - 25));
}

/** The least size of a number that has no scale. */
const tooLarge = 65520 * most;

/** A number of these that int8 cannot keep: NaN, or one of at least 8.3e6 in magnitude. */
export const withoutScale = (data: Float32Array): number | undefined =>
  data.find((x) => !(Math.abs(x) < tooLarge));

/**
 * The scale of numbers of at most this size. Among subnormal halves, whose steps are large, it is rounded up: rounded down it would
 * cut the largest numbers.
 */
function scaleFor(peak: number): number {
  const near = toHalf(peak / most);
  return near < 0x400 && fromHalf(near) * most < peak ? near + 1 : near;
}

/** Which scale is that of an element. */
const placeOf = ([, columns = 0]: readonly number[], axis: BlockAxis) => {
  const perRow = Math.ceil(columns / block);
  return (i: number): number => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    return axis === 0
      ? Math.floor(row / block) * columns + column
      : row * perRow + Math.floor(column / block);
  };
};

/** Blocks as int8, and their scales. */
function toInt8(data: Float32Array, shape: readonly number[], axis: BlockAxis) {
  const place = placeOf(shape, axis);
  const [rows = 0, columns = 0] = scaleShape(shape, axis);
  const peaks = new Float64Array(rows * columns);
  data.forEach((x, i) => {
    peaks[place(i)] = Math.max(peaks[place(i)] ?? 0, Math.abs(x));
  });
  const halves = Uint16Array.from(peaks, scaleFor);
  const scales = Float64Array.from(halves, fromHalf);
  // A scale of 0 leaves zeros.
  const numbers = Int8Array.from(data, (x, i) =>
    Math.max(-most, Math.min(most, Math.round(x / (scales[place(i)] ?? 0)))),
  );
  return { numbers: bytesOf(numbers), scales: bytesOf(halves) };
}

/** The elements in a format; int8 has its scales in another array, with blocks along this axis. */
export function encode(
  data: Float32Array,
  shape: readonly number[],
  format: 'f32' | 'bf16' | 'int8',
  axis: BlockAxis = 0,
): { array: StoredArray; scales?: StoredArray } {
  if (format === 'f32') return { array: { dtype: 'F32', shape, bytes: bytesOf(data) } };
  if (format === 'bf16') return { array: { dtype: 'BF16', shape, bytes: toBf16(data) } };
  const { numbers, scales } = toInt8(data, shape, axis);
  return {
    array: { dtype: 'I8', shape, bytes: numbers },
    scales: { dtype: 'F16', shape: scaleShape(shape, axis), bytes: scales },
  };
}

/** The 16 bits at a place; files may have them at any address. */
const wordAt = (bytes: Uint8Array, i: number): number =>
  (bytes[2 * i] ?? 0) | ((bytes[2 * i + 1] ?? 0) << 8);

/** The elements of an array of F32, BF16, F16, or I8 with its scales, whose shape says along which axis their blocks are. */
export function decode(
  stored: StoredArray,
  scales: StoredArray | undefined,
  to: Float32Array,
): void {
  const { dtype, shape, bytes } = stored;
  if (dtype === 'F32') bytesOf(to).set(bytes);
  else if (dtype === 'BF16') {
    const words = new Uint32Array(to.buffer, to.byteOffset, to.length);
    for (let i = 0; i < words.length; i += 1) words[i] = wordAt(bytes, i) << 16;
  } else if (dtype === 'F16') {
    for (let i = 0; i < to.length; i += 1) to[i] = fromHalf(wordAt(bytes, i));
  } else if (scales) {
    const place = placeOf(shape, String(scales.shape) === String(scaleShape(shape, 0)) ? 0 : 1);
    for (let i = 0; i < to.length; i += 1) {
      to[i] = (((bytes[i] ?? 0) << 24) >> 24) * fromHalf(wordAt(scales.bytes, place(i)));
    }
  }
}
