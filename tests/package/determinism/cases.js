// What every engine must compute to the same bits: every operator in its options, calls large enough for
// threads to share, what models generate, and numbers at the edge of float32. For Node and for pages. The inputs come from a
// generator of integers, because Math.sin and its like differ from one JavaScript engine to the next.
import { booleanMask, filled, problem, random, randomArray } from '../../support/js/arrays.js';
import { everything } from '../../support/js/everything.js';
import { sharedCalls } from '../../support/js/shared-calls.js';
import { generated } from './generation.js';

const vector = (length, seed) => randomArray([length], seed).data;
const square = (seed) => randomArray([12, 12], seed);
const all = { returnWeights: true, returnLogits: 'biased', returnLse: true, returnEntropy: true };

/** Numbers of every size, subnormal ones and zeros of both signs too; the products of two are finite. */
const wild = (shape, seed) => {
  const next = random(seed);
  const scales = [1, 2 ** -140, 2 ** -60, 2 ** 8, 0, 2 ** 60, 2 ** -126];
  return filled(shape, (i) => next() * scales[i % scales.length]);
};
/** The same with what is no number at some places. */
const broken = (shape, seed) => {
  const array = wild(shape, seed);
  [NaN, Infinity, -Infinity].forEach((value, i) => (array.data[7 * i + 3] = value));
  return array;
};

const { q, k, v } = problem({ batch: 2, heads: 4, kvHeads: 2, tq: 33, tk: 37, dK: 20, dV: 9 });
const aligned = { causal: true, causalOffset: 4 };

/** Options of attention, by name, each beside all that it can return. */
const attentionOptions = {
  plain: {},
  scale: { scale: 0.37, temperature: 0.7, softcap: 5 },
  causal: aligned,
  'causal by row': { causal: true, causalOffset: Int32Array.of(4, -3) },
  window: { window: [5, 2], causalOffset: 1 },
  mask: { mask: booleanMask([2, 1, 33, 37], (i) => i % 5) },
  'additive mask': { mask: randomArray([33, 37], 5), bias: randomArray([4, 1, 37], 6) },
  alibi: { bias: { kind: 'alibi' }, ...aligned },
  'own slopes': { bias: { kind: 'alibi', slopes: vector(4, 7) }, causalOffset: 0 },
  lengths: { keyLengths: Int32Array.of(37, 0), sinks: vector(4, 8) },
  dropout: { dropout: { rate: 0.3, seed: 2 ** 40 + 7 }, ...aligned },
  raw: { returnLogits: 'raw', rows: [30, 33] },
  capped: { returnLogits: 'capped', softcap: 0.5, rows: [0, 1] },
};

const rotaryOptions = {
  far: { offset: 2 ** 20 - 40 },
  interleaved: { interleaved: true, rotaryDim: 12 },
  linear: { scaling: { type: 'linear', factor: 3 } },
  ntk: { scaling: { type: 'ntk', factor: 8 }, base: 500000 },
  yarn: { scaling: { type: 'yarn', factor: 16, originalLength: 64 } },
  'yarn in full': {
    scaling: { type: 'yarn', factor: 4, originalLength: 32, betaFast: 16, betaSlow: 2, attentionFactor: 1.2 },
  },
  positions: { positions: Int32Array.from({ length: 33 }, (_, i) => (i * 31_337) % 2 ** 20) },
  given: { cos: randomArray([33, 10], 9), sin: randomArray([33, 10], 10) },
}; // prettier-ignore

const layerConfigs = {
  'out_in': { weightLayout: 'out_in' },
  rotary: { rotary: { interleaved: true, offset: 9 } },
  'rotary, yarn': { rotary: { scaling: { type: 'yarn', factor: 2, originalLength: 16 } } },
}; // prettier-ignore

const blockConfigs = ['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu'].flatMap((activation) =>
  ['pre', 'post'].flatMap((norm) =>
    ['layer', 'rms'].map((normType) => ({ activation, norm, normType })),
  ),
);

function blockOf(engine, config) {
  const norm = { gamma: vector(12, 13), ...(config.normType === 'rms' ? {} : { beta: vector(12, 14) }) };
  const gate = config.activation === 'swiglu' ? { wGate: randomArray([12, 20], 15) } : {};
  const attention = { wq: square(16), wk: square(17), wv: square(18), wo: square(19) };
  const feedForward = { w1: randomArray([12, 20], 20), b1: vector(20, 21), w2: randomArray([20, 12], 22) };
  return engine.transformerBlock(
    { dModel: 12, numHeads: 3, dFeedForward: 20, ...config },
    { attention, norm1: norm, norm2: norm, ...feedForward, ...gate },
  );
} // prettier-ignore

/** The results of a layer or block, which is disposed. */
function once(layer, x, options) {
  const results = layer.forward(x, options);
  layer.dispose();
  return results;
}

