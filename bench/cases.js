// What is measured, once for every host and contestant: sizes, inputs, operations and bytes.
//
// A case is { name, op, ...sizes, flops, bytes, tolerance } with
//   flops      additions and multiplications that have to be done; causal counts the allowed half only
//   bytes      what has to be read and written at least once
//   tolerance  how far apart contestants may be, relative to the largest element
//   each       every way of a contestant is a row of its own (otherwise the fastest one is taken)
//   heavy      left out by --quick
//   rounds     when fewer than usual will do

import { random } from './random.js';
import { trainInputs, trainStep } from './train_model.js';

export { random };

const tolerance = 2e-5;
const floats = (...counts) => 4 * counts.reduce((sum, count) => sum + count, 0);
const pairs = (tokens, causal) => (causal ? (tokens * (tokens + 1)) / 2 : tokens * tokens);

function attention(name, { heads, tokens, width, causal }, more = {}) {
  return {
    ...{ name, op: 'attention', heads, tokens, width, causal, tolerance },
    flops: 4 * heads * width * pairs(tokens, causal),
    bytes: floats(4 * heads * tokens * width),
    ...more,
  };
}

function layer(name, { tokens, model, heads }) {
  return {
    ...{ name, op: 'layer', tokens, model, heads, causal: true, tolerance },
    flops: 8 * tokens * model * model + 4 * model * pairs(tokens, true),
    bytes: floats(2 * tokens * model, 4 * model * model),
  };
}

/** An operator that does next to nothing to each element: its roof is the time a copy takes. */
function elementwise(name, op, rows, width, more = {}) {
  const bytes = floats(2 * rows * width);
  return { name, op, rows, width, flops: 0, bytes, tolerance, ...more };
}

/** Bytes of a weight, by the format of the matrix. */
const weightBytes = { f32: 4, f16: 2, bf16: 2, int8: 34 / 32, int4: 20 / 32 };

/** A linear map of a model of width 768, for one token and for a prompt. */
function product(format, m, n) {
  const k = 768;
  return {
    ...{ name: `product ${format} ${m}x${k}x${n}`, op: 'product', format, m, k, n },
    flops: 2 * m * k * n,
    bytes: floats(m * k, m * n) + k * n * weightBytes[format],
    tolerance,
    oursOnly: true,
  };
}

const products = Object.keys(weightBytes).flatMap((format) =>
  [2048, 32000].flatMap((n) => [1, 512].map((m) => product(format, m, n))),
);

const one = { heads: 1, width: 64, causal: true };
const long = { each: false, oursOnly: true };

export const cases = [
  attention('sdpa causal H12 T1024 d64', { heads: 12, tokens: 1024, width: 64, causal: true }),
  attention('sdpa causal H8 T2048 d64', { heads: 8, tokens: 2048, width: 64, causal: true }),
  attention('sdpa full H12 T1024 d64', { heads: 12, tokens: 1024, width: 64, causal: false }),
  {
    ...{ name: 'gemm 512x768x2304', op: 'gemm', m: 512, k: 768, n: 2304, tolerance },
    flops: 2 * 512 * 768 * 2304,
    bytes: floats(512 * 768, 768 * 2304, 512 * 2304),
  },
  ...products,
  {
    name: 'read 26 MB',
    op: 'read',
    flops: 0,
    bytes: 768 * 32000 * weightBytes.int8,
    oursOnly: true,
  },
  layer('layer T512 D768 H12', { tokens: 512, model: 768, heads: 12 }),
  layer('layer T128 D64 H4', { tokens: 128, model: 64, heads: 4 }),
  {
    ...{
      name: 'decode past1024 H12 d64',
      op: 'decode',
      heads: 12,
      past: 1024,
      width: 64,
      tolerance,
    },
    flops: 4 * 12 * 64 * 1025,
    bytes: floats(2 * 12 * 64 * 1025, 4 * 12 * 64),
  },
  layer('layer T16 D64 H4', { tokens: 16, model: 64, heads: 4 }),
  attention('sdpa smallest H1 T16 d64', { ...one, tokens: 16 }),
  attention(
    'sdpa full H4 T8192 d16',
    { heads: 4, tokens: 8192, width: 16, causal: false },
    { heavy: true, rounds: 5 },
  ),
  elementwise('softmax 1024x1024', 'softmax', 1024, 1024),
  elementwise('softmax 6144x512', 'softmax', 12 * 512, 512),
  elementwise('gelu 512x3072', 'gelu', 512, 3072),
  elementwise('layernorm 4096x768', 'layernorm', 4096, 768, { copy: true }),
  elementwise('rmsnorm 4096x768', 'rmsnorm', 4096, 768, { copy: true }),
  {
    ...elementwise('rotary H12 T1024 d64', 'rotary', 12 * 1024, 64, { copy: true }),
    ...{ heads: 12, tokens: 1024 },
  },
  {
    ...elementwise('sinusoidal 4096x1024', 'sinusoidal', 4096, 1024),
    bytes: floats(4096 * 1024),
  },
  attention(
    'extras H12 T1024 d64',
    { heads: 12, tokens: 1024, width: 64, causal: true },
    { op: 'extras', each: true, oursOnly: true },
  ),
  attention(
    'weights row T16384',
    { ...one, tokens: 16384 },
    { op: 'row', each: true, oursOnly: true, heavy: true, rounds: 5 },
  ),
  // One key whose score lies so many nats above those of the others: their weights are next to nothing.
  attention(
    'far key H12 T512 d64',
    { heads: 12, tokens: 512, width: 64, causal: false },
    { op: 'far', each: true, oursOnly: true },
  ),
  // A boolean mask that leaves one block of keys in eight to each query.
  attention(
    'mask H12 T1024 d64',
    { heads: 12, tokens: 1024, width: 64, causal: false },
    { op: 'mask', each: true, oursOnly: true },
  ),
  {
    ...{ name: 'decode past8191 H32/8 d64', op: 'decode', heads: 32, kvHeads: 8 },
    ...{ past: 8191, width: 64, tolerance, oursOnly: true },
    flops: 4 * 32 * 64 * 8192,
    bytes: floats(2 * 8 * 64 * 8192, 2 * 32 * 64 + 2 * 8 * 64),
  },
  // The gradients beside the pass they belong to.
  attention(
    'sdpa backward, causal H12 T1024 d64',
    { heads: 12, tokens: 1024, width: 64, causal: true },
    { op: 'backward', each: true, oursOnly: true },
  ),
  attention(
    'sdpa backward, one head T16384 d64',
    { ...one, tokens: 16384 },
    { op: 'backward', each: true, oursOnly: true, heavy: true, rounds: 3 },
  ),
  trainStep('train step L2 d64 H4 T32 B32 V64', 0),
  trainStep('train step L2 d64 H4 ff256 T32 B32 V64', 256),
  attention('sdpa one head T4096', { ...one, tokens: 4096 }, { ...long }),
  attention('sdpa one head T65536', { ...one, tokens: 65536 }, { ...long, heavy: true, rounds: 3 }),
];

