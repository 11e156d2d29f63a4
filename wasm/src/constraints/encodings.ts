// How letters are written: as UTF-8, or as JSON has them between quotes, with the one escape that each needs.

import { type CodePoints, type Range, surrogates, union, without } from './code-points.js';

/** Ranges of bytes, one after the other. */
export type ByteRanges = readonly Range[];

/** Where UTF-8 takes another byte. */
const lengths = [0x7f, 0x7ff, 0xffff, 0x10ffff];

const encoded = (codePoint: number): Uint8Array =>
  new TextEncoder().encode(String.fromCodePoint(codePoint));

/** The ranges of bytes of a range whose letters have the same number of bytes. */
function cut(low: number, high: number, bytes: number, add: (ranges: ByteRanges) => void): void {
  // A range that has all of the last bytes, or one of the first, is one of bytes; others are cut where that changes.
  for (let i = 1; i < bytes; i += 1) {
    const below = (1 << (6 * i)) - 1;
    if ((low & ~below) === (high & ~below)) continue;
    if ((low & below) !== 0) {
      cut(low, low | below, bytes, add);
      cut((low | below) + 1, high, bytes, add);
      return;
    }
    if ((high & below) !== below) {
      cut(low, (high & ~below) - 1, bytes, add);
      cut(high & ~below, high, bytes, add);
      return;
    }
  }
  const [from, to] = [encoded(low), encoded(high)];
  add(Array.from(from, (byte, i) => [byte, to[i] ?? byte] as const));
}

/** The UTF-8 of letters. Halves of surrogate pairs have none. */
export function utf8(set: CodePoints): ByteRanges[] {
  const all: ByteRanges[] = [];
  for (const [low, high] of without(set, surrogates)) {
    let from = low;
    lengths.forEach((last, i) => {
      if (from > high || from > last) return;
      const to = Math.min(high, last);
      cut(from, to, i + 1, (ranges) => all.push(ranges));
      from = to + 1;
    });
  }
  return all;
}

/** Letters that JSON writes with an escape, with the rest of it. */
const escapes: ReadonlyMap<number, string> = new Map(
  [...Array.from({ length: 32 }, (_, codePoint) => codePoint), 0x22, 0x5c].map((codePoint) => [
    codePoint,
    JSON.stringify(String.fromCodePoint(codePoint)).slice(1, -1),
  ]),
);
const escaped = union(Array.from(escapes.keys(), (codePoint) => [codePoint, codePoint] as const));

const has = (set: CodePoints, codePoint: number): boolean =>
  set.some(([low, high]) => codePoint >= low && codePoint <= high);

/** Letters of a string of JSON, as JSON.stringify() writes them. */
export function inJson(set: CodePoints): ByteRanges[] {
  const all = utf8(without(set, escaped));
  for (const [codePoint, text] of escapes) {
    if (has(set, codePoint))
      all.push(Array.from(new TextEncoder().encode(text), (byte) => [byte, byte] as const));
  }
  return all;
}
