// The bytes of one letter of a set as a small graph without circles, in which equal ends are one.

import type { ByteRanges } from './encodings.js';

/** Where the letter ends. */
export const end = -1;

/** Edges of each node, by bytes; a node leads to earlier ones, or to the end. The last one is where the letter begins. */
export type LetterGraph = readonly (readonly (readonly [
  low: number,
  high: number,
  to: number,
])[])[];

/** The graph of ranges of bytes, of which two have the same first byte only if they have the same first range. */
export function letterGraph(encoded: readonly ByteRanges[]): LetterGraph {
  const nodes: [low: number, high: number, to: number][][] = [];
  const known = new Map<string, number>();
  const make = (all: readonly ByteRanges[]): number => {
    const groups = new Map<string, { low: number; high: number; rests: ByteRanges[] }>();
    for (const [first, ...rest] of all) {
      if (!first) continue;
      const [low, high] = first;
      const group = groups.get(`${low}-${high}`);
      if (group) group.rests.push(rest);
      else groups.set(`${low}-${high}`, { low, high, rests: [rest] });
    }
    const edges: [low: number, high: number, to: number][] = [];
    for (const { low, high, rests } of [...groups.values()].sort((a, b) => a.low - b.low)) {
      const to = rests.every((rest) => rest.length === 0) ? end : make(rests);
      const last = edges[edges.length - 1];
      if (last && last[1] === low - 1 && last[2] === to) last[1] = high;
      else edges.push([low, high, to]);
    }
    const key = edges.join(' ');
    const same = known.get(key);
    if (same !== undefined) return same;
    known.set(key, nodes.length);
    return nodes.push(edges) - 1;
  };
  make(encoded);
  return nodes;
}
