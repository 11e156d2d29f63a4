// The methods that the two sides agree on: what a worker runs on its engine and on what that has made, and nothing
// else that a message may name.

import type { LanguageModel, Session } from '../../api/model-types.js';
import type { Seq2Seq, TrainedModel, Trainer } from '../../api/trainer-types.js';
import type {
  KvCache,
  LinearLayer,
  MultiHeadAttention,
  Tensor,
  TransformerBlock,
} from '../../api/types.js';
import type { AsyncParameters, AsyncTrainer } from '../../api/worker-train-types.js';

/** What has names of methods, and no symbols. */
type MethodNames<T> = Exclude<keyof T, symbol>;

/**
 * The parameters of an engine's operators, from wasm/bindings/schema.js. In `options` the worker reads what is left
 * without the options of every call; `call` are those alone, and are not sent.
 */
export const operators: Readonly<Record<string, readonly string[]>> = QKV_METHODS;

/** An engine is let go by `{ end: true }`, not by a call: others of the worker may have the same. */
export const engineMethods: readonly string[] = [
  ...Object.keys(operators),
  ...['memory', 'loadModel', 'languageModel', 'languageModel.from', 'languageModel.fromFile'],
  'seq2seq',
];

/** The methods of an engine that make a handle, and of what kind it is. */
export const engineMakers = {
  tensor: 'tensor',
  kvCache: 'kvCache',
  multiHeadAttention: 'multiHeadAttention',
  transformerBlock: 'transformerBlock',
  linearLayer: 'linearLayer',
  loadModel: 'model',
  languageModel: 'trainer',
  'languageModel.from': 'trainer',
  'languageModel.fromFile': 'trainer',
  seq2seq: 'trainer',
} as const;
export type Maker = keyof typeof engineMakers;
export const isMaker = (method: string): method is Maker =>
  Object.keys(engineMakers).includes(method);

/** The same of a model, and of its sessions. */
export const modelMakers: Readonly<Record<string, HandleKind>> = {
  session: 'session',
  generate: 'generation',
  generateAll: 'generation',
  fork: 'session',
  withAdapters: 'model',
};

/** Methods of a model whose second argument may have a session. */
export const sessionMethods: readonly string[] = [
  ...([
    'forward',
    'generate',
    'attribute',
    'normWeights',
    'lens',
  ] satisfies MethodNames<LanguageModel>[]),
];

/** Methods of a model or a trainer that take long and may be stopped. */
export const longMethods: Readonly<Record<string, LongMethod>> = {
  sweep: { at: 0, hasProgress: true },
  embed: { at: 1, hasProgress: true },
  score: { at: 1, hasProgress: true },
  beams: { at: 1, hasProgress: false },
  run: { at: 0, hasProgress: true },
};

export interface LongMethod {
  /** Which argument has its options. */
  readonly at: number;
  /** Whether it has the option `onProgress`, too. */
  readonly hasProgress: boolean;
}

/** Methods of the model of a trainer, which are called through the trainer. */
export const trainedModelMethods: readonly string[] = [
  ...([
    'forward',
    'loss',
    'gradients',
    'attributionPatching',
  ] satisfies MethodNames<TrainedModel>[]),
  ...(['translate', 'reach'] satisfies MethodNames<Seq2Seq>[]),
];

export type HandleKind = (typeof engineMakers)[Maker] | 'session' | 'generation';

interface HandleTraits {
  /** What messages call it. */
  readonly name: string;
  readonly methods: readonly string[];
  /** Whether it has a length, which goes back with every answer. */
  readonly isCounted?: true;
  /** Fields that do not change, which go with the handle. */
  readonly fields?: readonly string[];
}

export const handleKinds: Readonly<Record<HandleKind, HandleTraits>> = {
  tensor: {
    name: 'tensor',
    methods: ['toNdArray', 'set', 'dispose'] satisfies MethodNames<Tensor>[],
  },
  kvCache: {
    name: 'cache',
    methods: ['append', 'keys', 'values', 'truncate', 'dispose'] satisfies MethodNames<KvCache>[],
    isCounted: true,
  },
  multiHeadAttention: {
    name: 'layer',
    methods: ['forward', 'dispose'] satisfies MethodNames<MultiHeadAttention>[],
  },
  transformerBlock: {
    name: 'block',
    methods: ['forward', 'dispose'] satisfies MethodNames<TransformerBlock>[],
  },
  linearLayer: {
    name: 'layer',
    methods: ['forward', 'dispose'] satisfies MethodNames<LinearLayer>[],
  },
  model: {
    name: 'model',
    methods: [
      ...(['forward', 'session', 'generate'] satisfies MethodNames<LanguageModel>[]),
      ...(['loss', 'embed', 'save', 'dispose'] satisfies MethodNames<LanguageModel>[]),
      ...(['attribute', 'sweep', 'headScores'] satisfies MethodNames<LanguageModel>[]),
      ...(['normWeights', 'lens', 'score', 'fillMask'] satisfies MethodNames<LanguageModel>[]),
      ...([
        'encode',
        'decode',
        'generateAll',
        'beams',
        'withAdapters',
      ] satisfies MethodNames<LanguageModel>[]),
    ],
    fields: [
      ...(['config', 'parameterCount', 'bytes', 'format'] satisfies MethodNames<LanguageModel>[]),
      ...(['tokenizerProblem', 'pooling', 'ignored'] satisfies MethodNames<LanguageModel>[]),
      ...(['chatTemplates'] satisfies MethodNames<LanguageModel>[]),
    ],
  },
  session: {
    name: 'session',
    methods: [
      ...(['truncate', 'remove', 'fork', 'save', 'dispose'] satisfies MethodNames<Session>[]),
    ],
    isCounted: true,
    fields: ['capacity', 'bytes', 'activations'] satisfies MethodNames<Session>[],
  },
  trainer: {
    name: 'trainer',
    methods: [
      ...(['step', 'evaluate', 'differentiate', 'save'] satisfies MethodNames<Trainer<object>>[]),
      ...(['accumulate', 'load', 'saveAdapters', 'dispose'] satisfies MethodNames<
        Trainer<object>
      >[]),
      ...(['value', 'gradient', 'set'] satisfies MethodNames<AsyncParameters>[]),
      ...(['run', 'pause', 'resume'] satisfies MethodNames<AsyncTrainer<object>>[]),
      ...['feed', 'ofModel'],
    ],
    isCounted: true,
    fields: ['parameterCount', 'config', 'names'],
  },
  generation: { name: 'generation', methods: ['next', 'dispose'], isCounted: true },
};
