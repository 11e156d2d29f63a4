// The operators with gradients, each as a problem: its inputs, its forward function in float64, and the call of the
// engine that computes its gradients.
import { booleanMask, filled, random, randomArray } from '../../support/js/arrays.js';
import * as forward from '../../support/js/oracle.js';
import * as oracle from '../../support/js/train-oracle.js';

/** Of the same elements in float64. */
const wide = ({ data, shape }) => ({ data: Float64Array.from(data), shape });

/** @typedef {object} Case one problem; arrays by the name of the input that each belongs to */

/** A problem whose oracle works on plain lists of numbers. */
const plain = ({ value, ...of }) => ({
  ...of,
  value: (given) => value(Object.fromEntries(Object.entries(given).map(([k, a]) => [k, a.data]))),
});

// ------------------------------------------------------------------------------------ attention

const sizes = { batch: 2, heads: 4, kvHeads: 2, tq: 5, tk: 6, dK: 5, dV: 3 };
const scores = [sizes.batch, sizes.heads, sizes.tq, sizes.tk];

/** Options of attention by what they are about; biases and sinks among them get gradients. */
const attentionOptions = {
  nothing: {},
  'scale and temperature': { scale: 0.7, temperature: 0.6 },
  softcap: { softcap: 0.4, scale: 0.9 },
  causal: { causal: true, causalOffset: 1 },
  'a row without keys': { causal: true, causalOffset: -2 },
  'offsets by batch row and a window': { window: [2, 1], causalOffset: Int32Array.of(0, 2) },
  'key lengths': { keyLengths: Int32Array.of(3, 6) },
  'a boolean mask': { mask: booleanMask([sizes.tq, sizes.tk], (i) => i % 4) },
  'an additive mask': { mask: filled([sizes.tk], (i) => [0.3, -Infinity, 0, 1, -2, 0.1][i]) },
  'a bias': { bias: randomArray(scores, 50) },
  'a bias by head': { bias: randomArray([sizes.heads, 1, sizes.tk], 51), softcap: 2 },
  'a bias by key alone': { bias: randomArray([sizes.tk], 52), temperature: 1.5 },
  alibi: { bias: { kind: 'alibi', slopes: Float32Array.of(1, 0.5, 0.25, 0.1) }, causalOffset: 1 },
  sinks: { sinks: Float32Array.of(0.5, -1, 2, 0) },
  dropout: { dropout: { rate: 0.4, seed: 7 } },
  'many together': {
    ...{ causal: true, causalOffset: 1, softcap: 1.2, scale: 0.8, temperature: 1.3 },
    ...{ bias: randomArray([sizes.tq, sizes.tk], 53), sinks: Float32Array.of(1, 0, -1, 0.2) },
    ...{ keyLengths: [5, 6], dropout: { rate: 0.3, seed: 9 } },
  },
}; // prettier-ignore

const isArray = (bias) => bias?.data !== undefined;

/** The problem of these options; the engine tells which weights dropout leaves. */
function attentionCase(engine, name, options) {
  const arrays = {
    q: randomArray([sizes.batch, sizes.heads, sizes.tq, sizes.dK], 60),
    k: randomArray([sizes.batch, sizes.kvHeads, sizes.tk, sizes.dK], 61),
    v: randomArray([sizes.batch, sizes.kvHeads, sizes.tk, sizes.dV], 62),
  };
  const all = { numHeads: sizes.heads, numKvHeads: sizes.kvHeads, ...options };
  const saved = engine.attention(arrays.q, arrays.k, arrays.v, {
    ...{ ...all, returnLse: true, returnWeights: true },
  });
  const kept = options.dropout && oracle.keptBy(saved.weights, options.dropout);
  const inputs = {
    ...arrays,
    ...(isArray(options.bias) && { bias: options.bias }),
    ...(options.sinks && { sinks: { data: options.sinks, shape: [sizes.heads] } }),
  };
  const withInputs = ({ bias, sinks }) => ({
    ...all,
    ...(bias && { bias }),
    ...(sinks && { sinks: sinks.data }),
  });
  return {
    name: `attention: ${name}`,
    inputs,
    outShape: saved.output.shape,
    value: (given) => {
      const at = withInputs(given);
      const [q, k, v] = [given.q, given.k, given.v].map((array) => forward.headsOf(array));
      const out = [];
      for (let b = 0; b < q.batch; ++b)
        for (let h = 0; h < q.heads; ++h)
          for (let i = 0; i < q.tokens; ++i)
            out.push(...forward.attentionRow({ q, k, v, options: at, kept }, b, h, i).out);
      return Float64Array.from(out);
    },
    call: (e, dOutput) => {
      const needs = { bias: isArray(options.bias), sinks: options.sinks !== undefined };
      const { q, k, v } = arrays;
      const to = e.attentionBackward(dOutput, q, k, v, saved, { ...all, needs });
      const others = {
        bias: to.dBias,
        sinks: to.dSinks && { data: to.dSinks, shape: [sizes.heads] },
      };
      return { q: to.dq, k: to.dk, v: to.dv, ...others };
    },
  };
}

