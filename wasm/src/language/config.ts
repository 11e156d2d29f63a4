// What a language model is made of, with its defaults, for trainers and models that run.

import { QkvError } from '../api/errors.js';
import type {
  Filled,
  LanguageModelConfig,
  LongRopeScaling,
  ModelRotary,
} from '../api/model-config.js';
import type { RotaryOptions } from '../api/types.js';
import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkNumber,
  checkOption,
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
const counts = [
  ...(['dFeedForward', 'tokenTypes', 'relativeBuckets', 'encoderLayers'] as const),
  ...(['numExperts', 'expertsPerToken', 'classes'] as const),
] as const;
const choices = {
  norm: ['pre', 'post', 'after'],
  normType: ['layer', 'rms'],
  activation: ['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu', 'geglu', 'geglu_tanh', 'relu2'],
  positions: ['none', 'learned', 'sinusoidal', 'rotary', 'alibi'],
  qkNormOf: ['head', 'rotated', 'whole'],
  headTransform: ['none', 'relu', 'gelu', 'gelu_tanh', 'silu', 'tanh'],
  headPooling: ['none', 'first', 'mean', 'last'],
} as const;
const flags = [
  ...(['causal', 'qkNorm', 'parallelResidual', 'tiedEmbeddings', 'biases', 'qkvBiases'] as const),
  ...(['postNorms', 'embeddingNorm', 'head', 'headBias', 'firstNorm', 'symmetricWindow'] as const),
  ...(['normalizedExperts', 'headNorm'] as const),
] as const;
const numbers = ['epsilon', 'embeddingScale', 'attentionSoftcap', 'logitSoftcap'] as const;
const names = [
  ...[...required, ...sizes, ...counts, ...Object.keys(choices), ...flags, ...numbers],
  ...['family', 'rotary', 'window', 'attentionScale', 'relativeMaxDistance', 'startToken'],
] as const;

/** Logits of a row. */
export const outputsOf = ({ classes, vocabulary }: Config): number =>
  classes > 0 ? classes : vocabulary;
/** Whether logits are those of tokens that may follow: the stream times one map. */
export const hasPlainHead = ({ head, classes, headTransform, headPooling }: Config): boolean =>
  head && classes === 0 && headTransform === 'none' && headPooling === 'none';

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

/** The factors of pairs as they are now. */
function factorsOf(fn: string, name: string, given: unknown): readonly number[] {
  const list = listOf(fn, name, given, mostInt);
  if (!list) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(given)}, expected an array of numbers`,
    );
  }
  list.forEach((factor, i) => checkNumber(fn, `${name}[${i}]`, factor));
  return Object.freeze(list as number[]);
}

function longRopeOf(fn: string, name: string, given: LongRopeScaling): LongRopeScaling {
  const all = ['type', 'shortFactors', 'longFactors', 'originalLength', 'attentionFactor'] as const;
  const taken = takeOptions(fn, name, given, all);
  checkInteger(fn, `${name}.originalLength`, taken.originalLength, 1, mostInt);
  checkOption(fn, `${name}.attentionFactor`, taken.attentionFactor);
  for (const part of ['shortFactors', 'longFactors'] as const)
    taken[part] = factorsOf(fn, `${name}.${part}`, taken[part]);
  return taken;
}

/** A scaling as it is now. */
function scalingOf(fn: string, given: NonNullable<ModelRotary['scaling']>): typeof given {
  const name = 'rotary.scaling';
  const all = ['type', 'factor', 'lowFrequencyFactor', 'highFrequencyFactor', 'originalLength'];
  const type: unknown = reading(fn, name, () => (given as Partial<typeof given> | null)?.type);
  if (type === 'llama3') return takeOptions(fn, name, given, all);
  if (type === 'longrope') return longRopeOf(fn, name, given as LongRopeScaling);
  return takeScaling(fn, name, given as NonNullable<RotaryOptions['scaling']>);
}

/** The rotary options as they are now: copies whose fields are in one order, so that files have one text for them. */
function rotaryOf(fn: string, given: ModelRotary): ModelRotary {
  const rotary = takeOptions(fn, 'rotary', given, ['base', 'rotaryDim', 'interleaved', 'scaling']);
  const { scaling } = rotary;
  if (scaling !== undefined) rotary.scaling = Object.freeze(scalingOf(fn, scaling));
  return Object.freeze(rotary);
}

/** Of all layers, or a list with one for each. */
function rotariesOf(fn: string, given: unknown, numLayers: number): Config['rotary'] {
  const list = listOf(fn, 'rotary', given, mostInt) as (ModelRotary | null)[] | undefined;
  if (!list) return rotaryOf(fn, given as ModelRotary);
  if (list.length !== numLayers) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: rotary has ${list.length} elements, expected numLayers = ${numLayers}`,
    );
  }
  const all = list.map((each) => (each === null ? null : rotaryOf(fn, each)));
  const kinds = kindsOf(all).length;
  if (kinds > 2) {
    throw new QkvError(
      'unsupported',
      `${fn}: rotary has ${kinds} rotations that differ, expected at most two`,
    );
  }
  return Object.freeze(all);
}

