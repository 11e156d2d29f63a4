// What languageModel() and seq2seq() refuse.
import { rotaryKinds } from '../../node/bad-input/rotary.js';
import {
  all,
  boolean,
  choice,
  given,
  methodsOf,
  number,
  options,
  refusal,
  required,
  whole,
} from '../../node/bad-input/kinds.js';

const invalid = 'invalid_argument';
const range = 'out_of_range';
const most = 2 ** 31 - 1;
const size = whole(1, most, '1 to');

const method = methodsOf('TrainQkv');
const positive = number([0, range, 'above 0'], [-1, range, 'above 0'], [1e-50, range, 'above 0']);
const notNegative = number([-1, range, 'at least 0']);
const steps = (name) =>
  whole(0, Number.MAX_SAFE_INTEGER, '0 to')(name).filter(({ value }) => !(value >= 2 ** 53 - 1));

/** A number of a schedule, whose others are right. */
const ofSchedule = (kind) => (name) =>
  kind(name).map((c) => ({
    ...c,
    with: { 'options.learningRate': { peak: 1, warmup: 0, steps: 0 }, ...c.with },
  }));

/** The options of both. */
const ofOptions = {
  options: options('dropout', 'dropuot'),
  'options.seed': steps,
  // A list is an object without a peak.
  'options.learningRate': (name) =>
    notNegative(name).filter(({ value }) => Number.isFinite(value) || Number.isNaN(value)),
  'options.learningRate.peak': ofSchedule(required(notNegative)),
  'options.learningRate.warmup': ofSchedule(required(steps)),
  'options.learningRate.steps': ofSchedule(required(steps)),
  'options.learningRate.final': ofSchedule(notNegative),
  'options.betas': (name) => [
    refusal('null', null, invalid, `${name} is null`, 'two numbers'),
    refusal('one number', [0.9], invalid, `${name} is an array`, 'two numbers'),
    refusal('three', [0.9, 0.9, 0.9], invalid, `${name} is an array`, 'two numbers'),
    refusal('a word', [0.9, '1'], invalid, `${name}[1] is "1"`, 'a number'),
    refusal('one', [1, 0.9], range, `${name}[0] is 1`, '[0, 1)'),
    refusal('below 0', [0, -0.1], range, `${name}[1] is -0.1`, '[0, 1)'),
  ],
  'options.epsilon': positive,
  'options.weightDecay': notNegative,
  'options.clipNorm': notNegative,
  'options.dropout': number([1, range, '[0, 1)'], [-0.1, range, '[0, 1)']),
  'options.deviation': positive,
};

const config = {
  vocabulary: 7,
  numLayers: 1,
  dModel: 8,
  numHeads: 2,
  dFeedForward: 12,
  maxLength: 6,
};

/** What models have that are run and not trained. */
const ofModelsAlone = (name, value) => [
  refusal('of models alone', value, 'unsupported', `${name} is `, 'expected'),
];
/** A factor of the scaling of Llama 3.1. */
const ofLlama3 = (part) =>
  given(
    { 'config.rotary.scaling': { type: 'llama3', factor: 2, originalLength: 4 } },
    all(number(), [refusal('0', 0, invalid, `rotary.scaling.${part} is 0`)]),
  );

const languageModel = method(
  'languageModel',
  { config: { ...config, positions: 'rotary', rotary: {} }, options: {} },
  {
    ...ofOptions,
    config: required(options('dModel', 'dmodel')),
    'config.vocabulary': required(size),
    'config.numLayers': required(size),
    'config.dModel': all(required(size), [refusal('no multiple', 9, range, 'dModel', '9')]),
    'config.numHeads': required(size),
    'config.numKvHeads': all(size, [refusal('no divisor', 3, range, 'numKvHeads is 3', 'divisor')]),
    'config.dK': size,
    'config.dFeedForward': required(whole(0, most, '0 to')),
    'config.maxLength': required(size),
    'config.causal': boolean,
    'config.norm': choice('pre', 'post'),
    'config.normType': choice('layer', 'rms'),
    'config.epsilon': number([-1, invalid, 'at least 0']),
    'config.activation': choice(
      ...['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu', 'geglu', 'geglu_tanh'],
    ),
    'config.positions': choice('none', 'learned', 'sinusoidal', 'rotary', 'alibi'),
    'config.rotary': options('rotaryDim', 'rotarydim'),
    ...Object.fromEntries(
      Object.entries(rotaryKinds('config.rotary', { width: 4, heads: 2 })).filter(([path]) =>
        /rotary\.(base|rotaryDim|interleaved|scaling)/.test(path),
      ),
    ),
    'config.rotary.scaling.lowFrequencyFactor': ofLlama3('lowFrequencyFactor'),
    'config.rotary.scaling.highFrequencyFactor': ofLlama3('highFrequencyFactor'),
    'config.family': (name) => [
      refusal('a number', 3, invalid, `${name.replace('config.', '')} is 3`, 'a string'),
      refusal('null', null, invalid, 'family is null', 'a string'),
    ],
    'config.qkNorm': boolean,
    'config.parallelResidual': all(boolean, [
      {
        ...refusal('with post', true, invalid, 'parallelResidual'),
        with: { 'config.norm': 'post' },
      },
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
      refusal('two layers', [1, 2], 'shape_mismatch', 'window has 2 elements', 'numLayers = 1'),
      refusal('a wrong one', [-1], range, 'window[0] is -1', '0 to'),
      ...ofModelsAlone('window', [3]),
    ],
    'config.attentionSoftcap': number([-1, range, 'attentionSoftcap']),
    // What models alone have.
    'config.qkvBiases': all(boolean, ofModelsAlone('qkvBiases', false)),
    'config.attentionScale': (name) => [
      ...number()(name).filter(({ value }) => value !== null),
      ...ofModelsAlone('attentionScale', 1),
    ],
    'config.logitSoftcap': all(number(), ofModelsAlone('logitSoftcap', 1)),
    'config.postNorms': all(boolean, ofModelsAlone('postNorms', true)),
    'config.tokenTypes': all(whole(0, most, '0 to'), ofModelsAlone('tokenTypes', 2)),
    'config.embeddingNorm': all(boolean, ofModelsAlone('embeddingNorm', true)),
    'config.head': all(boolean, ofModelsAlone('head', false)),
  },
);

const seq2seq = method(
  'seq2seq',
  { config: { kind: 'transformer', vocabulary: 7, dModel: 8, maxLength: 6 }, options: {} },
  {
    ...ofOptions,
    config: required(options('dModel', 'dmodel')),
    'config.kind': required(choice('gru', 'gru_attention', 'transformer')),
    'config.vocabulary': required(size),
    'config.dModel': required(size),
    'config.numHeads': all(size, [refusal('no divisor', 3, range, 'numHeads is 3')]),
    'config.numLayers': size,
    'config.dFeedForward': whole(0, most, '0 to'),
    'config.maxLength': required(size),
    'config.score': choice('additive', 'dot'),
  },
);

export const trainerTables = [languageModel, seq2seq];