// ---------------------------------------------------------------------------------------- others

const vector = (data) => ({ data, shape: [data.length] });

function linearCase(layout, [inner, outer], rows) {
  const x = randomArray([...rows, inner], 1);
  const w = randomArray([inner, outer], 2);
  const stored = layout === 'in_out' ? w : forward.transposed(w);
  return plain({
    name: `linear: ${layout} [${[...rows, inner]}]`,
    inputs: { x, w, b: randomArray([outer], 3) },
    outShape: [...rows, outer],
    value: (given) => oracle.linear(given, [inner, outer]),
    call: (e, dOutput) => {
      const { dx, dw, dBias } = e.linearBackward(dOutput, x, stored, { layout, bias: true });
      return { x: dx, w: layout === 'in_out' ? dw : forward.transposed(dw), b: vector(dBias) };
    },
  });
}

function softmaxCase(shape, options) {
  const { axis = -1, temperature } = options;
  const of = { shape, axis: axis < 0 ? axis + shape.length : axis, temperature };
  const x = randomArray(shape, 4);
  return plain({
    name: `softmax: [${shape}] axis ${axis}`,
    inputs: { x },
    outShape: shape,
    value: (given) => oracle.softmax(given.x, of),
    call: (e, dOutput) => {
      const y = { data: Float32Array.from(oracle.softmax(Float64Array.from(x.data), of)), shape };
      return { x: e.softmaxBackward(dOutput, y, options) };
    },
  });
}

function normCase(method, shape, { axis, affine = true, epsilon = 1e-5 }) {
  const centre = method === 'layerNorm';
  const n = shape.slice(axis).reduce((product, extent) => product * extent, 1);
  const x = filled(
    shape,
    (
      (next) => () =>
        2 * next() + 0.5
    )(random(5)),
  );
  const gamma = affine ? randomArray([n], 6) : filled([n], () => 1);
  const own = affine ? { gamma: gamma.data } : {};
  return plain({
    name: `${method}: [${shape}] axis ${axis}${affine ? '' : ', without gamma'}`,
    inputs: { x, gamma, ...(centre && { beta: randomArray([n], 7) }) },
    outShape: shape,
    value: (given) => oracle.norm(given, { centre, epsilon }),
    call: (e, dOutput) => {
      const to = e[`${method}Backward`](dOutput, x, { ...own, axis, epsilon });
      const beta = centre && { beta: vector(to.dBeta) };
      return { x: to.dx, gamma: vector(to.dGamma), ...beta };
    },
  });
}

/** Of both signs, and none near 0, where relu has no derivative. */
const apart = (shape, seed) =>
  filled(
    shape,
    (
      (next) => () =>
        ((x) => 2.5 * x + Math.sign(x) * 0.01)(next())
    )(random(seed)),
  );

function activationCase(kind, shape) {
  const x = apart(shape, 8);
  return plain({
    name: `activation: ${kind}`,
    inputs: { x },
    outShape: shape,
    value: (given) => given.x.map(oracle.activations[kind]),
    call: (e, dOutput) => ({ x: e.activationBackward(dOutput, x, kind) }),
  });
}

function gateCase(kind, activation, shape) {
  const [x, y] = [apart(shape, 9), randomArray(shape, 10)];
  return plain({
    name: `gate: ${kind}`,
    inputs: { x, y },
    outShape: shape,
    value: (given) => given.x.map((value, i) => oracle.activations[activation](value) * given.y[i]),
    call: (e, dOutput) => {
      const { dx, dy } = e.gateBackward(dOutput, x, y, kind);
      return { x: dx, y: dy };
    },
  });
}

function rotaryCase(shape, options) {
  const of = { tokens: shape.at(-2), width: shape.at(-1), ...options };
  return plain({
    name: `rotaryEmbedding: [${shape}]`,
    inputs: { x: randomArray(shape, 11) },
    outShape: shape,
    value: (given) => oracle.rotate(given.x, of),
    call: (e, dOutput) => ({ x: e.rotaryEmbeddingBackward(dOutput, options) }),
  });
}

