// What a pass has read, on both sides of a worker.

import { QkvError } from '../api/errors.js';
import type { Activations, ShapeAt, Site } from '../api/inspect-types.js';
import type { OwnedArray } from '../api/types.js';
import { describe } from './values.js';

const placeText = (site: unknown, layer: unknown): string =>
  layer === undefined ? describe(site) : `${describe(site)} of layer ${describe(layer)}`;

export class ReadActivations implements Activations {
  /** By the texts of places. A plain field, which a message keeps. */
  readonly arrays: ReadonlyMap<string, OwnedArray>;

  constructor(arrays: ReadonlyMap<string, OwnedArray>) {
    this.arrays = arrays;
  }

  /** Of arrays with their places; those of no layer have none. */
  static of(
    all: Iterable<{ readonly site: string; readonly layer?: number; readonly array: OwnedArray }>,
  ): ReadActivations {
    return new ReadActivations(
      new Map(Array.from(all, ({ site, layer, array }) => [placeText(site, layer), array])),
    );
  }

  get<Where extends Site>(site: Where, layer?: number): OwnedArray<ShapeAt<Where>> {
    const place = placeText(site, layer);
    const array = this.arrays.get(place);
    if (!array) {
      const known = [...this.arrays.keys()].join(', ');
      throw new QkvError(
        'out_of_range',
        `Activations.get: ${place} was not read, expected ${known || 'nothing, because nothing was'}`,
      );
    }
    return array as OwnedArray<ShapeAt<Where>>;
  }
}

/** What came by a message, with its activations as they were: a message keeps fields, and no methods. */
export const revived = <T extends { activations?: Activations }>(result: T): T =>
  result.activations
    ? {
        ...result,
        activations: new ReadActivations((result.activations as ReadActivations).arrays),
      }
    : result;
