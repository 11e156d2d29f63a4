import { Call } from './call.js';
import {
  checkArray,
  checkChoice,
  checkInteger,
  checkIntegers,
  checkKeys,
  checkOption,
  type Input,
} from './check.js';
import type { Numbers } from './descriptor.js';
import type { Engine } from './engine.js';
import { coreShape, headsShape, mostInt } from './heads.js';
import type { ArrayInput, NdArray, RotaryOptions } from './types.js';

const optionNames = [
  ...['offset', 'positions', 'base', 'rotaryDim', 'interleaved', 'scaling', 'cos', 'sin'],
  'numHeads',
];
const scalingTypes = ['none', 'linear', 'ntk', 'yarn'];

/** Rotary options with their arrays, checked but for what the tokens decide. */
export class CheckedRotary {
  readonly #options: RotaryOptions;
  readonly #positions: Input | undefined;
  readonly #cos: Input | undefined;
  readonly #sin: Input | undefined;

  /** `tokens` is [batch, tokens] of the call, if it is known. */
  constructor(
    fn: string,
    options: RotaryOptions,
    tokens: readonly [batch: number, tokens: number] | undefined,
  ) {
    checkKeys(fn, 'rotary', options, optionNames);
    const { offset, rotaryDim, positions, scaling } = options;
    if (offset !== undefined) checkInteger(fn, 'offset', offset, -mostInt, mostInt);
    if (rotaryDim !== undefined) checkInteger(fn, 'rotaryDim', rotaryDim, 2, mostInt);
    checkOption(fn, 'base', options.base, 'number');
    checkOption(fn, 'interleaved', options.interleaved, 'boolean');
    if (scaling !== undefined) checkScaling(fn, scaling);
    const length =
      positions?.length === tokens?.[1] ? tokens?.[1] : tokens && tokens[0] * tokens[1];
    const given = checkIntegers(fn, 'positions', positions, length);
    this.#positions = given && tokens && length !== tokens[1] ? { ...given, shape: tokens } : given;
    this.#cos = options.cos && checkArray(fn, 'cos', options.cos);
    this.#sin = options.sin && checkArray(fn, 'sin', options.sin);
    this.#options = options;
  }

  announce(call: Call): void {
    call.input('positions', this.#positions);
    call.input('cos', this.#cos);
    call.input('sin', this.#sin);
  }

  numbers(): Numbers {
    const { offset = 0, base = 10000, rotaryDim = 0, interleaved = false, scaling } = this.#options;
    const yarn = scaling?.type === 'yarn' ? scaling : undefined;
    return {
      hasRotary: 1,
      ...{ offset, base, rotaryDim, interleaved: Number(interleaved) },
      scaling: scalingTypes.indexOf(scaling?.type ?? 'none'),
      factor: scaling?.factor ?? 1,
      originalLength: yarn?.originalLength ?? 0,
      betaFast: yarn?.betaFast ?? 32,
      betaSlow: yarn?.betaSlow ?? 1,
      hasAttentionFactor: yarn?.attentionFactor === undefined ? 0 : 1,
      attentionFactor: yarn?.attentionFactor ?? 0,
    };
  }
}

function checkScaling(fn: string, scaling: NonNullable<RotaryOptions['scaling']>): void {
  const yarnOnly = ['originalLength', 'betaFast', 'betaSlow', 'attentionFactor'];
  const isYarn = scaling?.type === 'yarn';
  checkKeys(fn, 'scaling', scaling, ['type', 'factor', ...(isYarn ? yarnOnly : [])]);
  checkChoice(fn, 'scaling.type', scaling.type, scalingTypes.slice(1));
  checkOption(fn, 'scaling.factor', scaling.factor ?? 'missing', 'number');
  if (scaling.type !== 'yarn') return;
  checkInteger(fn, 'scaling.originalLength', scaling.originalLength, 1, mostInt);
  for (const name of ['betaFast', 'betaSlow', 'attentionFactor'] as const) {
    checkOption(fn, `scaling.${name}`, scaling[name], 'number');
  }
}

export function rotaryEmbedding(
  engine: Engine,
  given: ArrayInput,
  options: RotaryOptions,
): NdArray {
  const fn = 'rotaryEmbedding';
  engine.raw(fn);
  const x = checkArray(fn, 'x', given);
  checkKeys(fn, 'options', options, optionNames);
  const { numHeads } = options;
  if (numHeads !== undefined) checkInteger(fn, 'numHeads', numHeads, 1, mostInt);
  const form = headsShape(fn, x, numHeads, 'numHeads');
  const rotary = new CheckedRotary(fn, options, [form.batch, form.tokens]);
  const call = new Call(engine, fn);
  call.input('x', x, coreShape(form));
  rotary.announce(call);
  const { data } = call.result('rotaryEmbedding', coreShape(form), {
    ...rotary.numbers(),
    numHeads: form.heads,
  });
  return { data, shape: x.shape };
}
