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

/** Blocks of 32: d q. */
const q8: Read = (row, to) =>
  to.forEach((_, i) => {
    const at = 34 * Math.floor(i / 32);
    to[i] = half(row, at) * row.getInt8(at + 2 + (i % 32));
  });

/** Blocks of 32: d q + m. The low halves of 16 bytes are the first 16 numbers. */
const q4: Read = (row, to) =>
  to.forEach((_, i) => {
    const [at, j] = [20 * Math.floor(i / 32), i % 32];
    to[i] = half(row, at) * nibble(row, at + 4 + (j % 16), j >= 16) + half(row, at + 2);
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
  to.forEach((_, i) => {
    const [at, part, j] = [144 * Math.floor(i / 256), Math.floor((i % 256) / 32), i % 32];
    const [scale, offset] = scalesOf(row, at + 4, part);
    const q = nibble(row, at + 16 + 32 * Math.floor(part / 2) + j, part % 2 === 1);
    to[i] = half(row, at) * scale * q - half(row, at + 2) * offset;
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
