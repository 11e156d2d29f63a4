// Places in a pass as the operators number them, what shape is there, and the table of what is read there.

import type { OwnedArray } from '../api/types.js';
import { sizeOf } from '../arguments/shapes.js';
import { type Config, outputsOf } from './config.js';
import type { Call, Slot } from '../memory/call.js';

/** The numbers of ModelSite in qkv/model_sites.hpp. */
export const sites = {
  embed: 0,
  q: 1,
  k: 2,
  v: 3,
  scores: 4,
  weights: 5,
  z: 6,
  heads: 7,
  attention: 8,
  middle: 9,
  neurons: 10,
  feedForward: 11,
  residual: 12,
  final: 13,
  cross: 14,
  entropy: 15,
  logits: 16,
  normWeights: 17,
} as const;
export type SiteName = keyof typeof sites;

/** The sizes of a pass: its rows, the tokens of each, and the keys that they read. */
export interface PassSize {
  readonly batch: number;
  readonly length: number;
  readonly keys: number;
}

/** Heads of a place, 0 where it has none, and the numbers of its last axis. */
export function axesAt(
  site: SiteName,
  config: Config,
  keys: number,
): { readonly heads: number; readonly width: number } {
  const { numHeads, numKvHeads, dK, dModel, dFeedForward } = config;
  switch (site) {
    case 'q':
    case 'z':
      return { heads: numHeads, width: dK };
    case 'k':
    case 'v':
      return { heads: numKvHeads, width: dK };
    case 'scores':
    case 'weights':
    case 'normWeights':
      return { heads: numHeads, width: keys };
    case 'heads':
      return { heads: numHeads, width: dModel };
    case 'entropy':
      return { heads: numHeads, width: 0 };
    case 'neurons':
      return { heads: 0, width: dFeedForward };
    case 'logits':
      return { heads: 0, width: outputsOf(config) };
    default:
      return { heads: 0, width: dModel };
  }
}

/** The shape of so many rows of a place. */
export function shapeAt(
  site: SiteName,
  config: Config,
  { batch, keys }: PassSize,
  rows: number,
): readonly number[] {
  const { heads, width } = axesAt(site, config, keys);
  return [batch, ...(heads > 0 ? [heads] : []), rows, ...(site === 'entropy' ? [] : [width])];
}

/** Whether a place is of a layer. */
export const hasLayer = (site: SiteName): boolean => site !== 'embed' && site !== 'final';

/** One array that a pass reads: rows [begin, end) of a site of a layer. */
export interface SiteReading {
  readonly site: SiteName;
  readonly layer: number;
  readonly rows: readonly [begin: number, end: number];
  readonly shape: readonly number[];
  /** What messages call the argument that asks for it, as "read[0]". */
  readonly name: string;
}

/** What was read. */
export interface SiteArray {
  readonly site: SiteName;
  readonly layer: number;
  readonly array: OwnedArray;
}

/** The readings of a call, whose arrays are one after another in one result. */
export class SiteReadings {
  readonly #all: readonly SiteReading[];
  readonly #slot: Slot | undefined;

  constructor(call: Call, all: readonly SiteReading[]) {
    this.#all = all;
    const total = all.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    this.#slot = all.length > 0 ? call.output('read', [total]) : undefined;
  }

  /** Fields of the group modelSites. */
  fields(call: Call) {
    const rows = this.#all.flatMap(({ site, layer, rows: [begin, end] }) => [
      ...[sites[site], layer, begin, end],
    ]);
    if (rows.length === 0) return {};
    const shape = [this.#all.length, 4];
    const reads = call.input({ name: 'read', shape, source: Int32Array.from(rows) });
    return { reads, read: this.#slot };
  }

  /** Each with its array. */
  arrays(call: Call): SiteArray[] {
    const data = this.#slot && call.read(this.#slot);
    if (!data) return [];
    let at = 0;
    return this.#all.map(({ site, layer, shape }) => {
      const begin = at;
      at += sizeOf(shape);
      return { site, layer, array: { data: data.slice(begin, at), shape: [...shape] } };
    });
  }
}
