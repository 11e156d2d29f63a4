// @build each
// The package against PyTorch, whose results in float64 are in fixtures/ (make_fixtures.py). Results are
// held to the documented bounds, and the suite's own oracle to the same bounds in float64.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { expectClose, expectSame } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import * as oracle from '../../support/js/oracle.js';
import * as torch from './support/state.js';

const engine = await initAsTold(init);
const { toArray, toMask } = torch;

/** Between two computations in float64 that each obey the bound of a float32 one. */
const bothFloat64 = 2 * 2 ** -29;
const scaled = (bound, factor) => Array.from(bound, (b) => b * factor);

/** `result` is within the oracle's bounds of PyTorch's numbers, and so, in float64, is the oracle. */
function expectTorch(result, exact, expected, quantity) {
  assert.deepEqual([...result.shape], expected.shape);
  expectClose(result.data, expected.data, exact.bound, { quantity: `torch ${quantity}` });
  expectClose(exact.data, expected.data, scaled(exact.bound, bothFloat64), {
    what: `exact ${quantity}`,
  });
}

/** A test for each case of a fixture. */
function testCases(name, check) {
  const { cases, ...file } = torch.fixture(name);
  assert.ok(cases.length > 0);
  for (const c of cases) test(`torch ${name}: ${c.name}`, () => check(c, file));
}

testCases('attention', ({ causal, mask, output, weights, ...inputs }) => {
  const [q, k, v] = [inputs.q, inputs.k, inputs.v].map(toArray);
  const options = { causal };
  if (mask) options.mask = mask.dtype === 'bool' ? toMask(mask) : toArray(mask);
  const result = engine.attention(q, k, v, { ...options, returnWeights: true });
  const exact = oracle.attention(q, k, v, options);
  expectTorch(result.output, exact.output, output, 'attention.output');
  if (weights) expectTorch(result.weights, exact.weights, weights, 'attention.weights');
});

/** Masks of nn.MultiheadAttention as the mask of a layer. */
function maskOf({ attn_mask: mask, key_padding_mask: padding, x }) {
  const [batch] = x.shape;
  if (padding) return toMask(padding, { flip: true, as: [batch, 1, 1, padding.shape[1]] });
  if (!mask) return undefined;
  if (mask.dtype === 'bool') return toMask(mask, { flip: true });
  const [all, tq, tk] = mask.shape; // [B * H, Tq, Tk]
  return { data: toArray(mask).data, shape: [batch, all / batch, tq, tk] };
}

const dModel = 12;
const numHeads = 3;

testCases('multi_head_attention', (c) => {
  const state = torch.toState(c.state);
  const x = toArray(c.x);
  const context = c.context && toArray(c.context);
  const config = { dModel, numHeads, dContext: (context ?? x).shape[2], weightLayout: 'out_in' };
  const forward = (weights, options) => {
    const layer = engine.multiHeadAttention(config, weights);
    const result = layer.forward(x, { context, returnWeights: true, ...options });
    layer.dispose();
    return result;
  };
  const weights = torch.attentionWeights(state);
  const inOut = Object.fromEntries(
    Object.entries(weights).map(([name, w]) => [name, w.shape ? oracle.transposed(w) : w]),
  );
  const mask = maskOf(c);
  const exact = oracle.layer({ config, weights: inOut, x, context, options: { mask } });
  const expectLayer = (result) => {
    expectTorch(result.output, exact.output, c.output, 'multiHeadAttention.output');
    expectTorch(result.weights, exact.weights, c.weights, 'multiHeadAttention.weights');
  };
  const result = forward(weights, { mask });
  expectLayer(result);
  if (state.in_proj_weight && !context) {
    expectSame(forward(torch.fusedWeights(state), { mask }).output.data, result.output.data);
  }
  if (c.key_padding_mask) {
    // Padding stands at the end, so lengths say the same.
    const { data, shape } = c.key_padding_mask;
    const used = (b) => data.slice(b * shape[1], (b + 1) * shape[1]).filter((x) => x === 0).length;
    const keyLengths = Int32Array.from({ length: shape[0] }, (_, b) => used(b));
    expectLayer(forward(weights, { keyLengths }));
  }
});

