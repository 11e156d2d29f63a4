// One pass of a model, from checked arguments to what callers get.

import type { Inspect, LayerReadings } from '../api/model-types.js';
import { QkvError } from '../api/errors.js';
import type { Input } from '../arguments/arrays.js';
import type { OwnedArray } from '../api/types.js';
import { checkBoolean, checkInteger } from '../arguments/numbers.js';
import { describe, listOf, takeOptions } from '../arguments/values.js';
import type { Config } from '../language/config.js';
import { layersOf, type Pass } from '../language/readings.js';
import type { Call } from '../memory/call.js';
import { SiteReadings, sites, type SiteName } from './sites.js';

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

/** Rows [begin, end) of `length`; all unless they are given. */
function rowsOf(fn: string, given: unknown, length: number): readonly [number, number] {
  if (given === undefined) return [0, length];
  const list = listOf(fn, 'inspect.rows', given, 2);
  if (list?.length !== 2) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: inspect.rows is ${describe(given)}, expected [begin, end]`,
    );
  }
  const [begin, end] = list as [number, number];
  checkInteger(fn, 'inspect.rows[0]', begin, 0, length - 1);
  checkInteger(fn, 'inspect.rows[1]', end, begin + 1, length);
  return [begin, end];
}

/** Heads as pairs of layer and head. */
function headsOf(fn: string, given: unknown, { numLayers, numHeads }: Config): Input | undefined {
  if (given === undefined) return undefined;
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
  if (pairs.length === 0) return undefined;
  return { name, shape: [pairs.length, 2], source: Int32Array.from(pairs.flat() as number[]) };
}

/** The same pairs as a list. */
function headsIn(ablated: Input | undefined): [layer: number, head: number][] | undefined {
  if (!ablated) return undefined;
  const { source, shape } = ablated as { source: Int32Array; shape: readonly number[] };
  return Array.from({ length: shape[0] ?? 0 }, (_, i) => [
    source[2 * i] ?? 0,
    source[2 * i + 1] ?? 0,
  ]);
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

/** Zeros in place of what heads give, as edits of the operators: all rows of their z, of a number. */
function silenced(call: Call, ablated: Input | undefined) {
  const pairs = headsIn(ablated);
  if (!pairs) return {};
  const name = 'inspect.ablate';
  const rows = pairs.flatMap(([layer, head]) => [
    ...[sites.z, layer, head, 0, -1, 0, -1, 0, -1, 0, -1],
    ...[0, 1, 0],
  ]);
  const count = pairs.length;
  return {
    edits: call.input({ name, shape: [count, 14], source: Int32Array.from(rows) }),
    numbers: call.input({ name, shape: [count], source: new Float32Array(count) }),
  };
}

/** `inspect` of a call, and room for what it asks for. */
export class Inspection {
  /** A copy of the options as they were when they were checked: a generation uses them for every token. */
  readonly kept: Inspect | undefined;
  readonly #layers: readonly number[] | undefined;
  readonly #readings: SiteReadings | undefined;
  readonly #ablated: Input | undefined;

  /** With `hasRows`, rows of the weights may be chosen. */
  constructor(
    fn: string,
    call: Call,
    given: Inspect | undefined,
    config: Config,
    pass: Omit<Pass, 'queries'> & { readonly hasRows?: boolean },
  ) {
    const known = pass.hasRows ? [...names, 'rows'] : names;
    const taken = given === undefined ? undefined : takeOptions(fn, 'inspect', given, known);
    const rows = rowsOf(fn, taken?.rows, pass.length);
    this.#ablated = headsOf(fn, taken?.ablate, config);
    this.#layers = taken && layersOf(fn, taken.layers, config.numLayers);
    this.#readings = taken && this.#ask(fn, call, taken, config, { ...pass, rows });
    const ablate = headsIn(this.#ablated);
    this.kept = taken && { ...taken, layers: this.#layers, ablate };
  }

  #ask(
    fn: string,
    call: Call,
    taken: Inspect,
    { numHeads, numKvHeads, dModel, dK, vocabulary }: Config,
    { batch, length, keys, rows }: Omit<Pass, 'queries'> & { rows: readonly [number, number] },
  ): SiteReadings {
    const all = [0, length] as const;
    const queries = rows[1] - rows[0];
    const placed = {
      weights: [rows, [batch, numHeads, queries, keys]],
      entropy: [all, [batch, numHeads, length]],
      residual: [all, [batch, length, dModel]],
      logits: [all, [batch, length, vocabulary]],
      q: [rows, [batch, numHeads, queries, dK]],
      k: [all, [batch, numKvHeads, length, dK]],
      v: [all, [batch, numKvHeads, length, dK]],
    } as const;
    for (const [, option] of parts) checkBoolean(fn, `inspect.${option}`, taken[option]);
    const wanted = parts.filter(([, option]) => taken[option]);
    const readings = (this.#layers ?? []).flatMap((layer) =>
      wanted.map(([name, , site]) => {
        const [of, shape] = placed[name];
        return { site, layer, rows: of, shape };
      }),
    );
    return new SiteReadings(call, 'inspect', readings);
  }

  /** The fields of the operator. */
  fields(call: Call) {
    return { ...this.#readings?.fields(call, 'inspect'), ...silenced(call, this.#ablated) };
  }

  /** What the call returns besides: nothing without options. */
  read(call: Call): { layers?: ReadonlyMap<number, LayerReadings> } {
    if (!this.#readings || !this.#layers) return {};
    const layers = new Map<number, Record<string, OwnedArray>>(
      this.#layers.map((layer) => [layer, {}]),
    );
    for (const { site, layer, array } of this.#readings.read(call)) {
      const of = layers.get(layer);
      if (of) of[site] = array;
    }
    return { layers };
  }
}
