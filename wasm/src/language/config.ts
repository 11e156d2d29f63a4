// What a language model is made of, with its defaults, for trainers and models that run.

import { QkvError } from '../api/errors.js';
import type { Filled, LanguageModelConfig, ModelRotary } from '../api/model-config.js';
import type { RotaryOptions } from '../api/types.js';
import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkNumber,
  mostInt,
} from '../arguments/numbers.js';
import { describe, listOf, reading, takeOptions } from '../arguments/values.js';
import type { Group } from '../memory/abi.js';
import type { Call } from '../memory/call.js';
import { widthOfHeads } from '../operators/layer.js';
import { CheckedRotary, takeScaling } from '../operators/rotary.js';

export type Config = Filled<LanguageModelConfig>;

const required = ['vocabulary', 'numLayers', 'dModel', 'numHeads', 'maxLength'] as const;
const sizes = ['numKvHeads', 'dK'] as const;
const counts = ['dFeedForward', 'tokenTypes'] as const;
const choices = {
  norm: ['pre', 'post'],
  normType: ['layer', 'rms'],
  activation: ['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu', 'geglu', 'geglu_tanh'],
  positions: ['none', 'learned', 'sinusoidal', 'rotary', 'alibi'],
} as const;
const flags = [
  ...(['causal', 'qkNorm', 'parallelResidual', 'tiedEmbeddings', 'biases', 'qkvBiases'] as const),
  ...(['postNorms', 'embeddingNorm', 'head'] as const),
] as const;
const numbers = ['epsilon', 'embeddingScale', 'attentionSoftcap', 'logitSoftcap'] as const;
const names = [
  ...[...required, ...sizes, ...counts, ...Object.keys(choices), ...flags, ...numbers],
  ...['family', 'rotary', 'window', 'attentionScale'],
] as const;

/** A number of keys, or null for all of them. */
function checkWindow(fn: string, name: string, value: unknown): void {
  if (value !== null) checkInteger(fn, name, value, 0, mostInt);
}

/** The windows as they are given: one for all layers, or a list with one for each. */
function windowOf(fn: string, given: unknown, numLayers: number): Config['window'] {
  const list = listOf(fn, 'window', given, mostInt) as (number | null)[] | undefined;
  if (!list) {
    checkWindow(fn, 'window', given);
    return given as number | null;
  }
  if (list.length !== numLayers) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: window has ${list.length} elements, expected numLayers = ${numLayers}`,
    );
  }
  list.forEach((window, i) => checkWindow(fn, `window[${i}]`, window));
  return Object.freeze(list);
}

/** The rotary options as they are now: copies whose fields are in one order, so that files have one text for them. */
function rotaryOf(fn: string, given: ModelRotary): ModelRotary {
  const rotary = takeOptions(fn, 'rotary', given, ['base', 'rotaryDim', 'interleaved', 'scaling']);
  const { scaling } = rotary;
  if (scaling !== undefined) {
    const name = 'rotary.scaling';
    const all = ['type', 'factor', 'lowFrequencyFactor', 'highFrequencyFactor', 'originalLength'];
    rotary.scaling = Object.freeze(
      reading(fn, name, () => scaling?.type) === 'llama3'
        ? takeOptions(fn, name, scaling, all)
        : takeScaling(fn, name, scaling as NonNullable<RotaryOptions['scaling']>),
    );
  }
  return Object.freeze(rotary);
}

/** A config with its defaults, of which the core checks what the parts ask of each other. */
export function resolveConfig(fn: string, given: LanguageModelConfig): Config {
  const taken = takeOptions(fn, 'config', given, names);
  const { dModel, numHeads, normType = 'layer', biases = normType === 'layer' } = taken;
  const { family = '', rotary = {}, window = null } = taken;
  for (const name of required) checkInteger(fn, name, taken[name], 1, mostInt);
  const config: Config = {
    ...{ numKvHeads: numHeads, dK: taken.dK ?? widthOfHeads(fn, dModel, numHeads), causal: true },
    ...{ norm: 'pre', epsilon: 1e-5, activation: 'gelu', positions: 'learned', qkNorm: false },
    ...{ parallelResidual: false, tiedEmbeddings: false, biases, qkvBiases: biases },
    ...{ embeddingScale: 1, attentionScale: null, attentionSoftcap: 0, logitSoftcap: 0 },
    ...{ postNorms: false, tokenTypes: 0, embeddingNorm: false, head: true },
    ...(taken as Config), // what was left out is not there
    ...{ family, normType, window: windowOf(fn, window, taken.numLayers) },
    rotary: rotaryOf(fn, rotary),
  };
  for (const name of sizes) checkInteger(fn, name, config[name], 1, mostInt);
  for (const name of counts) checkInteger(fn, name, config[name], 0, mostInt);
  for (const name of flags) checkBoolean(fn, name, config[name]);
  for (const name of numbers) checkNumber(fn, name, config[name]);
  if (config.attentionScale !== null) checkNumber(fn, 'attentionScale', config.attentionScale);
  for (const [name, words] of Object.entries(choices)) {
    checkChoice(fn, name, config[name as keyof typeof choices], words);
  }
  if (typeof family !== 'string') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: family is ${describe(family)}, expected a string`,
    );
  }
  return ordered(config);
}

/** The scaling of Llama 3.1, which models alone have; undefined for another. */
function llama3Of(fn: string, { scaling }: ModelRotary): Group<'llama3Scaling'> | undefined {
  if (scaling?.type !== 'llama3') return undefined;
  const { factor, lowFrequencyFactor = 1, highFrequencyFactor = 4, originalLength } = scaling;
  const factors = { factor, lowFrequencyFactor, highFrequencyFactor };
  const name = 'rotary.scaling';
  for (const [part, value] of Object.entries(factors)) checkNumber(fn, `${name}.${part}`, value);
  checkInteger(fn, `${name}.originalLength`, originalLength, 1, mostInt);
  return { ...factors, originalLength };
}

/** In one order, so that configs can be compared as text; rotary and its scaling have theirs from takeOptions(). */
const ordered = <T extends object>(config: T): T =>
  Object.freeze(
    Object.fromEntries(Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1))),
  ) as T;

/** The config as the core takes it. */
export function configFields(fn: string, call: Call, config: Config): Group<'modelConfig'> {
  const { window, attentionScale, rotary } = config;
  const llama3 = llama3Of(fn, rotary);
  const { scaling, ...plain } = rotary;
  const turned = (llama3 ? plain : { ...plain, scaling }) as RotaryOptions;
  const isList = typeof window === 'object' && window !== null;
  return {
    ...config,
    ...{ rotary: new CheckedRotary(fn, turned).fields(call), llama3 },
    window: isList ? -1 : (window ?? -1),
    windows: isList
      ? call.input({
          name: 'window',
          shape: [window.length],
          source: Int32Array.from(window, (keys) => keys ?? -1),
        })
      : undefined,
    attentionScale: attentionScale ?? undefined,
  };
}
