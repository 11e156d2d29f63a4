// The config of a language model: what trainers and models refuse of it.
import {
  all,
  beside,
  boolean,
  choice,
  given,
  noneOf,
  number,
  options,
  required,
  whole,
  refused,
} from './kinds.js';
import { rotaryKinds } from './rotary.js';

const invalid = 'invalid_argument';
const range = 'out_of_range';
const most = 2 ** 31 - 1;
const size = whole(1, most, '1 to');

/** A right one, small. */
export const modelConfig = {
  vocabulary: 7,
  numLayers: 1,
  dModel: 8,
  numHeads: 2,
  dFeedForward: 12,
  maxLength: 6,
  positions: 'rotary',
  rotary: {},
};

/** A factor of the scaling of Llama 3.1. */
const ofLlama3 = (part) =>
  given(
    { 'config.rotary.scaling': { type: 'llama3', factor: 2, originalLength: 4 } },
    all(number(), [refused(0, invalid, `rotary.scaling.${part} is 0`)]),
  );

const longRope = {
  ...{ type: 'longrope', originalLength: 4, attentionFactor: 1 },
  ...{ shortFactors: [1, 2], longFactors: [2, 4] },
};
const factors = given({ 'config.rotary.scaling': longRope }, (name) => [
  ...noneOf(name, invalid, [undefined, null, 3, 'x', {}], 'an array of numbers'),
  refused([1, '2'], invalid, `${name}[1] is "2"`),
]);
/** Of the scaling of Phi-3. The long ones are those that a model of 6 tokens reads. */
const ofLongRope = {
  'config.rotary.scaling.shortFactors': factors,
  'config.rotary.scaling.longFactors': factors,
};

/** Kinds by path; `more` are further cases by path. */
export function modelConfigKinds(more = {}) {
  const kinds = {
    config: required(options('dModel', 'dmodel')),
    'config.vocabulary': required(size),
    'config.numLayers': required(size),
    'config.dModel': all(required(size), [refused(9, range, 'dModel', '9')]),
    'config.numHeads': required(size),
    'config.numKvHeads': all(size, [refused(3, range, 'numKvHeads is 3', 'divisor')]),
    'config.dK': size,
    'config.dFeedForward': required(whole(0, most, '0 to')),
    'config.maxLength': required(size),
    'config.causal': boolean,
    'config.norm': choice('pre', 'post', 'after'),
    'config.normType': choice('layer', 'rms'),
    'config.epsilon': number([-1, invalid, 'at least 0']),
    'config.activation': choice(
      ...['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu', 'geglu', 'geglu_tanh', 'relu2'],
    ),
    'config.positions': choice('none', 'learned', 'sinusoidal', 'rotary', 'alibi'),
    'config.rotary': all(
      (name) =>
        options('rotaryDim', 'rotarydim')(name).filter(({ value }) => !Array.isArray(value)),
      [
        refused([{}, {}], 'shape_mismatch', 'rotary has 2 elements', 'numLayers = 1'),
        refused([{ bas: 2 }], invalid, "the unknown key 'bas'"),
      ],
    ),
    ...Object.fromEntries(
      Object.entries(rotaryKinds('config.rotary', { width: 4, heads: 2 })).filter(([path]) =>
        /rotary\.(base|rotaryDim|interleaved|scaling)/.test(path),
      ),
    ),
    'config.rotary.scaling.lowFrequencyFactor': ofLlama3('lowFrequencyFactor'),
    'config.rotary.scaling.highFrequencyFactor': ofLlama3('highFrequencyFactor'),
    ...ofLongRope,
    'config.family': (name) => [
      refused(3, invalid, `${name.replace('config.', '')} is 3`, 'a string'),
      refused(null, invalid, 'family is null', 'a string'),
    ],
    'config.qkNorm': boolean,
    'config.parallelResidual': all(boolean, [
      beside({ 'config.norm': 'post' }, refused(true, invalid, 'parallelResidual')),
    ]),
    'config.tiedEmbeddings': boolean,
    'config.biases': boolean,
    'config.embeddingScale': number([0, range, 'embeddingScale is 0']),
    'config.window': (name) => [
      ...whole(
        0,
        most,
        '0 to',
      )(name).filter(({ value }) => value !== null && !Array.isArray(value)),
      refused([1, 2], 'shape_mismatch', 'window has 2 elements', 'numLayers = 1'),
      refused([-1], range, 'window[0] is -1', '0 to'),
    ],
    'config.attentionSoftcap': number([-1, range, 'attentionSoftcap']),
    'config.qkvBiases': boolean,
    'config.attentionScale': (name) => number()(name).filter(({ value }) => value !== null),
    'config.logitSoftcap': number(),
    'config.postNorms': boolean,
    'config.tokenTypes': whole(0, most, '0 to'),
    'config.encoderLayers': all(whole(0, most, '0 to'), [
      refused(1, 'unsupported', 'positions is given with encoderLayers = 1'),
    ]),
    // Without an encoder.
    'config.startToken': whole(0, 0, '0 to 0'),
    'config.embeddingNorm': boolean,
    'config.head': boolean,
    'config.headBias': boolean,
    'config.headTransform': choice('none', 'relu', 'gelu', 'gelu_tanh', 'silu', 'tanh'),
    'config.headNorm': all(boolean, [refused(true, invalid, 'headNorm is true')]),
    'config.classes': all(whole(0, most, '0 to'), [
      beside({ 'config.tiedEmbeddings': true }, refused(2, invalid, 'classes is 2')),
    ]),
    'config.headPooling': choice('none', 'first', 'mean', 'last'),
    'config.qkNormOf': choice('head', 'rotated', 'whole'),
    'config.firstNorm': all(boolean, [
      beside({ 'config.norm': 'post' }, refused(false, invalid, 'firstNorm is false')),
    ]),
    'config.symmetricWindow': all(boolean, [refused(true, invalid, 'symmetricWindow is true')]),
    'config.relativeBuckets': all(whole(0, most, '0 to'), [
      refused(1, range, 'relativeBuckets is 1', '2 to 1024'),
      beside({ 'config.positions': 'alibi' }, refused(8, invalid, 'relativeBuckets is 8')),
    ]),
    'config.numExperts': all(whole(0, most, '0 to'), [
      refused(1025, range, 'numExperts is 1025', 'at most 1024'),
      beside(
        { 'config.dFeedForward': 0, 'config.expertsPerToken': 1 },
        refused(2, invalid, 'numExperts is 2 and dFeedForward 0'),
      ),
    ]),
    'config.expertsPerToken': all(whole(0, most, '0 to'), [
      refused(1, range, 'expertsPerToken is 1', '0 to 0'),
      beside({ 'config.numExperts': 2 }, refused(0, range, 'expertsPerToken is 0', '1 to 2')),
      beside({ 'config.numExperts': 2 }, refused(3, range, 'expertsPerToken is 3', '1 to 2')),
    ]),
    'config.normalizedExperts': boolean,
    'config.relativeMaxDistance': given(
      { 'config.relativeBuckets': 8 },
      all(whole(1, most, '1 to'), [refused(4, range, 'relativeMaxDistance 4')]),
    ),
  };
  for (const [path, cases] of Object.entries(more)) kinds[path] = all(kinds[path], cases);
  return kinds;
}
