// Sets of code points, as ranges that are in increasing order and do not touch.

export type Range = readonly [low: number, high: number];
export type CodePoints = readonly Range[];

export const lastCodePoint = 0x10ffff;

/** The set of ranges in any order. */
export function union(ranges: Iterable<Range>): CodePoints {
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  const all: [low: number, high: number][] = [];
  for (const [low, high] of sorted) {
    const last = all[all.length - 1];
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else all.push([low, high]);
  }
  return all;
}

/** All code points that are not in the set. */
export function complement(set: CodePoints): CodePoints {
  const all: Range[] = [];
  let next = 0;
  for (const [low, high] of set) {
    if (low > next) all.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= lastCodePoint) all.push([next, lastCodePoint]);
  return all;
}

/** The code points of one set that are not in another. */
export const without = (set: CodePoints, other: CodePoints): CodePoints =>
  complement(union([...complement(set), ...other]));

export const single = (codePoint: number): CodePoints => [[codePoint, codePoint]];

/** Halves of surrogate pairs, which have no UTF-8. */
export const surrogates: CodePoints = [[0xd800, 0xdfff]];
/** All letters that a text of UTF-8 can have. */
export const everything: CodePoints = complement(surrogates);
