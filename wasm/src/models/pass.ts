// One pass of a model, from checked arguments to what callers get.

import type { Inspect, LayerReadings } from '../api/model-types.js';
import { QkvError } from '../api/errors.js';
import type { Input } from '../arguments/arrays.js';
import { checkInteger } from '../arguments/numbers.js';
import { describe, listOf, takeOptions } from '../arguments/values.js';
import type { Config } from '../language/config.js';
import { type Pass, Readings } from '../language/readings.js';
import type { Call } from '../memory/call.js';

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

/** `inspect` of a call, and room for what it asks for. */
export class Inspection {
  /** A copy of the options as they were when they were checked: a generation uses them for every token. */
  readonly kept: Inspect | undefined;
  readonly #readings: Readings | undefined;
  readonly #rows: readonly [number, number];
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
    this.#rows = rowsOf(fn, taken?.rows, pass.length);
    this.#ablated = headsOf(fn, taken?.ablate, config);
    const queries = this.#rows[1] - this.#rows[0];
    this.#readings = taken && new Readings(fn, call, taken, config, { ...pass, queries });
    const ablate = headsIn(this.#ablated);
    this.kept = taken && { ...taken, layers: this.#readings?.layers, ablate };
  }

  /** The fields of the operator. */
  fields(call: Call) {
    const [rowBegin, rowEnd] = this.#rows;
    const chosen = this.#readings?.fields(call) ?? {};
    return { ...chosen, rowBegin, rowEnd, ablated: call.input(this.#ablated) };
  }

  /** What the call returns besides: nothing without options. */
  read(call: Call): { layers?: ReadonlyMap<number, LayerReadings> } {
    return this.#readings ? { layers: this.#readings.read(call) } : {};
  }
}
