// Every public function and method with arguments that are right, and the options that it could be given
// besides. Arguments are plain; what only an engine can make stands in them as { make }.
import { booleanMask, problem, randomArray } from '../../../support/js/arrays.js';
import { operatorCalls } from '../../../support/js/everything.js';
import * as small from '../../../support/js/small-layer.js';

const vector = (length, seed) => randomArray([length], seed).data;
const { q, k, v } = problem({ tq: 5, tk: 6 });
const x = randomArray([2, 3, 8], 1);

/** A handle among arguments: `name` of the world, with these arguments. */
export const made = (name, ...args) => ({ made: { name, args } });
export const isMade = (value) => typeof value === 'object' && value !== null && 'made' in value;

const extras = ['returnWeights', 'returnLogits', 'returnLse', 'returnEntropy', 'rows', 'out'];
const scores = [
  ...['scale', 'softcap', 'temperature', 'causal', 'causalOffset', 'window', 'mask', 'bias'],
  ...['keyLengths', 'sinks', 'dropout', 'cache', ...extras],
];
const rotary = ['offset', 'positions', 'base', 'rotaryDim', 'interleaved', 'scaling', 'cos', 'sin'];

/** Options of a function, by its name. */
const known = {
  attention: [...scores, 'numHeads', 'numKvHeads'],
  forward: [...scores, 'context'],
  rotaryEmbedding: [...rotary, 'numHeads', 'out'],
  sinusoidalEncoding: ['offset', 'base', 'layout', 'out'],
  sinusoidalShift: ['base', 'form', 'layout'],
  learnedEncoding: ['offset', 'outOfRange'],
  t5RelativeBias: ['bidirectional', 'maxDistance', 'offset'],
  layerNorm: ['gamma', 'beta', 'axis', 'epsilon', 'out'],
  rmsNorm: ['gamma', 'axis', 'epsilon', 'out'],
  gelu: ['approximate', 'out'],
  softmax: ['axis', 'temperature', 'out'],
  linear: ['bias', 'layout', 'out'],
  linearLayer: ['bias', 'layout'],
};
/** Where the options of a function stand. */
const optionsAt = {
  ...{ attention: 3, forward: 1, rotaryEmbedding: 1, sinusoidalEncoding: 2, sinusoidalShift: 2 },
  ...{ learnedEncoding: 2, t5RelativeBias: 3, layerNorm: 1, rmsNorm: 1, gelu: 1, softmax: 1 },
  ...{ linear: 2, linearLayer: 1 },
};

const blockConfig = {
  dModel: 8,
  numHeads: 2,
  dFeedForward: 12,
  activation: 'swiglu',
  norm: 'post',
};
const square = (seed) => randomArray([8, 8], seed);
const gamma = vector(8, 30);
const blockWeights = {
  attention: { wq: square(21), wk: square(22), wv: square(23), wo: square(24), bo: gamma },
  norm1: { gamma },
  norm2: { gamma, beta: gamma },
  ...{ w1: randomArray([8, 12], 25), w2: randomArray([12, 8], 26), b1: vector(12, 28) },
  wGate: randomArray([8, 12], 27),
};
const crossConfig = { ...blockConfig, activation: 'gelu', crossAttention: true };
const crossWeights = {
  ...blockWeights,
  wGate: undefined,
  cross: blockWeights.attention,
  normCross: { gamma },
};

const cacheOptions = { batch: 2, numKvHeads: 4, capacity: 9, dK: 8, dV: 8 };
const aligned = { causal: true, causalOffset: 1 };
const yarn = { type: 'yarn', factor: 2, originalLength: 8 };

/**
 * { name, method, args, of, options }: `of` says what has the method, the engine if nothing does; `options` which it could be
 * given, where these are not those of all methods of its name.
 */
