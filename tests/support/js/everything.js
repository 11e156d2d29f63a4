// Every method of an engine and of all that it makes, for engines that answer at once and for those that
// promise to: both are awaited.
import { booleanMask, filled, problem, randomArray } from './arrays.js';
import { context, x as tokens } from './small-layer.js';
import * as small from './small-layer.js';

const x = randomArray([2, 3, 5, 8], 1);
const table = randomArray([6, 4], 2);
const { q, k, v } = problem({ tq: 5, tk: 6 });
const positive = filled([2, 3, 4, 5], (i) => ((i * 7) % 5) / 5);
const extras = {
  returnWeights: true,
  returnLse: true,
  returnEntropy: true,
  returnLogits: 'capped',
};

/** Calls of the engine's operators: name, arguments. Some stand here more than once. */
export const operatorCalls = [
  ['attention', q, k, v],
  ['attention', q, k, v, { ...extras, causal: true, causalOffset: 1, softcap: 3, rows: [1, 3] }],
  ['attention', q, k, v, { mask: booleanMask([5, 6], (i) => i % 3), bias: { kind: 'alibi' }, causalOffset: Int32Array.of(0, 1) }],
  ['attention', q, k, v, { keyLengths: Int32Array.of(2, 6), sinks: Float32Array.of(1, 0, -1, 2), window: [2, 1], causalOffset: 0 }],
  ['sinusoidalEncoding', 7, 6],
  ['sinusoidalEncoding', 7, 6, { offset: 9, layout: 'concatenated' }],
  ['sinusoidalShift', 3, 6, { form: 'dense' }],
  ['rotaryEmbedding', x, { positions: Int32Array.of(4, 3, 2, 1, 0), scaling: { type: 'linear', factor: 2 } }],
  ['learnedEncoding', table, 3, { offset: 5, outOfRange: 'clamp' }],
  ['alibiSlopes', 6],
  ['t5RelativeBias', randomArray([8, 2], 3), 4, 5, { bidirectional: false }],
  ['transformerXlBias', x, randomArray([9, 24], 4), randomArray([3, 8], 5)],
  ['layerNorm', x, { gamma: randomArray([40], 6).data, axis: 2 }],
  ['rmsNorm', x],
  ['gelu', x, { approximate: 'tanh' }],
  ['softmax', x, { axis: 1, temperature: 0.5 }],
  ['softmax', x],
  ['linear', x, randomArray([8, 6], 7), { bias: randomArray([6], 8).data }],
  ['linear', x, randomArray([6, 8], 9), { layout: 'out_in' }],
  ['embedding', table, Int32Array.of(5, 0, 5)],
  ['entropy', positive],
  ['headStatistics', positive],
  ['attentionRollout', filled([2, 3, 5, 5], (i) => ((i * 7) % 5) / 5)],
]; // prettier-ignore

/** The arrays in a result, by name. */
function arraysOf(prefix, result) {
  if (result instanceof Float32Array) return { [prefix]: { data: result, shape: [result.length] } };
  if (result?.data) return { [prefix]: result };
  const parts = Object.entries(result ?? {});
  return Object.fromEntries(parts.map(([name, array]) => [`${prefix}.${name}`, array]));
}

const blockConfig = { dModel: 8, numHeads: 2, dFeedForward: 12, activation: 'swiglu' };
const square = (seed) => randomArray([8, 8], seed);
const gamma = randomArray([8], 30).data;
const blockWeights = {
  attention: { wq: square(21), wk: square(22), wv: square(23), wo: square(24), bo: gamma },
  norm1: { gamma },
  norm2: { gamma, beta: gamma },
  ...{ w1: randomArray([8, 12], 25), w2: randomArray([12, 8], 26) },
  wGate: randomArray([8, 12], 27),
};

/** The operators that write to a tensor: a table, and a chain in which each reads what the last has written. */
async function writtenArrays(engine) {
  const table = await engine.tensor([5, 8]);
  const returned = [await engine.sinusoidalEncoding(5, 8, { offset: 2, out: table })];
  let [from, out] = [await engine.tensor(x.shape, x.data), await engine.tensor(x.shape)];
  for (const [method, options] of Object.entries({
    rotaryEmbedding: { offset: 3 },
    layerNorm: { axis: 2 },
    gelu: {},
    softmax: { axis: 1 },
    rmsNorm: {},
  })) {
    returned.push(await engine[method](from, { ...options, out }));
    [from, out] = [out, from];
  }
  const arrays = {
    'written table': await table.toNdArray(),
    'written chain': await from.toNdArray(),
  };
  for (const tensor of [table, from, out]) await tensor.dispose();
  if (returned.some((result) => result !== undefined)) throw new Error('written and returned');
  return arrays;
}

/** What handles compute; `counts` are lengths and shapes. */
async function useHandles(engine) {
  const results = {};
  const tensor = await engine.tensor(x.shape, x.data);
  const out = await engine.tensor(q.shape);
  Object.assign(results, arraysOf('of a tensor', await engine.rmsNorm(tensor)));
  const written = await engine.attention(q, k, v, { out, returnLse: true });
  Object.assign(results, arraysOf('beside out', written), arraysOf('out', await out.toNdArray()));
  Object.assign(results, await writtenArrays(engine));
  await tensor.set(Float32Array.from(x.data, (value) => 2 * value));
  results['set'] = await tensor.toNdArray();

  const cache = await engine.kvCache({ batch: 2, numKvHeads: 4, capacity: 20, dK: 8 });
  await cache.append(k, v);
  const read = await engine.attention(q, q, q, { cache, causal: true });
  await cache.truncate(9);
  Object.assign(results, arraysOf('through a cache', read));
  results['keys'] = await cache.keys();
  results['values'] = await cache.values();

  const layer = await engine.multiHeadAttention(small.config, small.weights);
  const forward = await layer.forward(tokens, { context, ...extras, returnLogits: 'raw' });
  Object.assign(results, arraysOf('layer', forward));
  const block = await engine.transformerBlock(blockConfig, blockWeights);
  Object.assign(results, arraysOf('block', await block.forward(tokens, { causal: true })));
  const map = await engine.linearLayer(randomArray([8, 6], 28), {
    bias: randomArray([6], 29).data,
  });
  Object.assign(results, arraysOf('linear layer', await map.forward(x)));
  const mapped = await engine.tensor([2, 3, 5, 6]);
  await map.forward(x, { out: mapped });
  results['linear layer to a tensor'] = await mapped.toNdArray();
  const { handles } = await engine.memory();
  const counts = [...tensor.shape, ...out.shape, cache.length, cache.capacity, handles];
  results['counts'] = { data: Float32Array.from(counts), shape: [counts.length] };
  for (const handle of [tensor, out, cache, layer, block, map, mapped]) await handle.dispose();
  return results;
}

/** All results by name, as NdArrays. */
export async function everything(engine) {
  const results = await useHandles(engine);
  for (const [i, [method, ...args]] of operatorCalls.entries()) {
    Object.assign(results, arraysOf(`${method} ${i}`, await engine[method](...args)));
  }
  return results;
}
