// Places in a pass as the operators number them, and the table of what is read there.

import type { OwnedArray } from '../api/types.js';
import { sizeOf } from '../arguments/shapes.js';
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

/** One array that a pass reads: rows [begin, end) of a site of a layer. */
export interface SiteReading {
  readonly site: SiteName;
  readonly layer: number;
  readonly rows: readonly [begin: number, end: number];
  readonly shape: readonly number[];
}

/** The readings of a call, whose arrays are one after another in one result. */
export class SiteReadings {
  readonly #all: readonly SiteReading[];
  readonly #slot: Slot | undefined;

  /** `label`: what the caller calls them. */
  constructor(call: Call, label: string, all: readonly SiteReading[]) {
    this.#all = all;
    const total = all.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    this.#slot = all.length > 0 ? call.output(label, [total]) : undefined;
  }

  /** Fields of the group modelSites. */
  fields(call: Call, label: string) {
    const rows = this.#all.flatMap(({ site, layer, rows: [begin, end] }) => [
      ...[sites[site], layer, begin, end],
    ]);
    if (rows.length === 0) return {};
    const shape = [this.#all.length, 4];
    const reads = call.input({ name: label, shape, source: Int32Array.from(rows) });
    return { reads, read: this.#slot };
  }

  /** Each with its array. */
  *read(call: Call): Generator<SiteReading & { readonly array: OwnedArray }> {
    const data = this.#slot && call.read(this.#slot);
    let at = 0;
    for (const reading of this.#all) {
      const next = at + sizeOf(reading.shape);
      if (data) {
        const array = { data: data.slice(at, next), shape: [...reading.shape] };
        yield { ...reading, array };
      }
      at = next;
    }
  }
}