const list = [
  ...operatorCalls.map(([method, ...args]) => ({ method, args })),
  { method: 'attention', args: [q, k, v, { out: made('tensor', q.shape), mask: randomArray([5, 6], 3), returnLse: true }] },
  { method: 'attention', args: [q, made('tensor', k.shape, k.data), v, { bias: { kind: 'alibi', slopes: vector(4, 4) }, ...aligned }] },
  { method: 'attention', args: [x, x, x, { numHeads: 2, window: [1, -1], dropout: { rate: 0.5, seed: 3 } }] },
  { method: 'attention', args: [q, q, q, { cache: made('cache', cacheOptions), causal: true, mask: booleanMask([5, 7], (i) => i % 2) }] },
  { method: 'rotaryEmbedding', args: [x, { numHeads: 2, interleaved: true, rotaryDim: 2, scaling: yarn }] },
  { method: 'rotaryEmbedding', args: [x, { numHeads: 1, cos: randomArray([3, 4], 1), sin: randomArray([3, 4], 2) }] },
  { method: 'softmax', args: [made('tensor', x.shape, x.data), { axis: 1, out: made('tensor', x.shape) }] },
  { method: 'layerNorm', args: [x, { gamma: vector(8, 5), out: made('tensor', x.shape) }] },
  { method: 'rotaryEmbedding', args: [x, { numHeads: 2, out: made('tensor', x.shape) }] },
  { method: 'sinusoidalEncoding', args: [3, 4, { out: made('tensor', [3, 4]) }] },
  { method: 'linear', args: [x, randomArray([8, 4], 9), { bias: vector(4, 2), out: made('tensor', [2, 3, 4]) }] },
  { method: 'linearLayer', args: [randomArray([8, 4], 9)] },
  { method: 'linearLayer', args: [made('tensor', [8, 4]), { bias: vector(4, 2) }] },
  { method: 'linearLayer', args: [randomArray([4, 8], 9), { bias: vector(4, 2), layout: 'out_in' }] },
  { method: 'forward', of: made('linear', randomArray([8, 4], 9)), args: [x, { out: made('tensor', [2, 3, 4]) }], options: ['out'] },
  { method: 'tensor', args: [[2, 3], [1, 2, 3, 4, 5, 6]] },
  { method: 'tensor', args: [[2, 3], vector(6, 1)] },
  { method: 'tensor', args: [[3, 0, 2]] },
  { method: 'kvCache', args: [cacheOptions] },
  { method: 'kvCache', args: [{ ...cacheOptions, format: 'bf16' }] },
  { method: 'multiHeadAttention', args: [small.config, small.weights] },
  { method: 'multiHeadAttention', args: [{ ...small.fusedConfig, rotary: { scaling: yarn, positions: Int32Array.of(1, 2, 3) } }, small.fused] },
  { method: 'transformerBlock', args: [blockConfig, blockWeights] },
  { method: 'transformerBlock', args: [crossConfig, crossWeights] },
  { method: 'set', of: made('tensor', [2, 3]), args: [[1, 2, 3, 4, 5, 6]] },
  { method: 'set', of: made('tensor', [2, 3]), args: [vector(6, 2)] },
  { method: 'append', of: made('cache', cacheOptions), args: [randomArray([2, 4, 3, 8], 5), randomArray([2, 3, 32], 6)] },
  { method: 'truncate', of: made('cache', cacheOptions), args: [1] },
  { method: 'keys', of: made('cache', cacheOptions), args: [] },
  { method: 'forward', of: made('layer', small.config, small.weights), args: [small.x, { context: small.context, ...aligned, returnWeights: true }] },
  { method: 'forward', of: made('layer', small.fusedConfig, small.fused), args: [small.x, { out: made('tensor', small.x.shape), keyLengths: Int32Array.of(2, 3) }] },
  { method: 'forward', of: made('block', blockConfig, blockWeights), args: [small.x, { causal: true, returnEntropy: true }] },
  { method: 'forward', of: made('block', crossConfig, crossWeights), args: [small.x, { context: small.x, contextKeyLengths: Int32Array.of(1, 2) }] },
]; // prettier-ignore

/** By what messages call a method, where it is not by its name. */
const saysOf = { set: 'Tensor.set' };
for (const name of ['append', 'truncate', 'keys']) saysOf[name] = `KvCache.${name}`;

export const targets = list.map((target, i) => ({
  ...target,
  name: `${target.method} (${i})`,
  says: saysOf[target.method] ?? target.method,
  options: target.options ?? known[target.method] ?? [],
  optionsAt: optionsAt[target.method],
}));

/** Every place in the arguments that may be replaced: those that are, and options that could be. */
export function placesOf({ args, options, optionsAt: at }) {
  const places = [];
  const walk = (value, path) => {
    places.push(path);
    if (typeof value !== 'object' || value === null || isMade(value)) return;
    if (ArrayBuffer.isView(value)) return;
    const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
    for (const key of keys) walk(value[key], [...path, key]);
  };
  args.forEach((value, i) => walk(value, [i]));
  const given = Object.keys(args[at] ?? {});
  for (const name of [...options, 'unknown']) {
    if (at !== undefined && !given.includes(name)) places.push([at, name]);
  }
  // One argument more than there are.
  return [...places, [args.length]];
}
