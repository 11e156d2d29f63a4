// `inspect` of a pass, from checked arguments to what callers get.

import type { Inspect, LayerReadings } from '../api/model-types.js';
import { QkvError } from '../api/errors.js';
import type { OwnedArray } from '../api/types.js';
import { checkBoolean, checkInteger } from '../arguments/numbers.js';
import { rangeOf } from '../arguments/ranges.js';
import { describe, listOf, takeOptions } from '../arguments/values.js';
import type { Config } from '../language/config.js';
import { layersOf } from '../language/readings.js';
import { type SiteEdit, zeros } from './edits.js';
import {
  type PassSize,
  shapeAt,
  type SiteArray,
  type SiteName,
  type SiteReading,
} from '../language/sites.js';

const names = [
  'layers',
  'weights',
  'entropy',
  'residuals',
  'logitLens',
  'projections',
  'ablate',
] as const;
/** Most heads that can be named. */
const mostHeads = 2 ** 20;

/** Heads as pairs of layer and head. */
function headsOf(
  fn: string,
  given: unknown,
  { numLayers, numHeads }: Config,
): [layer: number, head: number][] {
  if (given === undefined) return [];
  const name = 'inspect.ablate';
  const heads = listOf(fn, name, given, mostHeads);
  const pairs = heads?.map((pair, i) => listOf(fn, `${name}[${i}]`, pair, 2));
  if (!pairs?.every((pair) => pair?.length === 2)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(given)}, expected an array of [layer, head]`,
    );
  }
  for (const [i, pair] of pairs.entries()) {
    checkInteger(fn, `${name}[${i}][0]`, pair?.[0], 0, numLayers - 1);
    checkInteger(fn, `${name}[${i}][1]`, pair?.[1], 0, numHeads - 1);
  }
  return pairs as [layer: number, head: number][];
}

/** What `inspect` reads of a layer: its name in the result, the option that asks for it, and its place. */
const parts = [
  ['weights', 'weights', 'weights'],
  ['entropy', 'entropy', 'entropy'],
  ['residual', 'residuals', 'residual'],
  ['logits', 'logitLens', 'logits'],
  ['q', 'projections', 'q'],
  ['k', 'projections', 'k'],
  ['v', 'projections', 'v'],
] as const satisfies readonly (readonly [keyof LayerReadings, keyof Inspect, SiteName])[];

/** `inspect` of a call: a short form of what is read and changed at places. */
export class Inspection {
  /** A copy of the options as they were when they were checked: a generation uses them for every token. */
  readonly kept: Inspect | undefined;
  /** What it reads. */
  readonly readings: readonly SiteReading[];
  /** Zeros in place of what heads give. */
  readonly edits: readonly SiteEdit[];
  readonly #layers: readonly number[] | undefined;

  /** With `hasRows`, rows of the weights may be chosen. */
  constructor(
    fn: string,
    given: Inspect | undefined,
    config: Config,
    pass: PassSize & { readonly hasRows?: boolean },
  ) {
    const known = pass.hasRows ? [...names, 'rows'] : names;
    const taken = given === undefined ? undefined : takeOptions(fn, 'inspect', given, known);
    const rows = rangeOf(fn, 'inspect.rows', taken?.rows, pass.length);
    const ablate = headsOf(fn, taken?.ablate, config);
    this.edits = ablate.map(([layer, head]) => zeros(layer, head));
    this.#layers = taken && layersOf(fn, taken.layers, config.numLayers);
    this.readings = taken ? this.#ask(fn, taken, config, { ...pass, rows }) : [];
    this.kept = taken && { ...taken, layers: this.#layers, ablate };
  }

  #ask(
    fn: string,
    taken: Inspect,
    config: Config,
    { rows, ...pass }: PassSize & { rows: readonly [number, number] },
  ): SiteReading[] {
    const all = [0, pass.length] as const;
    for (const [, option] of parts) checkBoolean(fn, `inspect.${option}`, taken[option]);
    if (taken.logitLens && !config.head) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: inspect.logitLens is true, expected false: the model has no head, and so no logits`,
      );
    }
    const wanted = parts.filter(([, option]) => taken[option]);
    return (this.#layers ?? []).flatMap((layer) =>
      wanted.map(([, option, site]) => {
        const of = site === 'weights' || site === 'q' ? rows : all;
        const shape = shapeAt(site, config, pass, of[1] - of[0]);
        return { site, layer, rows: of, shape, name: `inspect.${option}` };
      }),
    );
  }

  /** What the call returns besides, of what was read: nothing without options. */
  result(read: Iterable<SiteArray>): { layers?: ReadonlyMap<number, LayerReadings> } {
    if (!this.#layers) return {};
    const layers = new Map<number, Record<string, OwnedArray>>(
      this.#layers.map((layer) => [layer, {}]),
    );
    for (const { site, layer, array } of read) {
      const of = layers.get(layer);
      if (of) of[site] = array;
    }
    return { layers };
  }
}
