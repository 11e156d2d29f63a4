// What a sweep changes, one at a time, and what stands in for it.

import type { SweepOptions } from '../../api/inspect-types.js';
import type { OwnedArray } from '../../api/types.js';
import type { Config } from '../../language/config.js';
import type { Operand, SiteEdit } from '../edits.js';

/** Where a sweep changes a pass. */
export interface SweepPlace {
  readonly site: SweepOptions['site'];
  readonly layers: readonly number[];
  /** Neurons that are changed together. */
  readonly block: number;
}

/** One change, of one row of the batch. */
export type Patch = Pick<SiteEdit, 'layer' | 'head' | 'rows' | 'columns'> & {
  readonly site: SweepOptions['site'];
};

/** All patches, in the order of the grid, those that begin at one layer together. */
export function patchesOf(
  { site, layers, block }: SweepPlace,
  { numHeads, dFeedForward }: Config,
  length: number,
): { readonly rows: number; readonly columns: number; readonly patches: readonly Patch[][] } {
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  if (site === 'neurons') {
    const blocks = upTo(Math.ceil(dFeedForward / block));
    const [layer = 0] = layers;
    const all = upTo(length).flatMap((t) =>
      blocks.map((i): Patch => {
        const columns = [i * block, Math.min((i + 1) * block, dFeedForward)] as const;
        return { site, layer, rows: [t, t + 1], columns };
      }),
    );
    return { rows: length, columns: blocks.length, patches: [all] };
  }
  const columns = site === 'z' ? numHeads : length;
  const patches = layers.map((layer) =>
    upTo(columns).map((i): Patch => {
      return site === 'z' ? { site, layer, head: i } : { site, layer, rows: [i, i + 1] };
    }),
  );
  return { rows: layers.length, columns, patches };
}

/** What stands in for what a patch changes. */
export type StandIn = (patch: Patch) => Operand;

const zero: Operand = { kind: 1, numbers: [0] };

/** The mean of rows of `width`. */
function meanOf(rows: Float32Array, width: number): Float32Array {
  const sums = new Float64Array(width);
  rows.forEach((x, i) => {
    sums[i % width] = (sums[i % width] ?? 0) + x;
  });
  return Float32Array.from(sums, (sum) => (sum * width) / rows.length);
}

/**
 * Of what was read of each layer: [1, H, T, dK] of 'z', else [1, T, width]; without it zeros stand in. With `isMean` its mean over the
 * tokens is what stands in.
 */
export function standInOf(
  { site, layers }: SweepPlace,
  { numHeads, dK, dModel, dFeedForward }: Config,
  arrays: readonly OwnedArray[] | undefined,
  { isMean }: { readonly isMean: boolean },
): StandIn {
  if (!arrays) return () => zero;
  const width = site === 'z' ? dK : site === 'neurons' ? dFeedForward : dModel;
  /** What was read of a head, or of all. */
  const readOf = (layer: number, head: number): Float32Array => {
    const data = arrays[layers.indexOf(layer)]?.data ?? new Float32Array();
    const size = data.length / (site === 'z' ? numHeads : 1);
    return data.subarray(head * size, (head + 1) * size);
  };
  if (!isMean) {
    return ({ layer, head, rows, columns: [begin, end] = [0, width] }) => {
      const own = readOf(layer, head ?? 0);
      if (!rows) return { kind: 3, numbers: own };
      const at = rows[0] * width;
      return { kind: 2, numbers: own.subarray(at + begin, at + end) };
    };
  }
  const means = new Map<string, Float32Array>();
  return ({ layer, head = 0, columns: [begin, end] = [0, width] }) => {
    const key = `${layer} ${head}`;
    const mean = means.get(key) ?? meanOf(readOf(layer, head), width);
    means.set(key, mean);
    return { kind: 2, numbers: mean.subarray(begin, end) };
  };
}
