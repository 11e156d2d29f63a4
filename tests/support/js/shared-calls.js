// Calls large enough that the threads of an engine share them, a million multiplications and more, for
// engines in Node and in pages to compute and to compare.
import { booleanMask, problem, random, randomArray } from './arrays.js';
import { compute } from './compute.js';

const extras = {
  returnWeights: true,
  returnLogits: 'biased',
  returnLse: true,
  returnEntropy: true,
  rows: [3, 11],
};

const width = 96;
const inner = 160;
const vector = (length, seed) => randomArray([length], seed).data;

/** Small, so that nothing saturates. */
const matrix = (shape, seed) => {
  const array = randomArray(shape, seed);
  return { ...array, data: array.data.map((x) => x / 8) };
};
const projections = (kvWidth, seed) => ({
  wq: matrix([width, width], seed),
  wk: matrix([width, kvWidth], seed + 1),
  wv: matrix([width, kvWidth], seed + 2),
  wo: matrix([width, width], seed + 3),
  bo: vector(width, seed + 4),
});
const norm = (seed) => ({ gamma: vector(width, seed), beta: vector(width, seed + 1) });
const config = { dModel: width, numHeads: 6, numKvHeads: 2 };
const blockWeights = (seed, more) => ({
  attention: projections(32, seed),
  norm1: norm(seed + 5),
  norm2: norm(seed + 7),
  w1: matrix([width, inner], seed + 9),
  b1: vector(inner, seed + 10),
  w2: matrix([inner, width], seed + 11),
  ...more,
});

/** The results of a block or layer, which is disposed. */
function forward(layer, x, options) {
  const results = layer.forward(x, options);
  layer.dispose();
  return results;
}

/** By name, calls on an engine that give an NdArray or several by name. */
const calls = {
  grouped(engine) {
    const { q, k, v } = problem({
      batch: 1,
      heads: 6,
      kvHeads: 2,
      tq: 131,
      tk: 140,
      dK: 36,
      dV: 20,
    });
    const bias = randomArray([6, 131, 140], 4);
    return engine.attention(q, k, v, { ...extras, bias, causal: true, causalOffset: 9 });
  },
  // One key/value head: threads then share its blocks of queries, of which the last is short.
  oneHead(engine) {
    const { q, k, v } = problem({ batch: 1, heads: 1, tq: 401, dK: 24 });
    return engine.attention(q, k, v, { causal: true, returnLse: true, softcap: 5 });
  },
  masked(engine) {
    const { q, k, v } = problem({ batch: 3, heads: 4, tq: 97, dK: 16 });
    const next = random(5);
    const mask = booleanMask([3, 1, 97, 97], () => next() > -0.5);
    const keyLengths = Int32Array.of(97, 40, 0);
    return engine.attention(q, k, v, { mask, keyLengths, window: [30, -1], ...extras });
  },
  dropped(engine) {
    const { q, k, v } = problem({ batch: 2, heads: 3, tq: 96, dK: 32 });
    const sinks = vector(3, 6);
    const dropout = { rate: 0.25, seed: 7 };
    return engine.attention(q, k, v, { dropout, sinks, bias: { kind: 'alibi' }, ...extras });
  },
  cached(engine) {
    const cache = engine.kvCache({ numKvHeads: 4, capacity: 520, dK: 64 });
    const options = { numHeads: 16, numKvHeads: 4, causal: true, cache };
    const tokens = (count, heads, seed) => randomArray([count, heads * 64], seed);
    const step = (count, seed) =>
      engine.attention(
        ...[tokens(count, 16, seed), tokens(count, 4, seed + 1), tokens(count, 4, seed + 2)],
        options,
      ).output;
    const prefill = step(512, 1);
    const decoded = [4, 5, 6].map((seed) => step(1, seed));
    const results = { prefill, keys: cache.keys(), values: cache.values() };
    cache.dispose();
    return { ...results, ...decoded };
  },
  layer(engine) {
    const layer = engine.multiHeadAttention({ ...config, rotary: {} }, projections(32, 10));
    return forward(layer, randomArray([2, 130, width], 20), { causal: true, ...extras });
  },
  cross(engine) {
    const layer = engine.multiHeadAttention(config, projections(32, 11));
    return forward(layer, randomArray([75, width], 21), { context: randomArray([203, width], 22) });
  },
  preNorm(engine) {
    const block = engine.transformerBlock({ ...config, dFeedForward: inner }, blockWeights(30));
    return forward(block, randomArray([2, 110, width], 23), { causal: true });
  },
  postNorm(engine) {
    const own = { ...config, dFeedForward: inner, norm: 'post', crossAttention: true };
    const more = { cross: projections(32, 50), normCross: norm(60) };
    const block = engine.transformerBlock(own, blockWeights(40, more));
    const context = randomArray([90, width], 25);
    return forward(block, randomArray([180, width], 24), { causal: true, context });
  },
  swiglu(engine) {
    const own = { ...config, dFeedForward: inner, activation: 'swiglu', normType: 'rms' };
    const gate = { wGate: matrix([width, inner], 80), bGate: vector(inner, 81) };
    const plain = { norm1: { gamma: vector(width, 82) }, norm2: { gamma: vector(width, 83) } };
    const block = engine.transformerBlock(own, blockWeights(70, { ...gate, ...plain }));
    return forward(block, randomArray([150, width], 26), { causal: true });
  },
  small: compute,
};

/** What all of them give, as NdArrays by 'call.result'. */
export function sharedCalls(engine) {
  const results = {};
  for (const [name, call] of Object.entries(calls)) {
    for (const [part, array] of Object.entries(call(engine))) results[`${name}.${part}`] = array;
  }
  return results;
}

/** Longer than any thread looks for work before it sleeps. */
export const sleep = (milliseconds = 150) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
