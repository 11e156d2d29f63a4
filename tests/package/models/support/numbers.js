// Numbers as files keep them, written by the definition of each format.
import { numberOf } from '../../../support/js/blocks.js';
import { float16, fromFloat16 } from '../../../support/js/half.js';

/** Bytes of float32, the elements that `type` then says. */
export function encode(values, type) {
  if (type === 'F32') return new Uint8Array(Float32Array.from(values).buffer);
  if (type === 'BF16') return new Uint8Array(Uint16Array.from(values, toBf16).buffer);
  if (type === 'F16') return new Uint8Array(Uint16Array.from(values, float16).buffer);
  if (type === 'I8') return new Uint8Array(Int8Array.from(values).buffer);
  throw new Error(type);
}

/** bfloat16 of numbers that are one. */
const toBf16 = (value) => new Uint32Array(Float32Array.of(value).buffer)[0] >>> 16;

/** Rows of Q8_0: blocks of 32 int8 behind their scale in float16. `values` are multiples of 1/n below 128/n, n = 64 to 512. */
export function encodeQ8(values) {
  const bytes = new Uint8Array((values.length / 32) * 34);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block < values.length / 32; ++block) {
    const own = values.slice(32 * block, 32 * block + 32);
    const parts = [64, 128, 256, 512].find((n) => own.every((x) => Number.isInteger(n * x)));
    view.setUint16(34 * block, float16(1 / parts), true);
    for (let i = 0; i < 32; ++i) view.setInt8(34 * block + 2 + i, own[i] * parts);
  }
  return bytes;
}

/** Numbers that are exact in every format: multiples of 1/64 from -63/64 to 63/64. */
export const exactly = (x) => Math.round(x * 63) / 64 + 0; // no -0

/** Element `i` of a row. */
export function element(type, bytes, i) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type === 'F32') return view.getFloat32(4 * i, true);
  if (type === 'F16') return fromFloat16(view.getUint16(2 * i, true));
  if (type === 'BF16')
    return new Float32Array(Uint32Array.of(view.getUint16(2 * i, true) << 16).buffer)[0];
  return type === 'I8' ? view.getInt8(i) : numberOf(type, bytes, i);
}