/** One case of seconds for the test suite, with every part of the machinery in it. */
export const smoke = [
  attention('sdpa smoke H2 T32 d16', { ...one, heads: 2, tokens: 32, width: 16 }),
];

/** The case of that name, also the one of the smoke test. */
export function caseNamed(name) {
  const found = [...cases, ...smoke].find((entry) => entry.name === name);
  if (!found) throw new Error(`no case is named ${name}`);
  return found;
}

const matrix = (seed, inputs, outputs) => ({
  data: random(seed, inputs * outputs).map((x) => x / Math.sqrt(inputs)),
  shape: [inputs, outputs],
});

/** The arrays a case starts from, { name: { data, shape } }; attention as [1, H, T, d]. */
export function inputsOf(entry) {
  const array = (seed, ...shape) => ({
    data: random(
      seed,
      shape.reduce((n, extent) => n * extent),
    ),
    shape,
  });
  switch (entry.op) {
    case 'attention':
    case 'extras':
    case 'far':
    case 'backward':
    case 'mask':
    case 'row': {
      const { heads, tokens, width } = entry;
      const [q, k, v] = [1, 2, 3].map((seed) => array(seed, 1, heads, tokens, width));
      return { q, k, v };
    }
    case 'decode': {
      const { heads, kvHeads = heads, past, width } = entry;
      const q = array(1, 1, heads, 1, width);
      const [k, v] = [2, 3].map((seed) => array(seed, 1, kvHeads, 1, width));
      const [pastK, pastV] = [4, 5].map((seed) => array(seed, 1, kvHeads, past, width));
      return { q, k, v, pastK, pastV };
    }
    case 'gemm':
      return { a: array(1, entry.m, entry.k), b: array(2, entry.k, entry.n) };
    case 'product':
      return { x: array(1, entry.m, entry.k), w: matrix(2, entry.k, entry.n) };
    case 'layer': {
      const { tokens, model } = entry;
      const [wq, wk, wv, wo] = [2, 3, 4, 5].map((seed) => matrix(seed, model, model));
      return { x: array(1, 1, tokens, model), wq, wk, wv, wo };
    }
    case 'rotary':
      return { x: array(1, 1, entry.heads, entry.tokens, entry.width) };
    case 'read':
    case 'sinusoidal':
      return {};
    case 'train':
      return trainInputs(entry);
    case 'layernorm':
    case 'rmsnorm': {
      const gamma = { data: random(2, entry.width), shape: [entry.width] };
      const beta = { data: random(3, entry.width), shape: [entry.width] };
      return { x: array(1, entry.rows, entry.width), gamma, beta };
    }
    default:
      return { x: array(1, entry.rows, entry.width) };
  }
}

/** [1, H, T, d] -> [1, T, H, d], and back when `heads` and `tokens` are swapped. */
export function swapHeads({ data, shape: [, heads, tokens, width] }) {
  const swapped = new Float32Array(data.length);
  for (let h = 0; h < heads; h += 1) {
    for (let t = 0; t < tokens; t += 1) {
      const from = (h * tokens + t) * width;
      swapped.set(data.subarray(from, from + width), (t * heads + h) * width);
    }
  }
  return { data: swapped, shape: [1, tokens, heads, width] };
}
