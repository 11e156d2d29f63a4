// What languageModel() and seq2seq() refuse.
import { modelConfig, modelConfigKinds } from '../../node/bad-input/model-config.js';
import {
  all,
  choice,
  methodsOf,
  number,
  options,
  refused,
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
    refused(null, invalid, `${name} is null`, 'two numbers'),
    refused([0.9], invalid, `${name} is an array`, 'two numbers'),
    refused([0.9, 0.9, 0.9], invalid, `${name} is an array`, 'two numbers'),
    refused([0.9, '1'], invalid, `${name}[1] is "1"`, 'a number'),
    refused([1, 0.9], range, `${name}[0] is 1`, '[0, 1)'),
    refused([0, -0.1], range, `${name}[1] is -0.1`, '[0, 1)'),
  ],
  'options.epsilon': positive,
  'options.weightDecay': notNegative,
  'options.clipNorm': notNegative,
  'options.dropout': number([1, range, '[0, 1)'], [-0.1, range, '[0, 1)']),
  'options.deviation': positive,
};

/** What models have that are run and not trained. */
const ofModelsAlone = Object.fromEntries(
  Object.entries({
    ...{ relativeBuckets: 8, classes: 3, headPooling: 'mean', head: false },
  }).map(([name, value]) => [
    `config.${name}`,
    [refused(value, 'unsupported', `${name} is `, 'expected')],
  ]),
);

const languageModel = method('languageModel', {
  args: { config: modelConfig, options: {} },
  ...ofOptions,
  ...modelConfigKinds(ofModelsAlone),
});

const seq2seq = method('seq2seq', {
  args: { config: { kind: 'transformer', vocabulary: 7, dModel: 8, maxLength: 6 }, options: {} },
  ...ofOptions,
  config: required(options('dModel', 'dmodel')),
  'config.kind': required(choice('gru', 'gru_attention', 'transformer')),
  'config.vocabulary': required(size),
  'config.dModel': required(size),
  'config.numHeads': all(size, [refused(3, range, 'numHeads is 3')]),
  'config.numLayers': size,
  'config.dFeedForward': whole(0, most, '0 to'),
  'config.maxLength': required(size),
  'config.score': choice('additive', 'dot'),
});

export const trainerTables = [languageModel, seq2seq];