/** The rotations of a list that differ, as texts. */
const kindsOf = (all: readonly (ModelRotary | null)[]): string[] => [
  ...new Set(all.flatMap((each) => (each === null ? [] : [JSON.stringify(each)]))),
];

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
    ...{ postNorms: false, tokenTypes: 0, embeddingNorm: false, head: true, headBias: false },
    ...{ qkNormOf: 'head', firstNorm: true, symmetricWindow: false },
    ...{ relativeBuckets: 0, relativeMaxDistance: 128, encoderLayers: 0, startToken: 0 },
    ...{ numExperts: 0, expertsPerToken: 0, normalizedExperts: false },
    ...{ headTransform: 'none', headNorm: false, classes: 0, headPooling: 'none' },
    ...(taken as Config), // what was left out is not there
    ...{ family, normType, window: windowOf(fn, window, taken.numLayers) },
    rotary: rotariesOf(fn, rotary, taken.numLayers),
  };
  checkInteger(fn, 'relativeMaxDistance', config.relativeMaxDistance, 1, mostInt);
  for (const name of sizes) checkInteger(fn, name, config[name], 1, mostInt);
  for (const name of counts) checkInteger(fn, name, config[name], 0, mostInt);
  const { encoderLayers, startToken, vocabulary } = config;
  checkInteger(fn, 'startToken', startToken, 0, encoderLayers > 0 ? vocabulary - 1 : 0);
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

/** A rotation as the core takes it, in a model of such rows. */
function rotaryFields(
  fn: string,
  call: Call,
  rotary: ModelRotary,
  maxLength: number,
): Group<'modelRotary'> {
  const llama3 = llama3Of(fn, rotary);
  const { scaling, ...plain } = rotary;
  const long = scaling?.type === 'longrope' ? scaling : undefined;
  const turned = (llama3 || long ? plain : { ...plain, scaling }) as RotaryOptions;
  const isLong = long && maxLength > long.originalLength;
  const factors = Float32Array.from((isLong ? long.longFactors : long?.shortFactors) ?? []);
  const name = `rotary.scaling.${isLong ? 'long' : 'short'}Factors`;
  return {
    ...{ rotary: new CheckedRotary(fn, turned).fields(call), llama3 },
    factors: long && call.input({ name, shape: [factors.length], source: factors }),
    factorsAttention: long?.attentionFactor ?? 1,
  };
}

/** Those of all layers. */
function rotationFields(fn: string, call: Call, { rotary, maxLength }: Config) {
  const of = (each: ModelRotary) => rotaryFields(fn, call, each, maxLength);
  if (!isListOfRotations(rotary)) return { rotary: of(rotary) };
  const kinds = kindsOf(rotary);
  const [first = {}, second] = kinds.map((text) => JSON.parse(text) as ModelRotary);
  const numbers = rotary.map((each) => (each ? kinds.indexOf(JSON.stringify(each)) + 1 : 0));
  return {
    ...{ rotary: of(first), secondRotary: second && of(second) },
    rotations: call.input({
      ...{ name: 'rotary', shape: [numbers.length] },
      source: Int32Array.from(numbers),
    }),
  };
}

const isListOfRotations = (rotary: Config['rotary']): rotary is readonly (ModelRotary | null)[] =>
  Array.isArray(rotary);

/** The config as the core takes it. */
export function configFields(fn: string, call: Call, config: Config): Group<'modelConfig'> {
  const { window, attentionScale } = config;
  const isList = typeof window === 'object' && window !== null;
  return {
    ...config,
    ...rotationFields(fn, call, config),
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
