// What each operator of qkv/train refuses, as tests/package/node/bad-input has it for those of qkv.
import { problem, randomArray, zeros } from '../../../support/js/arrays.js';
import { attentionKinds } from '../../node/bad-input/attention.js';
import {
  all,
  array,
  boolean,
  choice,
  floats,
  given,
  methodsOf,
  number,
  options,
  beside,
  refused,
  required,
  whole,
  to,
  noneOf,
} from '../../node/bad-input/kinds.js';
import { rotaryKinds } from '../../node/bad-input/rotary.js';

const invalid = 'invalid_argument';
const shapes = 'shape_mismatch';
const range = 'out_of_range';
const most = 2 ** 31 - 1;

const method = methodsOf('TrainQkv');

/** An array of exactly this shape. */
const shaped = (shape) =>
  array(
    shape,
    [[], [...shape, 1], shape.with(-1, shape.at(-1) + 1), shape.slice(1)].map((wrong) => [
      wrong,
      `[${shape}]`,
    ]),
  );
/** The same for an option, which may be left out. */
const shapedOption = (shape) => (name) =>
  shaped(shape)(name).filter(({ value }) => value !== undefined);

/** Names of two letters, of which no other word is a misspelling. */
const shortOptions = (known) => (name) =>
  options(known, 'zz')(name).filter(({ what }) => what !== 'a misspelt key');

/** Whole numbers of any kind of list, `count` of them, each below `limit`. */
const list = (count, limit) => (name) => [
  ...noneOf(name, invalid, [undefined, null, 3, '123', BigInt64Array.of(1n), {}]),
  refused(Float32Array.of(...Array(count).fill(0.5)), invalid, `${name}[0] is 0.5`),
  refused(Array(count).fill('1'), invalid, `${name}[0] is "1"`, 'a whole number'),
  refused(Array(count).fill(2 ** 31), range, `${name}[0] is 2147483648`),
  ...[count - 1, count + 1].map((n) =>
    refused(new Uint8Array(n), shapes, `${name} has ${n} elements`, `${count}`),
  ),
  refused(Array(count).fill(limit), range, `${name}[0] is ${limit}`, `[0, ${limit})`),
  refused(Int32Array.of(...Array(count - 1).fill(0), -7), range, `${name}[${count - 1}] is -7`),
];

// ------------------------------------------------------------------------------------- attention

const { q, k, v } = problem({ batch: 2, heads: 4, tq: 7 });
const saved = { output: q, lse: zeros([2, 4, 7]) };
const attentionOptions = attentionKinds({
  ...{ batch: 2, heads: 4, tq: 7, tk: 7, outShape: q.shape },
  misfits: [{ numKvHeads: 1, capacity: 1, dK: 1 }],
});
const forms = '[B,H,T,d], [B,T,H*d] or [T,H*d]';
const ofHeads = (wrong) => array(q.shape, [...to(forms, [], [64], [1, 1, 2, 4, 8]), ...wrong]);
const split = (name) => ({
  [name]: given(
    {
      ...{ dOutput: zeros([2, 7, 32]), q: zeros([2, 7, 32]), k: zeros([2, 7, 32]) },
      ...{ v: zeros([2, 7, 32]), 'saved.output': zeros([2, 7, 32]), 'options.numHeads': 4 },
    },
    whole(1, most, '1 to'),
  ),
});

const attentionBackward = method('attentionBackward', {
  args: { dOutput: q, q, k, v, saved, options: {} },
  dOutput: shaped(q.shape),
  q: ofHeads([]),
  k: ofHeads([[[2, 4, 7, 9], '[2,*,*,8]']]),
  v: ofHeads([[[2, 4, 6, 8], '[2,4,7,*]']]),
  saved: required(options('output', 'outpt')),
  'saved.output': (name) => shaped(q.shape)(name),
  'saved.lse': (name) => shaped([2, 4, 7])(name),
  options: options('causal', 'causel'),
  ...split('options.numHeads'),
  ...split('options.numKvHeads'),
  ...attentionOptions,
  // Nothing is written there, so it may be disposed by now.
  'options.out': (name) =>
    attentionOptions['options.out'](name).filter(({ what }) => !what.startsWith('a ')),
  'options.cache': () => [
    refused(null, invalid, 'cache is null', 'expected none'),
    {
      what: 'a cache',
      value: { make: ({ cacheOf }) => cacheOf({ numKvHeads: 4, capacity: 2, dK: 8 }) },
      code: invalid,
      says: ['cache is KvCache', 'expected none'],
    },
  ],
  'options.needs': options('sinks', 'sink'),
  'options.needs.bias': all(boolean, [
    refused(true, invalid, 'needs.bias is true', 'bias is undefined'),
    beside(
      { 'options.bias': { kind: 'alibi' } },
      refused(true, invalid, 'needs.bias is true', 'the bias array of the forward call'),
    ),
  ]),
  'options.needs.sinks': all(boolean, [
    refused(true, invalid, 'needs.sinks is true', 'sinks is undefined'),
  ]),
});

