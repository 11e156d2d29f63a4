// GGUF files, version 3, written from arrays: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// Matrices are [rows, columns] as everywhere in this project; the file lists extents from the innermost on.

import { sizeOf } from './arrays.js';
import { float16 } from './half.js';
import { toQ4Blocks, toQ4KBlocks, toQ5Blocks, toQ6KBlocks, toQ8Blocks } from './quantize.js';
import { gguf as values, ggufHead, ggufInfo } from '../../package/models/support/files.js';

const ALIGNMENT = 32;

/** The upper halves of float32, rounded to nearest, ties to even. */
function toBfloat16(data) {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const half = new Uint16Array(data.length);
  for (let i = 0; i < data.length; i += 1)
    half[i] = (bits[i] + 0x7fff + ((bits[i] >>> 16) & 1)) >>> 16;
  return new Uint8Array(half.buffer);
}

const types = {
  F32: { bytes: (n) => 4 * n, encode: (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength) },
  F16: { bytes: (n) => 2 * n, encode: (data) => new Uint8Array(Uint16Array.from(data, float16).buffer) },
  Q8_0: { bytes: (n) => (n / 32) * 34, encode: toQ8Blocks },
  Q4_0: { bytes: (n) => (n / 32) * 18, encode: toQ4Blocks },
  Q5_0: { bytes: (n) => (n / 32) * 22, encode: toQ5Blocks },
  Q4_K: { bytes: (n) => (n / 256) * 144, encode: toQ4KBlocks },
  Q6_K: { bytes: (n) => (n / 256) * 210, encode: toQ6KBlocks },
  BF16: { bytes: (n) => 2 * n, encode: toBfloat16 },
}; // prettier-ignore

/** The bytes of an array in a type of GGUF: F32, F16, BF16, Q8_0, Q4_0, Q5_0, Q4_K or Q6_K; of blocks, whole ones. */
export const encode = (type, data) => types[type].encode(data);

/** How many bytes these are. */
export const bytesOf = (type, count) => types[type].bytes(count);

/** An entry of the metadata: booleans, strings, lists of strings, Int32Array, Float32Array, whole numbers, { float }. */
function valueOf(value) {
  if (typeof value === 'string') return values.text(value);
  if (typeof value === 'boolean') return values.bool(value);
  if (typeof value === 'number') return values.u32(value);
  if ('float' in value) return values.f32(value.float);
  if (Array.isArray(value)) return values.list(value.map(values.text), 8);
  const kind = value instanceof Int32Array ? values.i32 : values.f32;
  return values.list(Array.from(value, kind));
}

/**
 * What a file starts with, up to the first tensor: { header, places, size }. `tensors` is a list of { name, shape, type },
 * `places` says where the bytes of each begin in the file, `size` how long the file is.
 */
export function layout({ metadata, tensors }) {
  let end = 0;
  const offsets = tensors.map(({ shape, type }) => {
    const offset = end;
    end = Math.ceil((offset + types[type].bytes(sizeOf(shape))) / ALIGNMENT) * ALIGNMENT;
    return offset;
  });
  const header = ggufHead(
    Object.entries(metadata).map(([key, value]) => [key, valueOf(value)]),
    tensors.map(({ name, ...tensor }, i) => ggufInfo(name, tensor, offsets[i])),
  );
  return { header, places: offsets.map((at) => header.length + at), size: header.length + end };
}

/** A whole file in memory; each of `tensors` has its `data`, a Float32Array, too. */
export function gguf({ metadata, tensors }) {
  const { header, places, size } = layout({ metadata, tensors });
  const file = new Uint8Array(size);
  file.set(header);
  tensors.forEach(({ type, data }, i) => file.set(encode(type, data), places[i]));
  return file;
}
