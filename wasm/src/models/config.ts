// What a language model is made of, and which arrays it has by what names and shapes. The core has the same list
// (qkv/language_model.hpp); families/ says where each of them is in a stranger's file.

import type { LanguageModelConfig } from '../api/model-config.js';
import { refuse } from './errors.js';

/** The modules of a model that have arrays, by the words in which families/ names their places. */
export type Module =
  | 'embedding' | 'positions' | 'tokenTypes' | 'embeddingNorm' | 'norm' | 'head'
  | 'norm1' | 'q' | 'k' | 'v' | 'qNorm' | 'kNorm' | 'o' | 'postNorm1'
  | 'norm2' | 'up' | 'gate' | 'down' | 'postNorm2' | 'relativeBias' | 'router'
  | 'normCross' | 'crossQ' | 'crossK' | 'crossV' | 'crossO'
  | 'headTransform' | 'headNorm'; // oxfmt-ignore

/** An array of a model. */
export interface Parameter {
  readonly name: string;
  /** [in, out] of a linear map, [rows, dModel] of a table, [n] of a gain or bias. */
  readonly shape: readonly number[];
  /** Tables have the rows of files; maps may lie there with either axis first. */
  readonly kind: 'map' | 'table' | 'vector';
  readonly module: Module;
  /** Whether it is the bias of its module, and not its weight. */
  readonly isBias: boolean;
  readonly layer?: number;
  /** Whether it is one of the encoder that the model has besides. */
  readonly isOfEncoder?: boolean;
  /** Of which expert of its layer it is. */
  readonly expert?: number;
}

/** Whether the engine keeps an array in the format of the weights; all others are float32. */
export const isPacked = ({ kind, module }: Parameter): boolean =>
  kind === 'map' || module === 'embedding';

export const headWidth = ({ dK, dModel, numHeads }: LanguageModelConfig): number =>
  dK ?? dModel / numHeads;

/** Outputs of the maps to q, k and v. */
export function projectionWidths(config: LanguageModelConfig): Record<'q' | 'k' | 'v', number> {
  const { numHeads, numKvHeads = numHeads } = config;
  const width = headWidth(config);
  return { q: numHeads * width, k: numKvHeads * width, v: numKvHeads * width };
}

/**
 * Most layers of a model in files, which no trained one comes near, and most heads of one. Of a layer the engine keeps a kilobyte
 * and JavaScript twenty, so that 65,536 layers, as the core allows, of two numbers each, a file of 7 MB, took 1.3 GB.
 */
export const mostLayers = 4096;
const mostHeads = 65_536;
/** Of all layers together: each has arrays to be listed, and all may be in one tensor. */
const mostExperts = 65_536;

export function checkLayers(numLayers: number, most: number): void {
  if (numLayers > most)
    refuse(`the config has ${numLayers} layers`, `at most ${most} of these weights`);
}

/** What the arrays could not even be listed without; everything else the core checks. */
export function checkConfig(config: LanguageModelConfig, mostArrays: number): void {
  const { numLayers, numHeads, numKvHeads = numHeads, encoderLayers = 0, numExperts = 0 } = config;
  checkLayers(numLayers + encoderLayers, Math.min(mostLayers, mostArrays));
  if (numExperts * numLayers > mostExperts)
    refuse(
      `the config has ${numExperts} experts in each of ${numLayers} layers`,
      `at most ${mostExperts} in all`,
    );
  if (numHeads > mostHeads) refuse(`the config has ${numHeads} heads`, `at most ${mostHeads}`);
  const width = headWidth(config);
  if (!Number.isInteger(width)) refuse(`dModel / numHeads is ${width}`, 'a whole number');
  if (numHeads % numKvHeads !== 0) {
    refuse(`the config has ${numKvHeads} heads of keys`, `a divisor of ${numHeads}`);
  }
}

