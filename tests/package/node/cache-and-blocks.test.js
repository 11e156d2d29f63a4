// @build each
// The cache, rotary layers and transformer blocks: what they give is what their parts give.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
import * as oracle from '../../support/js/train-oracle.js';

const engine = await init();
const d = 12;
const vector = (n, seed) => randomArray([n], seed).data;
const attentionWeights = (seed) => ({
  wq: randomArray([d, d], seed),
  wk: randomArray([d, d], seed + 1),
  wv: randomArray([d, d], seed + 2),
  wo: randomArray([d, d], seed + 3),
  bo: vector(d, seed + 4),
});
const token = ({ data }, t, width = d) => ({
  data: data.slice(t * width, (t + 1) * width),
  shape: [1, width],
});

/** To the nearest bfloat16, ties to even. */
function toBf16(value) {
  const bits = new Uint32Array(Float32Array.of(value).buffer)[0];
  const kept = (bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(Uint32Array.of(kept).buffer)[0];
}

describe('kvCache: a cache', () => {
  const [q, k, v] = [1, 2, 3].map((seed) => randomArray([6, 8], seed));
  const options = { numHeads: 2, causal: true };

  test('one token at a time gives the rows of one causal pass', () => {
    const full = engine.attention(q, k, v, options);
    const cache = engine.kvCache({ numKvHeads: 2, capacity: 6, dK: 4 });
    for (let t = 0; t < 6; ++t) {
      const [a, b, c] = [q, k, v].map((x) => token(x, t, 8));
      const { output } = engine.attention(a, b, c, { ...options, cache });
      expectSame(output.data, full.output.data.slice(t * 8, t * 8 + 8));
    }
    assert.equal(cache.length, 6);
    assert.deepEqual(cache.values().shape, [1, 2, 6, 4]);
    assert.deepEqual([...cache.keys().data.subarray(0, 4)], [...k.data.subarray(0, 4)]);
    cache.truncate(4);
    assert.deepEqual([cache.length, cache.keys().shape], [4, [1, 2, 4, 4]]);
    cache.dispose();
  });

  test('of bfloat16 has the bits of one that holds the rounded numbers, in half the memory', () => {
    const rounded = ({ data, shape }) => ({ data: data.map(toBf16), shape });
    const bytesOf = (format) => {
      const before = engine.memory().usedBytes;
      const cache = engine.kvCache({ numKvHeads: 2, capacity: 256, dK: 4, format });
      return [cache, engine.memory().usedBytes - before];
    };
    const [[plain, bytes], [half, fewer]] = ['f32', 'bf16'].map(bytesOf);
    assert.ok(fewer < 0.6 * bytes, `${fewer} and ${bytes} bytes`);
    half.append(k, v);
    plain.append(rounded(k), rounded(v));
    expectSame(half.keys().data, plain.keys().data);
    assert.notDeepEqual(half.keys().data, k.data);
    const [a, b] = [half, plain].map((cache) => engine.attention(q, q, q, { ...options, cache }));
    assert.notDeepEqual(b.output.data, a.output.data, 'new keys are rounded, too');
    half.truncate(6);
    plain.truncate(6);
    const [c, d] = [
      [half, q],
      [plain, rounded(q)],
    ].map(([cache, own]) => engine.attention(q, own, own, { ...options, cache }));
    expectSame(c.output.data, d.output.data);
    [plain, half].forEach((cache) => cache.dispose());
  });

  test('of 8 bits has the bits of one that holds the rounded numbers, in 0.27 of the memory', () => {
    const bytesOf = (format) => {
      const before = engine.memory().usedBytes;
      const cache = engine.kvCache({ numKvHeads: 2, capacity: 256, dK: 64, format });
      return [cache, engine.memory().usedBytes - before];
    };
    const [[plain, bytes], [small, fewer]] = ['f32', 'int8'].map(bytesOf);
    assert.ok(fewer < 0.3 * bytes, `${fewer} and ${bytes} bytes`);
    const tokens = (seed) => randomArray([1, 2, 5, 64], seed);
    const [keys, values, queries] = [tokens(1), tokens(2), tokens(3)];
    small.append(keys, values);
    const kept = small.keys();
    // To the nearest of 127 steps of a scale that 32 numbers share.
    for (let first = 0; first < kept.data.length; first += 32) {
      const group = keys.data.slice(first, first + 32);
      const most = Math.max(...group.map(Math.abs));
      const scale = toBf16(Math.fround(Math.fround(most) / 127));
      group.forEach((x, i) => {
        const number = kept.data[first + i] / scale;
        assert.equal(number, Math.round(number));
        assert.ok(Math.abs(number - x / scale) <= 0.5001, `${x} became ${kept.data[first + i]}`);
      });
    }
    plain.append(kept, small.values());
    const none = { data: new Float32Array(0), shape: [1, 2, 0, 64] };
    const [a, b] = [small, plain].map((cache) => engine.attention(queries, none, none, { cache }));
    expectSame(a.output.data, b.output.data);
    [plain, small].forEach((cache) => cache.dispose());
  });

  test('a rotary layer decodes through it as it reads the whole', () => {
    const layer = engine.multiHeadAttention(
      { dModel: d, numHeads: 3, rotary: { base: 100 } },
      attentionWeights(20),
    );
    const x = randomArray([5, d], 8);
    const full = layer.forward(x, { causal: true });
    const cache = engine.kvCache({ numKvHeads: 3, capacity: 5, dK: 4 });
    for (let t = 0; t < 5; ++t) {
      const { output } = layer.forward(token(x, t), { causal: true, cache });
      expectSame(output.data, full.output.data.slice(t * d, (t + 1) * d));
    }
    const plain = engine.multiHeadAttention({ dModel: d, numHeads: 3 }, attentionWeights(20));
    assert.notDeepEqual(plain.forward(x, { causal: true }).output.data, full.output.data);
    [layer, plain, cache].forEach((handle) => handle.dispose());
  });
});

describe('transformerBlock: blocks', () => {
  const dFeedForward = 20;
  const norm = (seed) => ({ gamma: vector(d, seed), beta: vector(d, seed + 1) });
  const weights = {
    attention: attentionWeights(30),
    norm1: norm(40),
    norm2: norm(42),
    w1: randomArray([d, dFeedForward], 50),
    b1: vector(dFeedForward, 51),
    w2: randomArray([dFeedForward, d], 52),
    b2: vector(d, 53),
  };
  const config = { dModel: d, numHeads: 3, dFeedForward };
  const x = randomArray([7, d], 60);
  const add = (a, b) => ({ data: a.data.map((e, i) => e + b.data[i]), shape: a.shape });

  /** x W + b in float64. */
  const linear = ({ data, shape: [rows] }, w, b) => ({
    data: Float32Array.from(oracle.linear({ x: data, w: w.data, b }, w.shape)),
    shape: [rows, w.shape[1]],
  });
  const feedForward = (h) =>
    linear(engine.gelu(linear(h, weights.w1, weights.b1)), weights.w2, weights.b2);
  const attend = (h, more) => {
    const layer = engine.multiHeadAttention({ dModel: d, numHeads: 3 }, more.weights);
    const { output } = layer.forward(h, more.options);
    layer.dispose();
    return output;
  };
  const self = { weights: weights.attention, options: { causal: true } };

  test('pre-norm: x + sub(norm(x))', () => {
    const block = engine.transformerBlock(config, weights);
    const h = add(x, attend(engine.layerNorm(x, weights.norm1), self));
    const expected = add(h, feedForward(engine.layerNorm(h, weights.norm2)));
    expectClose(block.forward(x, { causal: true }).output.data, expected.data, 4e-5, {
      quantity: 'transformerBlock',
    });
    block.dispose();
  });

  test('post-norm with cross-attention: norm(x + sub(x))', () => {
    const cross = { cross: attentionWeights(70), normCross: norm(75) };
    const block = engine.transformerBlock(
      { ...config, norm: 'post', crossAttention: true },
      { ...weights, ...cross },
    );
    const context = randomArray([4, d], 61);
    let h = engine.layerNorm(add(x, attend(x, self)), weights.norm1);
    const read = attend(h, { weights: cross.cross, options: { context } });
    h = engine.layerNorm(add(h, read), cross.normCross);
    const expected = engine.layerNorm(add(h, feedForward(h)), weights.norm2);
    const { output, weights: shown } = block.forward(x, {
      ...{ causal: true, context, returnWeights: true },
    });
    expectClose(output.data, expected.data, 4e-5, { quantity: 'transformerBlock' });
    assert.deepEqual(shown.shape, [1, 3, 7, 7]);
    expectThrows(() => block.forward(x), 'forward', 'invalid_argument', 'context');
    block.dispose();
    expectThrows(() => block.forward(x), 'forward', 'disposed', 'is disposed');
  });
});