// ---------------------------------------------------------------------------------------- others

const x = randomArray([2, 3, 8], 1);
const w = randomArray([8, 5], 2);
const epsilon = number([-1, invalid, 'at least 0']);
const axis = whole(-3, 2, '-3 to 2');
const normKinds = {
  dOutput: shaped(x.shape),
  x: all(array(x.shape, [[[], '[...,n]']]), [
    refused(zeros([2, 8]), shapes, 'dOutput is [2,3,8]', 'expected [2,8]'),
  ]),
  'options.gamma': floats(8),
  'options.axis': axis,
  'options.epsilon': epsilon,
};
const rotaryX = zeros([2, 3, 5, 8]);
const gruX = randomArray([2, 4, 3], 3);
const weights = {
  ...{ wx: zeros([3, 15]), wh: zeros([5, 15]) },
  ...{ bx: new Float32Array(15), bh: new Float32Array(15) },
};
const gruKinds = {
  x: array(gruX.shape, [...to('[B,T,dIn]', [], [4, 3]), [[2, 4, 0], 'at least 1']]),
  weights: required(shortOptions('wx')),
  'weights.wx': (name) => shaped([3, 15])(`weights.${name}`),
  'weights.wh': (name) =>
    array([5, 15], [...to('[h,3*h]', [], [5, 14]), [[0, 0], 'at least 1']])(`weights.${name}`),
  'weights.bx': (name) => required(floats(15))(`weights.${name}`),
  'weights.bh': (name) => required(floats(15))(`weights.${name}`),
  'options.h0': shapedOption([2, 5]),
};

export const tables = [
  attentionBackward,
  method('linearBackward', {
    args: { dOutput: zeros([2, 3, 5]), x, w, options: {} },
    dOutput: shaped([2, 3, 5]),
    x: array(x.shape, to('[...,8]', [], [2, 3, 9])),
    w: array(w.shape, [...to('[in,out]', [], [40]), [[8, 0], 'at least 1']]),
    options: options('layout', 'lay_out'),
    'options.layout': choice('in_out', 'out_in'),
    'options.bias': boolean,
  }),
  method('softmaxBackward', {
    args: { dOutput: x, output: x, options: {} },
    dOutput: shaped(x.shape),
    output: array(x.shape, [[[], '[...,n]']]),
    options: options('axis', 'axs'),
    'options.axis': axis,
    'options.temperature': number([0, invalid, 'at least'], [-1, invalid, 'at least']),
  }),
  method('layerNormBackward', {
    args: { dOutput: x, x, options: {} },
    ...normKinds,
    options: options('gamma', 'gama'),
    'options.beta': floats(8),
  }),
  method('rmsNormBackward', {
    args: { dOutput: x, x, options: {} },
    ...normKinds,
    options: options('gamma', 'gama'),
  }),
  method('activationBackward', {
    args: { dOutput: x, x, kind: 'silu' },
    dOutput: shaped(x.shape),
    x: array(x.shape, []),
    kind: required(choice('relu', 'gelu', 'gelu_tanh', 'silu')),
  }),
  method('gateBackward', {
    args: { dOutput: x, x, y: x, kind: 'swiglu' },
    dOutput: shaped(x.shape),
    x: array(x.shape, []),
    y: shaped(x.shape),
    kind: required(choice('swiglu', 'geglu', 'geglu_tanh')),
  }),
  method('rotaryEmbeddingBackward', {
    args: { dOutput: rotaryX, options: {} },
    dOutput: array(rotaryX.shape, to(forms, [], [8])),
    options: options('offset', 'ofset'),
    ...rotaryKinds('options', { width: 8, tokens: [2, 5] }),
    'options.numHeads': given({ dOutput: zeros([2, 5, 24]) }, whole(1, most, '1 to')),
  }),
  method('embeddingBackward', {
    args: { dOutput: zeros([3, 4]), ids: [0, 1, 4], vocabulary: 5 },
    dOutput: array([3, 4], to('[ids,dModel]', [], [12])),
    ids: list(3, 5),
    vocabulary: whole(0, most, '0 to'),
  }),
  method('crossEntropy', {
    args: { logits: zeros([3, 4]), targets: [0, -1, 3], options: {} },
    logits: array([3, 4], to('[N,V]', [], [12])),
    targets: list(3, 4),
    options: options('ignoreIndex', 'ignoreindx'),
    'options.ignoreIndex': whole(-most - 1, most, 'expected -2147483648 to'),
    'options.labelSmoothing': number([-0.1, range, '[0, 1]'], [1.5, range, '[0, 1]']),
  }),
  method('gru', {
    args: { x: gruX, weights, options: {} },
    ...gruKinds,
    options: shortOptions('h0'),
  }),
  method('gruBackward', {
    args: { dOutput: zeros([2, 4, 5]), x: gruX, weights, options: {} },
    ...gruKinds,
    dOutput: shaped([2, 4, 5]),
    options: options('output', 'outpt'),
    'options.output': shapedOption([2, 4, 5]),
  }),
];
