import { Call } from '../memory/call.js';
import { checkArray, type Input, requireIntegers, takeIntegers } from '../arguments/arrays.js';
import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkNumber,
  checkOption,
  mostInt,
} from '../arguments/numbers.js';
import type { Group } from '../memory/abi.js';
import type { Instance } from '../memory/instance.js';
import { QkvError } from '../api/errors.js';
import { shapeText } from '../arguments/shapes.js';
import { isRecord, lengthOf, reading, takeOptions } from '../arguments/values.js';
import { coreShape, headsShape } from '../arguments/heads.js';
import { checkOut, type To } from '../arguments/out.js';
import type { ArrayInput, Integers, OwnedArray, RotaryOptions } from '../api/types.js';

export const rotaryNames = [
  ...['offset', 'positions', 'base', 'rotaryDim', 'interleaved', 'scaling', 'cos', 'sin'],
  'numHeads',
] as const;
const scalingTypes = ['linear', 'ntk', 'yarn'];

/** Rotary options with their arrays, checked but for what the tokens decide. */
export class CheckedRotary {
  readonly #options: RotaryOptions;
  readonly #positions: Input | undefined;
  readonly #cos: Input | undefined;
  readonly #sin: Input | undefined;

  /** `tokens` is [batch, tokens] of the call; unknown to a layer, whose options stand in its `rotary`. */
  constructor(
    fn: string,
    givenOptions: RotaryOptions,
    tokens?: readonly [batch: number, tokens: number],
  ) {
    const at = tokens ? '' : 'rotary.';
    const options = takeOptions(fn, tokens ? 'options' : 'rotary', givenOptions, rotaryNames);
    const { offset, rotaryDim, numHeads, positions } = options;
    if (offset !== undefined) checkInteger(fn, `${at}offset`, offset, -mostInt, mostInt);
    if (rotaryDim !== undefined) checkInteger(fn, `${at}rotaryDim`, rotaryDim, 2, mostInt);
    if (numHeads !== undefined) checkInteger(fn, `${at}numHeads`, numHeads, 1, mostInt);
    checkOption(fn, `${at}base`, options.base);
    checkBoolean(fn, `${at}interleaved`, options.interleaved);
    const scaling =
      options.scaling === undefined ? undefined : takeScaling(fn, `${at}scaling`, options.scaling);
    this.#positions =
      positions === undefined ? undefined : takePositions(fn, `${at}positions`, positions, tokens);
    const table = (name: 'cos' | 'sin'): Input | undefined =>
      options[name] === undefined ? undefined : checkTable(fn, `${at}${name}`, options[name]);
    this.#cos = table('cos');
    this.#sin = table('sin');
    this.#options = { ...options, ...(scaling && { scaling }) };
  }

  /** The heads of a layer, if they were given again. */
  get numHeads(): number | undefined {
    return this.#options.numHeads;
  }

  /** The options as the core takes them. */
  fields(call: Call): Group<'rotary'> {
    const { offset = 0, base = 10000, rotaryDim = 0, interleaved, scaling } = this.#options;
    const yarn = scaling?.type === 'yarn' ? scaling : undefined;
    return {
      ...{ offset, base, rotaryDim, interleaved },
      positions: call.input(this.#positions),
      scaling: scaling?.type ?? 'none',
      factor: scaling?.factor ?? 1,
      originalLength: yarn?.originalLength ?? 0,
      betaFast: yarn?.betaFast ?? 32,
      betaSlow: yarn?.betaSlow ?? 1,
      attentionFactor: yarn?.attentionFactor,
      cos: call.input(this.#cos),
      sin: call.input(this.#sin),
    };
  }
}

/** Given cosines or sines, of a rank that the core can read. What the extents have to be it knows. */
function checkTable(fn: string, name: string, given: ArrayInput): Input {
  const table = checkArray(fn, name, given);
  if (table.shape.length <= 3) return table;
  throw new QkvError(
    'shape_mismatch',
    `${fn}: ${name} is ${shapeText(table.shape)}, expected [P,rotaryDim/2] or [B,T,rotaryDim/2]`,
  );
}

/** One position per token of a row or of the batch; of any number where the call is not known yet. */
function takePositions(
  fn: string,
  name: string,
  given: Integers,
  tokens: readonly [batch: number, tokens: number] | undefined,
): Input {
  if (!tokens) return requireIntegers(fn, name, given);
  const all = tokens[0] * tokens[1];
  const positions = takeIntegers(fn, name, given, all);
  if (lengthOf(positions) === tokens[1]) return requireIntegers(fn, name, positions);
  return { ...requireIntegers(fn, name, positions, all), shape: tokens };
}

/** A copy of a scaling, whose fields are in the order of its type. */
export function takeScaling(
  fn: string,
  name: string,
  given: NonNullable<RotaryOptions['scaling']>,
): NonNullable<RotaryOptions['scaling']> {
  const yarnOnly = ['originalLength', 'betaFast', 'betaSlow', 'attentionFactor'];
  const isYarn = isRecord(given) && reading(fn, name, () => given.type) === 'yarn';
  const names = ['type', 'factor', ...(isYarn ? yarnOnly : [])];
  const scaling = takeOptions(fn, name, given, names);
  checkChoice(fn, `${name}.type`, scaling.type, scalingTypes);
  checkNumber(fn, `${name}.factor`, scaling.factor);
  if (scaling.type !== 'yarn') return scaling;
  checkInteger(fn, `${name}.originalLength`, scaling.originalLength, 1, mostInt);
  for (const part of ['betaFast', 'betaSlow', 'attentionFactor'] as const) {
    checkOption(fn, `${name}.${part}`, scaling[part]);
  }
  return scaling;
}

export function rotaryEmbedding(
  instance: Instance,
  given: ArrayInput,
  givenOptions: To<RotaryOptions> = {},
): OwnedArray {
  const fn = 'rotaryEmbedding';
  const x = checkArray(fn, 'x', given);
  const { out: to, ...options } = takeOptions(fn, 'options', givenOptions, [...rotaryNames, 'out']);
  const { numHeads } = options;
  if (numHeads !== undefined) checkInteger(fn, 'numHeads', numHeads, 1, mostInt);
  const form = headsShape(fn, x, numHeads, 'numHeads');
  const rotary = new CheckedRotary(fn, options, [form.batch, form.tokens]);
  const call = new Call(instance, fn);
  const fields = {
    x: call.input(x, coreShape(form)),
    numHeads: form.heads,
    rotary: rotary.fields(call),
  };
  const out = checkOut(fn, to, x.shape);
  return call.result('rotaryEmbedding', coreShape(form), fields, { as: x.shape, out });
}
