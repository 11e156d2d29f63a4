// The numbers of a row that the core keeps, as float32: what it computes with.

import { fromHalf } from '../../formats/stored-numbers.js';
import type { KeptType } from '../kept-rows.js';

/** Bytes of a row, little-endian. */
type Bytes = DataView;
type Read = (row: Bytes, to: Float32Array) => void;

const half = (row: Bytes, at: number): number => fromHalf(row.getUint16(at, true));

/** 4 bits of a byte. */
const nibble = (row: Bytes, at: number, isHigh: boolean): number =>
  isHigh ? row.getUint8(at) >> 4 : row.getUint8(at) & 15;

/** Calls `read` for every block of so many numbers with where its bytes begin, and where its numbers. */
function eachBlock(
  to: Float32Array,
  size: number,
  bytes: number,
  read: (at: number, first: number) => void,
) {
  for (let first = 0, at = 0; first < to.length; first += size, at += bytes) read(at, first);
}

/** Blocks of 32: d q. */
const q8: Read = (row, to) =>
  eachBlock(to, 32, 34, (at, first) => {
    const scale = half(row, at);
    const count = Math.min(32, to.length - first);
    for (let j = 0; j < count; j += 1) to[first + j] = scale * row.getInt8(at + 2 + j);
  });

/** Blocks of 32: d q + m. The low halves of 16 bytes are the first 16 numbers. */
const q4: Read = (row, to) =>
  eachBlock(to, 32, 20, (at, first) => {
    const [scale, least] = [half(row, at), half(row, at + 2)];
    const count = Math.min(32, to.length - first);
    for (let j = 0; j < count; j += 1)
      to[first + j] = scale * nibble(row, at + 4 + (j % 16), j >= 16) + least;
  });

/** Of eight parts of a block of Q4_K the scale and the offset, of 6 bits each in 12 bytes. */
function scalesOf(row: Bytes, at: number, part: number): readonly [number, number] {
  const byte = (i: number): number => row.getUint8(at + i);
  if (part < 4) return [byte(part) & 63, byte(part + 4) & 63];
  return [
    (byte(part + 4) & 15) | ((byte(part - 4) >> 6) << 4),
    (byte(part + 4) >> 4) | ((byte(part) >> 6) << 4),
  ];
}

/** Blocks of 256: d s q - m o, with a scale s and an offset o of each 32. */
const q4k: Read = (row, to) =>
  eachBlock(to, 256, 144, (at, first) => {
    const [outer, least] = [half(row, at), half(row, at + 2)];
    for (let part = 0; part < 8; part += 1) {
      const [scale, offset] = scalesOf(row, at + 4, part);
      const from = at + 16 + 32 * Math.floor(part / 2);
      for (let j = 0; j < 32; j += 1)
        to[first + 32 * part + j] =
          outer * scale * nibble(row, from + j, part % 2 === 1) - least * offset;
    }
  });

const readers: Readonly<Record<KeptType, Read>> = {
  F32: (row, to) => to.forEach((_, i) => (to[i] = row.getFloat32(4 * i, true))),
  F16: (row, to) => to.forEach((_, i) => (to[i] = half(row, 2 * i))),
  BF16(row, to) {
    const bits = new Uint32Array(to.buffer, to.byteOffset, to.length);
    bits.forEach((_, i) => (bits[i] = row.getUint16(2 * i, true) << 16));
  },
  ...{ Q8_0: q8, Q4_1: q4, Q4_K: q4k },
};

export const readNumbers = (type: KeptType, row: Uint8Array, to: Float32Array): void =>
  readers[type](new DataView(row.buffer, row.byteOffset, row.byteLength), to);