function embeddingCase(ids, [vocabulary, width]) {
  return plain({
    name: 'embedding',
    inputs: { table: randomArray([vocabulary, width], 12) },
    outShape: [ids.length, width],
    value: (given) => oracle.embedding(given.table, ids, width),
    call: (e, dOutput) => ({ table: e.embeddingBackward(dOutput, ids, vocabulary) }),
  });
}

/** The loss is one number: the gradient is dOutput[0] times the one that the call returns. */
function crossEntropyCase(targets, classes, options) {
  const logits = filled(
    [targets.length, classes],
    (
      (next) => () =>
        3 * next()
    )(random(13)),
  );
  return plain({
    name: `crossEntropy: ${JSON.stringify(options)}`,
    inputs: { logits },
    outShape: [1],
    value: (given) => [oracle.crossEntropy(given.logits, targets, options).loss],
    call: (e, { data: [d] }) => {
      const { dLogits } = e.crossEntropy(logits, targets, options);
      return {
        logits: { data: Float64Array.from(dLogits.data, (x) => d * x), shape: dLogits.shape },
      };
    },
  });
}

function gruCase(of, { saved }) {
  const [batch, tokens, width, hidden] = of;
  const inputs = {
    ...{ x: randomArray([batch, tokens, width], 14), h0: randomArray([batch, hidden], 15) },
    ...{ wx: randomArray([width, 3 * hidden], 16), wh: randomArray([hidden, 3 * hidden], 17) },
    ...{ bx: randomArray([3 * hidden], 18), bh: randomArray([3 * hidden], 19) },
  };
  const { x, h0, wx, wh } = inputs;
  const weights = { wx, wh, bx: inputs.bx.data, bh: inputs.bh.data };
  return plain({
    name: `gru: [${of}]${saved ? ', output saved' : ''}`,
    inputs,
    outShape: [batch, tokens, hidden],
    value: (given) => oracle.gru(given, of),
    call: (e, dOutput) => {
      const output = saved && e.gru(x, weights, { h0 });
      const to = e.gruBackward(dOutput, x, weights, { h0, ...(output && { output }) });
      const { wx: dwx, wh: dwh, bx, bh } = to.dWeights;
      return { x: to.dx, h0: to.dh0, wx: dwx, wh: dwh, bx: vector(bx), bh: vector(bh) };
    },
  });
}

/** @returns {Case[]} */
export const casesOf = (engine) => [
  ...Object.entries(attentionOptions).map(([name, options]) => attentionCase(engine, name, options)),
  linearCase('in_out', [7, 5], [2, 3]),
  linearCase('out_in', [5, 18], [9]),
  softmaxCase([3, 7], {}),
  softmaxCase([2, 5, 3], { axis: 1, temperature: 0.7 }),
  normCase('layerNorm', [4, 9], { axis: -1 }),
  normCase('layerNorm', [70, 2, 3], { axis: 1, epsilon: 0.1 }),
  normCase('layerNorm', [3, 8], { axis: -1, affine: false }),
  normCase('rmsNorm', [2, 3, 8], { axis: -1 }),
  normCase('rmsNorm', [5, 17], { axis: 1, affine: false }),
  ...['relu', 'gelu', 'gelu_tanh', 'silu'].map((kind) => activationCase(kind, [3, 11])),
  gateCase('swiglu', 'silu', [2, 9]),
  gateCase('geglu', 'gelu', [17]),
  gateCase('geglu_tanh', 'gelu_tanh', [13]),
  rotaryCase([2, 2, 5, 8], { offset: 3 }),
  rotaryCase([1, 3, 4, 10], { rotaryDim: 6, base: 500 }),
  embeddingCase([3, 0, 3, 3, 1], [5, 4]),
  crossEntropyCase([2, 0, 4, 4], 5, {}),
  crossEntropyCase([2, 9, 4, 0, 9], 7, { ignoreIndex: 9, labelSmoothing: 0.1 }),
  gruCase([2, 4, 3, 5], { saved: false }),
  gruCase([1, 6, 4, 3], { saved: true }),
]; // prettier-ignore

/** The inputs of a case in float64. */
export const wideInputs = ({ inputs }) =>
  Object.fromEntries(Object.entries(inputs).map(([name, array]) => [name, wide(array)]));