/** The bound of core/include/qkv/norm.hpp, and u/2 for an epsilon that was rounded to float32. */
function normBound({ x, axis, epsilon, state }) {
  const n = x.shape.slice(axis).reduce((product, extent) => product * extent);
  const [gamma, beta] = [state.weight.data, state.bias.data];
  const bounds = { data: [], bound: [] };
  for (let row = 0; row < x.data.length; row += n) {
    const values = Array.from(x.data.subarray(row, row + n));
    const mean = values.reduce((sum, value) => sum + value, 0) / n;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n;
    const s = Math.sqrt(variance + epsilon);
    const q = (oracle.u * Math.abs(mean)) / s;
    values.forEach((value, i) => {
      const z = (value - mean) / s;
      const y = z * gamma[i] + beta[i];
      const rounding = Math.abs(gamma[i]) * (22 + 18.5 * Math.abs(z)) * (1 + 2 * q) ** 2;
      bounds.data.push(y);
      bounds.bound.push(oracle.u * (rounding + Math.abs(y)));
    });
  }
  return bounds;
}

testCases('layer_norm', ({ x: torchX, axis, epsilon, state: torchState, output }) => {
  const [x, state] = [toArray(torchX), torch.toState(torchState)];
  const norm = { gamma: state.weight.data, beta: state.bias.data };
  const result = engine.layerNorm(x, { ...norm, axis, epsilon });
  expectTorch(result, normBound({ x, axis, epsilon, state }), output, 'layerNorm');
});

testCases('gelu', ({ x: torchX, approximate, output }) => {
  const x = toArray(torchX);
  const result = engine.gelu(x, { approximate });
  // core/include/qkv/activation.hpp; PyTorch's own 1 + erf and 1 + tanh err by an ulp of x below 0.
  const bounds = Array.from(x.data, (at, i) => {
    const below = Math.min(at, 0);
    const g = Math.sqrt(2 / Math.PI) * (below + 0.044715 * below ** 3);
    const factor = approximate === 'tanh' ? 8 + 8 * Math.abs(g) : 22 + below ** 2 / 2;
    return oracle.u * Math.abs(output.data[i]) * factor + 2 ** -52 * Math.abs(at);
  });
  expectClose(result.data, output.data, bounds, { quantity: 'torch gelu' });
});

testCases('embedding', ({ ids, state, output }) => {
  const rows = engine.embedding(toArray(state.weight), Int32Array.from(ids));
  assert.deepEqual(rows.shape, output.shape);
  expectSame(rows.data, toArray(output).data);
});

/** Of one block, relative to max(1, |y|); measured (core/include/qkv/transformer.hpp). */
const blockBound = 4e-6;

function expectBlocks(result, expected, count) {
  assert.deepEqual([...result.shape], expected.shape);
  const bounds = expected.data.map((y) => count * blockBound * Math.max(1, Math.abs(y)));
  expectClose(result.data, expected.data, bounds, {
    quantity: `torch transformerBlock x ${count}`,
  });
}

/** Creates a block of PyTorch's parameters, runs it and disposes. */
function runBlock(c, state, { prefix = '', activation = c.activation, ...options }, x) {
  const crossAttention = Boolean(options.context);
  const config = { dModel, numHeads, dFeedForward: 20, weightLayout: 'out_in', crossAttention };
  const block = engine.transformerBlock(
    { ...config, activation, norm: c.norm_first ? 'pre' : 'post' },
    torch.blockWeights(state, prefix, crossAttention),
  );
  const { output } = block.forward(x, options);
  block.dispose();
  return output;
}

testCases('encoder_layer', (c, file) => {
  const y = runBlock(c, torch.toState(file.state), { causal: c.causal }, toArray(file.x));
  expectBlocks(y, c.output, 1);
});

testCases('decoder_layer', (c, file) => {
  const context = toArray(file.memory);
  const contextKeyLengths = Int32Array.from(file.memory_lengths);
  const options = { causal: true, context, contextKeyLengths };
  const y = runBlock(c, torch.toState(file.state), options, toArray(file.x));
  expectBlocks(y, c.output, 1);
});

testCases('transformer', (c, file) => {
  const state = torch.toState(file.state);
  const lengths = Int32Array.from(file.source_lengths);
  const stack = (name, options, x) => {
    const run = (h, i) =>
      runBlock(c, state, { ...options, activation: 'gelu', prefix: `${name}.layers.${i}.` }, h);
    return engine.layerNorm([0, 1].reduce(run, x), torch.normWeights(state, `${name}.norm.`));
  };
  const memory = stack('encoder', { keyLengths: lengths }, toArray(file.source));
  const options = { causal: true, context: memory, contextKeyLengths: lengths };
  const y = stack('decoder', options, toArray(file.target));
  // The bound of a block for each block on the way, measured like it.
  expectBlocks(memory, c.memory, 2);
  expectBlocks(y, c.output, 4);
});
