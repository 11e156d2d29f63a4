// The readings of a pass that `inspect` names: layers, and room for their arrays one after another.

import { QkvError } from '../api/errors.js';
import type { Inspect, LayerReadings } from '../api/model-types.js';
import type { OwnedArray } from '../api/types.js';
import type { Input } from '../arguments/arrays.js';
import { checkBoolean, checkInteger } from '../arguments/numbers.js';
import { sizeOf } from '../arguments/shapes.js';
import { describe, listOf } from '../arguments/values.js';
import type { Call, Slot } from '../memory/call.js';
import type { Config } from './config.js';

/** What can be read of a layer; models and trainers each offer some of it. */
type ReadingOptions = Omit<Inspect, 'rows' | 'ablate'>;

/** The sizes of a pass: its rows, the tokens of each, the keys that they read, and the queries whose rows are read. */
export interface Pass {
  readonly batch: number;
  readonly length: number;
  readonly keys: number;
  readonly queries: number;
}

type Name = keyof LayerReadings;

/** Most layers that can be named. */
const mostLayers = 2 ** 16;

/** Layers by their numbers, all of them unless they are given. `name` is what the caller calls them. */
export function layersOf(
  fn: string,
  given: unknown,
  numLayers: number,
  name = 'inspect.layers',
): readonly number[] {
  if (given === undefined) return Array.from({ length: numLayers }, (_, i) => i);
  const layers = listOf(fn, name, given, mostLayers);
  if (!layers) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(given)}, expected an array of layers`,
    );
  }
  layers.forEach((layer, i) => {
    checkInteger(fn, `${name}[${i}]`, layer, 0, numLayers - 1);
    if (layers.indexOf(layer) === i) return;
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} has ${layer} twice, expected each layer once`,
    );
  });
  return layers as number[];
}

export class Readings {
  readonly layers: readonly number[];
  readonly #slots: Partial<Record<Name, Slot>> = {};

  constructor(fn: string, call: Call, wanted: ReadingOptions, config: Config, pass: Pass) {
    const { numLayers, numHeads, numKvHeads, dModel, dK, vocabulary } = config;
    this.layers = layersOf(fn, wanted.layers, numLayers);
    const { batch, length, keys, queries } = pass;
    const all = this.layers.length * batch;
    const add = (name: Name, option: keyof ReadingOptions, rest: readonly number[]): void => {
      const isWanted = wanted[option];
      checkBoolean(fn, `inspect.${option}`, isWanted);
      if (isWanted && all > 0) this.#slots[name] = call.output(`inspect.${option}`, [all, ...rest]);
    };
    add('weights', 'weights', [numHeads, queries, keys]);
    add('entropy', 'entropy', [numHeads, length]);
    add('residual', 'residuals', [length, dModel]);
    add('logits', 'logitLens', [length, vocabulary]);
    add('q', 'projections', [numHeads, queries, dK]);
    add('k', 'projections', [numKvHeads, length, dK]);
    add('v', 'projections', [numKvHeads, length, dK]);
  }

  /** The fields of the operator; none if nothing is read. */
  fields(call: Call) {
    const { layers } = this;
    const slots = this.#slots;
    if (Object.keys(slots).length === 0) return {};
    const source = Int32Array.from(layers);
    const chosen: Input = { name: 'inspect.layers', shape: [layers.length], source };
    return { layers: call.input(chosen), ...slots };
  }

  /** By layer. */
  read(call: Call): ReadonlyMap<number, LayerReadings> {
    const count = this.layers.length;
    const part = (slot: Slot, i: number): OwnedArray => {
      const [all = 0, ...rest] = slot.shape;
      const data = call.read(slot);
      const shape = [all / count, ...rest];
      const size = sizeOf(shape);
      return { data: data.slice(i * size, (i + 1) * size), shape };
    };
    return new Map(
      this.layers.map((layer, i) => [
        layer,
        Object.fromEntries(
          Object.entries(this.#slots).map(([name, slot]) => [name, part(slot, i)]),
        ),
      ]),
    );
  }
}