/** The arrays of a model in the order of the core. */
export function parametersOf(config: LanguageModelConfig): Parameter[] {
  const { dModel, vocabulary, numLayers, dFeedForward, maxLength, tokenTypes = 0 } = config;
  const { normType = 'layer', biases = normType === 'layer', activation = 'gelu' } = config;
  const { qkvBiases = biases, positions = 'learned', norm: placement = 'pre' } = config;
  const { relativeBuckets = 0, encoderLayers = 0, numExperts = 0 } = config;
  const isAfter = placement === 'after';
  const hasBeta = biases && normType === 'layer';
  const widths = projectionWidths(config);
  const all: Parameter[] = [];
  let prefix = '';
  let layer: number | undefined;
  let isOfEncoder = false;
  let expert: number | undefined;
  const add = (name: string, kind: Parameter['kind'], module: Module, ...shape: number[]): void => {
    const isBias = /(^|\.)b|\.beta$|Beta$|^headBias$/.test(name);
    const of = {
      ...(layer !== undefined && { layer }),
      ...(isOfEncoder && { isOfEncoder }),
      ...(expert !== undefined && { expert }),
    };
    all.push({ name: prefix + name, shape, kind, module, isBias, ...of });
  };
  const norm = (module: Module, name: string = module): void => {
    add(`${name}.gamma`, 'vector', module, dModel);
    if (hasBeta) add(`${name}.beta`, 'vector', module, dModel);
  };
  const map = (
    module: Module,
    name: string,
    [from, to]: readonly [number, number],
    bias: boolean,
  ): void => {
    add(name, 'map', module, from, to);
    if (bias) add(name.replace('.w', '.b'), 'vector', module, to);
  };
  const headNorm = (map: 'q' | 'k'): void => {
    const width = config.qkNormOf === 'whole' ? widths[map] : headWidth(config);
    add(`attention.${map}Gamma`, 'vector', `${map}Norm`, width);
    if (hasBeta) add(`attention.${map}Beta`, 'vector', `${map}Norm`, width);
  };
  const attention = (): void => {
    for (const module of ['q', 'k', 'v'] as const) {
      map(module, `attention.w${module}`, [dModel, widths[module]], qkvBiases);
    }
    if (config.qkNorm) (['q', 'k'] as const).forEach(headNorm);
    map('o', 'attention.wo', [widths.q, dModel], biases);
  };
  const cross = (): void => {
    norm('normCross');
    map('crossQ', 'cross.wq', [dModel, widths.q], qkvBiases);
    map('crossK', 'cross.wk', [dModel, widths.k], qkvBiases);
    map('crossV', 'cross.wv', [dModel, widths.v], qkvBiases);
    map('crossO', 'cross.wo', [widths.q, dModel], biases);
  };
  const maps = (at: string, hasBiases: boolean): void => {
    map('up', `${at}.w1`, [dModel, dFeedForward], hasBiases);
    if (/glu/.test(activation)) map('gate', `${at}.wGate`, [dModel, dFeedForward], hasBiases);
    map('down', `${at}.w2`, [dFeedForward, dModel], hasBiases);
  };
  const feedForward = (): void => {
    if (numExperts === 0) {
      maps('feedForward', biases);
      return;
    }
    add('feedForward.router', 'map', 'router', dModel, numExperts);
    for (expert = 0; expert < numExperts; expert += 1) maps(`feedForward.experts.${expert}`, false);
    expert = undefined;
  };
  const stack = (of: string, layers: number, crosses: boolean): void => {
    prefix = of;
    if (relativeBuckets > 0)
      add('relativeBias', 'table', 'relativeBias', relativeBuckets, config.numHeads);
    for (layer = 0; layer < layers; layer += 1) {
      prefix = `${of}layers.${layer}.`;
      if (!isAfter && (config.firstNorm !== false || layer > 0)) norm('norm1');
      attention();
      if (config.postNorms || isAfter) norm('postNorm1');
      if (crosses) cross();
      if (dFeedForward === 0) continue;
      if (!isAfter) norm('norm2');
      feedForward();
      if (config.postNorms || isAfter) norm('postNorm2');
    }
    [prefix, layer] = [of, undefined];
    if (placement !== 'post') norm('norm');
  };

  add('embedding', 'table', 'embedding', vocabulary, dModel);
  if (positions === 'learned') add('positions', 'table', 'positions', maxLength, dModel);
  if (tokenTypes > 0) add('tokenTypes', 'table', 'tokenTypes', tokenTypes, dModel);
  if (config.embeddingNorm) norm('embeddingNorm');
  stack('', numLayers, encoderLayers > 0);
  const { headTransform = 'none', classes = 0 } = config;
  if (headTransform !== 'none') {
    map('headTransform', 'headTransform.w', [dModel, dModel], biases);
    if (config.headNorm) norm('headNorm', 'headTransform.norm');
  }
  const outputs = classes > 0 ? classes : vocabulary;
  if (config.head !== false && !config.tiedEmbeddings) add('head', 'map', 'head', dModel, outputs);
  if (config.headBias) add('headBias', 'vector', 'head', outputs);
  if (encoderLayers > 0) {
    isOfEncoder = true;
    stack('encoder.', encoderLayers, false);
  }
  return all;
}