/** By name, what gives an NdArray or several by name. */
function calls(engine) {
  const list = {};
  for (const [name, options] of Object.entries(attentionOptions)) {
    list[`attention, ${name}`] = () => engine.attention(q, k, v, { ...all, ...options });
  }
  list['attention, wild'] = () => engine.attention(...[1, 2, 3].map((s) => wild([1, 2, 19, 8], s)), all);
  list['attention, broken'] = () => engine.attention(...[4, 5, 6].map((s) => broken([1, 2, 19, 8], s)), all);
  for (const [name, options] of Object.entries(rotaryOptions)) {
    list[`rotary, ${name}`] = () => engine.rotaryEmbedding(randomArray([1, 2, 33, 20], 11), options);
  }
  for (const [name, config] of Object.entries(layerConfigs)) {
    const weights = { wq: square(1), wk: square(2), wv: square(3), wo: square(4), bq: vector(12, 5) };
    const layer = () => engine.multiHeadAttention({ dModel: 12, numHeads: 3, ...config }, weights);
    list[`layer, ${name}`] = () => once(layer(), randomArray([2, 21, 12], 6), { causal: true, ...all });
  }
  const fused = { wqkv: randomArray([12, 20], 7), bqkv: vector(20, 8), wo: square(9) };
  const grouped = { dModel: 12, numHeads: 3, numKvHeads: 1 };
  list['layer, fused'] = () => once(engine.multiHeadAttention(grouped, fused), randomArray([21, 12], 10), {});
  for (const config of blockConfigs) {
    const name = Object.values(config).join(' ');
    list[`block, ${name}`] = () => once(blockOf(engine, config), randomArray([2, 17, 12], 23), { causal: true });
  }
  const rows = wild([23, 37], 24);
  return {
    ...list,
    'sinusoidal, far': () => engine.sinusoidalEncoding(9, 130, { offset: 2 ** 20 - 8 }),
    'sinusoidal, before 0': () => engine.sinusoidalEncoding(9, 7, { offset: -2000, base: 3, layout: 'concatenated' }),
    'shift, back': () => engine.sinusoidalShift(-1_000_000, 33),
    'shift, dense': () => engine.sinusoidalShift(4097, 18, { form: 'dense', layout: 'concatenated' }),
    'alibi slopes': () => ({ data: engine.alibiSlopes(71), shape: [71] }),
    't5, both ways': () => engine.t5RelativeBias(randomArray([32, 3], 25), 40, 50, { maxDistance: 32, offset: -3 }),
    'transformer-xl': () => engine.transformerXlBias(q, randomArray([70, 80], 26), randomArray([4, 20], 27)),
    'learned': () => engine.learnedEncoding(randomArray([40, 9], 28), 30, { offset: 4 }),
    'layer norm, wild': () => engine.layerNorm(rows, { epsilon: 1e-12 }),
    'layer norm, broken': () => engine.layerNorm(broken([23, 37], 29)),
    'rms norm, wild': () => engine.rmsNorm(rows, { gamma: vector(37, 30) }),
    'gelu, wild': () => engine.gelu(rows),
    'gelu, tanh': () => engine.gelu(filled([1201], (i) => (i - 600) / 100), { approximate: 'tanh' }),
    'gelu, broken': () => engine.gelu(broken([77], 31)),
    'softmax, wild': () => engine.softmax(rows, { temperature: 2 ** -100 }),
    'softmax, broken': () => engine.softmax(broken([23, 37], 32), { axis: 0 }),
    'linear, wild': () => engine.linear(rows, wild([37, 50], 34), { bias: vector(50, 35) }),
    'linear, packed': () => once(engine.linearLayer(randomArray([50, 37], 36), { layout: 'out_in' }), rows),
    'entropy': () => engine.entropy(engine.softmax(randomArray([23, 37], 33))),
  };
} // prettier-ignore

/** Bit for bit copies, what is no number included: the only results whose NaN keep their bits. */
function copies(engine) {
  const bits = Uint32Array.of(0x7fc00000, 0xffc12345, 0x7f800001, 0xff812345, 0x80000000, 1);
  const strange = { data: new Float32Array(bits.buffer), shape: [2, 3] };
  const tensor = engine.tensor([2, 3], strange.data);
  const cache = engine.kvCache({ numKvHeads: 1, capacity: 4, dK: 3 });
  cache.append(strange, tensor);
  const results = {
    'copy, tensor': tensor.toNdArray(),
    'copy, keys': cache.keys(),
    'copy, values': cache.values(),
    'copy, embedding': engine.embedding(strange, Int32Array.of(1, 0)),
    'copy, learned': engine.learnedEncoding(strange, 2),
  };
  for (const handle of [tensor, cache]) handle.dispose();
  return results;
}

const canonical = 0x7fc00000;
const isNaNBits = (bits) => (bits & 0x7fffffff) > 0x7f800000;

/**
 * The bits of an array. WebAssembly leaves the sign and the payload of a computed NaN to the machine, so those
 * become the canonical one; copies are taken as they are.
 */
function bitsOf({ data }, exact) {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  return exact ? bits.slice() : bits.map((b) => (isNaNBits(b) ? canonical : b));
}

/** Every result of an engine: [name, shape, bits]. */
export async function results(engine) {
  const list = [];
  const add = (prefix, result, exact = false) => {
    const parts = 'data' in result ? [[prefix, result]] : Object.entries(result);
    for (const [name, array] of parts) {
      const full = 'data' in result || exact ? name : `${prefix}.${name}`;
      list.push([full, array.shape, bitsOf(array, exact)]);
    }
  };
  for (const [name, call] of Object.entries(calls(engine))) add(name, call());
  add('copies', copies(engine), true);
  for (const [name, array] of Object.entries(await everything(engine))) add(name, array);
  for (const [name, array] of Object.entries(sharedCalls(engine))) add(`shared, ${name}`, array);
  for (const [name, arrays] of Object.entries(await generated(engine)))
    add(`generated, ${name}`, arrays);
  return list;
}

const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/** SHA-256 of the shape and the bits of every result, by name. */
export async function digests(engine) {
  const found = {};
  for (const [name, shape, bits] of await results(engine)) {
    const words = Uint32Array.of(shape.length, ...shape);
    const all = new Uint32Array(words.length + bits.length);
    all.set(words);
    all.set(bits, words.length);
    if (name in found) throw new Error(`two results are called ${name}`);
    found[name] = hex(new Uint8Array(await crypto.subtle.digest('SHA-256', all)));
  }
  return found;
}
