// GGUF files, version 3, written from arrays: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// Matrices are [rows, columns] as everywhere in this project; the file lists extents from the innermost on.

import { float16, fromFloat16 } from './half.js';

const text = new TextEncoder();
const ALIGNMENT = 32;

/** Q8_0: values of a block that share a scale, and its bytes: a float16 scale and an int8 for each value. */
const BLOCK = 32;
const BLOCK_BYTES = 34;

function toFloat16(data) {
  const half = new Uint16Array(data.length);
  for (let i = 0; i < data.length; i += 1) half[i] = float16(data[i]);
  return new Uint8Array(half.buffer);
}

/** The upper halves of float32, rounded to nearest, ties to even. */
function toBfloat16(data) {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const half = new Uint16Array(data.length);
  for (let i = 0; i < data.length; i += 1)
    half[i] = (bits[i] + 0x7fff + ((bits[i] >>> 16) & 1)) >>> 16;
  return new Uint8Array(half.buffer);
}

/** Blocks of 32: scale = max|x| / 127 as float16, and round(x / scale) with the scale before it was rounded. */
function toBlocks(data) {
  const blocks = data.length / BLOCK;
  const bytes = new Uint8Array(blocks * BLOCK_BYTES);
  for (let block = 0; block < blocks; block += 1) {
    const from = block * BLOCK;
    let largest = 0;
    for (let i = 0; i < BLOCK; i += 1) largest = Math.max(largest, Math.abs(data[from + i]));
    const scale = Math.fround(largest / 127);
    const inverse = scale > 0 ? Math.fround(1 / scale) : 0;
    const half = float16(scale);
    let at = block * BLOCK_BYTES;
    bytes[at++] = half & 255;
    bytes[at++] = half >>> 8;
    for (let i = 0; i < BLOCK; i += 1) {
      const x = Math.fround(data[from + i] * inverse);
      bytes[at++] = Math.sign(x) * Math.floor(Math.abs(x) + 0.5);
    }
  }
  return bytes;
}

const types = {
  F32: {
    id: 0,
    bytes: (n) => 4 * n,
    encode: (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  },
  F16: { id: 1, bytes: (n) => 2 * n, encode: toFloat16 },
  Q8_0: { id: 8, bytes: (n) => (n / BLOCK) * BLOCK_BYTES, encode: toBlocks },
  BF16: { id: 30, bytes: (n) => 2 * n, encode: toBfloat16 },
};

/** The bytes of an array in a type of GGUF: F32, F16, BF16 or Q8_0. */
export const encode = (type, data) => types[type].encode(data);

/** The numbers that such bytes say, without any rounding. */
export function decode(type, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const list = (size, at) => Float32Array.from({ length: bytes.length / size }, (_, i) => at(i));
  const half = (at) => fromFloat16(view.getUint16(at, true));
  const read = {
    F32: () => list(4, (i) => view.getFloat32(4 * i, true)),
    F16: () => list(2, (i) => half(2 * i)),
    BF16: () => {
      const bits = Uint32Array.from(
        { length: bytes.length / 2 },
        (_, i) => view.getUint16(2 * i, true) << 16,
      );
      return new Float32Array(bits.buffer);
    },
    Q8_0: () =>
      list(BLOCK_BYTES / BLOCK, (i) => {
        const block = Math.floor(i / BLOCK) * BLOCK_BYTES;
        return half(block) * view.getInt8(block + 2 + (i % BLOCK));
      }),
  };
  return read[type]();
}

const count = (shape) => shape.reduce((n, extent) => n * extent, 1);
const aligned = (bytes) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Bytes that grow. */
function writer() {
  const parts = [];
  const put = (size, write) => {
    const view = new DataView(new ArrayBuffer(size));
    write(view);
    parts.push(new Uint8Array(view.buffer));
  };
  return {
    u32: (x) => put(4, (view) => view.setUint32(0, x, true)),
    u64: (x) => put(8, (view) => view.setBigUint64(0, BigInt(x), true)),
    f32: (x) => put(4, (view) => view.setFloat32(0, x, true)),
    bytes: (x) => parts.push(x),
    string(x) {
      const content = text.encode(x);
      this.u64(content.length);
      parts.push(content);
    },
    whole(size) {
      const all = new Uint8Array(size);
      let at = 0;
      for (const part of parts) {
        all.set(part, at);
        at += part.length;
      }
      return all;
    },
    size: () => parts.reduce((sum, part) => sum + part.length, 0),
  };
}

const kinds = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 };

/** An entry of the metadata: booleans, strings, lists of strings, Int32Array, Float32Array, whole numbers, { float }. */
function putValue(out, value) {
  if (typeof value === 'string') {
    out.u32(kinds.string);
    out.string(value);
  } else if (typeof value === 'boolean') {
    out.u32(kinds.bool);
    out.bytes(Uint8Array.of(Number(value)));
  } else if (typeof value === 'number') {
    out.u32(kinds.u32);
    out.u32(value);
  } else if ('float' in value) {
    out.u32(kinds.f32);
    out.f32(value.float);
  } else {
    const isText = Array.isArray(value);
    out.u32(kinds.array);
    out.u32(isText ? kinds.string : value instanceof Int32Array ? kinds.i32 : kinds.f32);
    out.u64(value.length);
    if (isText) value.forEach((item) => out.string(item));
    else out.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
}

/**
 * What a file starts with, up to the first tensor: { header, places, size }. `tensors` is a list of { name, shape, type },
 * `places` says where the bytes of each begin in the file, `size` how long the file is.
 */
function layout({ metadata, tensors }) {
  const out = writer();
  out.bytes(text.encode('GGUF'));
  out.u32(3);
  out.u64(tensors.length);
  out.u64(Object.keys(metadata).length);
  for (const [key, value] of Object.entries(metadata)) {
    out.string(key);
    putValue(out, value);
  }
  let end = 0;
  const offsets = tensors.map(({ name, shape, type }) => {
    const offset = end;
    out.string(name);
    out.u32(shape.length);
    for (const extent of [...shape].reverse()) out.u64(extent);
    out.u32(types[type].id);
    out.u64(offset);
    end = aligned(offset + types[type].bytes(count(shape)));
    return offset;
  });
  const start = aligned(out.size());
  return { header: out.whole(start), places: offsets.map((x) => start + x), size: start + end };
}

/** A whole file in memory; each of `tensors` has its `data`, a Float32Array, too. */
export function gguf({ metadata, tensors }) {
  const { header, places, size } = layout({ metadata, tensors });
  const file = new Uint8Array(size);
  file.set(header);
  tensors.forEach(({ type, data }, i) => file.set(encode(type, data), places[i]));
  return file;
}
