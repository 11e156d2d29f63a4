// @build each
// The operators around attention, each against its formula in float64.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { filled, random, randomArray, zeros } from '../../support/js/arrays.js';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
import * as oracle from '../../support/js/train-oracle.js';

const engine = await init();
const u = 2 ** -24;
const range = (n) => Array.from({ length: n }, (_, i) => i);

describe('rotaryEmbedding: rotary positions', () => {
  const x = randomArray([2, 3, 5, 8], 1);
  // 3.1 u of the length of a pair, which is at most sqrt(2) here.
  const bound = 3.1 * u * Math.SQRT2;

  const positions = [7, 0, 3, 3, 90];
  const cases = {
    'by halves': { offset: 1000 },
    interleaved: { offset: 1000, interleaved: true },
    'at positions, with a base, in part of the dimensions': { positions, base: 500, rotaryDim: 4 },
    'at positions divided by 4': { offset: 8, scaling: { type: 'linear', factor: 4 } },
  };
  for (const [how, options] of Object.entries(cases)) {
    test(`turns pairs ${how}`, () => {
      const { data, shape } = engine.rotaryEmbedding(x, options);
      assert.deepEqual(shape, x.shape);
      const exact = oracle.rotate(x.data, { tokens: 5, width: 8, ...options });
      expectClose(data, exact, bound, { quantity: 'rotaryEmbedding' });
    });
  }

  test('positions by batch row are those of each row', () => {
    const positions = Int32Array.from(range(10), (n) => n * 3);
    const both = engine.rotaryEmbedding(x, { positions });
    const second = engine.rotaryEmbedding(
      { data: x.data.slice(120), shape: [1, 3, 5, 8] },
      { positions: positions.slice(5) },
    );
    expectSame(both.data.slice(120), second.data);
  });

  test('ranks 2 and 3 are rank 4 seen otherwise', () => {
    const split = { data: x.data.slice(0, 120), shape: [15, 8] };
    const apart = engine.rotaryEmbedding({ ...split, shape: [1, 1, 15, 8] });
    const flat = engine.rotaryEmbedding(split, { numHeads: 1 });
    assert.deepEqual(flat.shape, [15, 8]);
    expectSame(flat.data, apart.data);
  });
});

describe('alibiSlopes, t5RelativeBias, transformerXlBias: relative positions', () => {
  test('ALiBi has the slopes of the paper', () => {
    const slopes = [0.5, 0.25, 0.125, 0.0625, 1 / 32, 1 / 64, 1 / 128, 1 / 256];
    expectSame(engine.alibiSlopes(8), Float32Array.from(slopes));
    const six = [0.25, 0.0625, 1 / 64, 1 / 256, 0.5, 0.125];
    expectSame(engine.alibiSlopes(6), Float32Array.from(six));
  });

  test('ALiBi in attention is the bias it stands for', () => {
    const [q, k, v] = [1, 2, 3].map((seed) => randomArray([1, 4, 6, 8], seed));
    const slopes = engine.alibiSlopes(4);
    const bias = filled([1, 4, 6, 6], (n) => {
      const [h, i, j] = [Math.floor(n / 36), Math.floor(n / 6) % 6, n % 6];
      return -slopes[h] * Math.abs(i - j);
    });
    const byName = engine.attention(q, k, v, { bias: { kind: 'alibi' } });
    const byArray = engine.attention(q, k, v, { bias });
    expectClose(byName.output.data, byArray.output.data, 64 * u);
  });

  test('T5 buckets are exact up to half and logarithmic beyond', () => {
    const table = filled([32, 2], (n) => n);
    const { data, shape } = engine.t5RelativeBias(table, 1, 200, { bidirectional: true });
    assert.deepEqual(shape, [2, 1, 200]);
    const bucket = (n) =>
      n < 8 ? n : Math.min(15, 8 + Math.floor((Math.log(n / 8) / Math.log(16)) * 8 + 1e-9));
    // Keys after the query are in the second half of the buckets.
    const expected = range(200).map((j) => 2 * (j === 0 ? 0 : 16 + bucket(j)));
    assert.deepEqual([...data.subarray(0, 200)], expected);
  });

  test('Transformer-XL: (q + v) . r of the distance', () => {
    const [q, r, v] = [
      randomArray([1, 2, 3, 4], 1),
      randomArray([7, 8], 2),
      randomArray([2, 4], 3),
    ];
    const { data, shape } = engine.transformerXlBias(q, r, v);
    assert.deepEqual(shape, [1, 2, 3, 5]);
    const expected = [];
    for (let h = 0; h < 2; ++h) {
      for (let i = 0; i < 3; ++i) {
        for (let j = 0; j < 5; ++j) {
          const row = 3 - 1 - i + j;
          let sum = 0;
          for (let d = 0; d < 4; ++d) {
            sum += (q.data[(h * 3 + i) * 4 + d] + v.data[h * 4 + d]) * r.data[row * 8 + h * 4 + d];
          }
          expected.push(sum);
        }
      }
    }
    expectClose(data, expected, 6 * u * 8, { quantity: 'transformerXlBias' });
    // Tq - 1 rows are those of no key.
    const none = engine.transformerXlBias(q, randomArray([2, 8], 2), v);
    assert.deepEqual(none.shape, [1, 2, 3, 0]);
    // r has Tk + Tq - 1 rows without queries, too.
    const unasked = engine.transformerXlBias(zeros([1, 2, 0, 4]), randomArray([4, 8], 2), v);
    assert.deepEqual(unasked.shape, [1, 2, 0, 5]);
    const narrow = () => engine.transformerXlBias(zeros([1, 2, 0, 4]), randomArray([4, 7], 2), v);
    expectThrows(narrow, 'transformerXlBias', 'shape_mismatch', 'r is [4,7]', '[Tk-1,8]');
  });
});

describe('layerNorm, rmsNorm, gelu: norms and activations', () => {
  const x = randomArray([3, 4, 5], 9);

  for (const axis of [-1, -2, 0, 1]) {
    test(`layer norm and RMS norm from axis ${axis}`, () => {
      const columns = x.shape.slice(axis).reduce((n, e) => n * e, 1);
      const gamma = randomArray([columns], 10).data;
      const beta = randomArray([columns], 11).data;
      const exact = (centre, epsilon, own) =>
        oracle.norm({ x: x.data, ...own }, { centre, epsilon });
      const options = { axis, gamma, beta, epsilon: 1e-3 };
      const layer = exact(true, 1e-3, { gamma, beta });
      expectClose(engine.layerNorm(x, options).data, layer, 200 * u, { quantity: 'layerNorm' });
      const rms = exact(false, 1e-5, { gamma });
      expectClose(engine.rmsNorm(x, { axis, gamma }).data, rms, 60 * u, { quantity: 'rmsNorm' });
      assert.deepEqual(engine.layerNorm(x).shape, x.shape);
    });
  }

  test('GELU by the tanh formula, and exactly at known points', () => {
    const points = filled([401], (i) => (i - 200) / 25);
    for (const [approximate, kind, quantity] of [
      ['tanh', 'gelu_tanh', 'gelu.tanh'],
      ['none', 'gelu', undefined],
    ]) {
      const exact = Array.from(points.data, oracle.activations[kind]);
      expectClose(engine.gelu(points, { approximate }).data, exact, 64 * u, { quantity });
    }
    const { data } = engine.gelu({ data: Float32Array.of(0, 1, -1, 3), shape: [4] });
    // x Phi(x) with Phi(1) = 0.8413447460685429, Phi(3) = 0.9986501019683699.
    const exact = [0, 0.8413447460685429, -0.158655253931457, 2.99595030590511];
    expectClose(data, exact, 16 * u, { quantity: 'gelu' });
  });
});

/** Softmax over one axis by its formula, and the bound of each element. */
function softmaxOf({ data, shape }, given, temperature) {
  const axis = (given + shape.length) % shape.length;
  const exact = oracle.softmax(data, { shape, axis, temperature });
  const bounds = new Float64Array(exact.length);
  for (const row of oracle.rowsAlong(shape, axis)) {
    const most = Math.max(...row.map((at) => exact[at]));
    for (const at of row) {
      const below = Math.log(most / exact[at]);
      bounds[at] = u * exact[at] * (3 * (below + Math.log(row.length)) + 26) + 2 ** -125;
    }
  }
  return { exact, bounds };
}

describe('softmax: along an axis', () => {
  const shapes = [[7], [3, 70], [3, 4, 5], [2, 3, 4, 33], [2, 1, 3, 2, 5, 2]];
  for (const shape of shapes) {
    test(`of [${shape}] over every axis`, () => {
      const x = randomArray(shape, 12);
      x.data.forEach((value, i) => (x.data[i] = 8 * value));
      for (let axis = -shape.length; axis < shape.length; ++axis) {
        for (const temperature of [1, 0.3, 50]) {
          const { exact, bounds } = softmaxOf(x, axis, temperature);
          const result = engine.softmax(x, { axis, temperature });
          expectClose(result.data, exact, bounds, { quantity: 'softmax' });
          assert.deepEqual(result.shape, shape);
        }
      }
      expectSame(engine.softmax(x).data, engine.softmax(x, { axis: -1, temperature: 1 }).data);
    });
  }

  test('makes the weights of the scores that attention gives', () => {
    const [q, k, v] = [13, 14, 15].map((seed) => randomArray([1, 2, 6, 8], seed));
    const options = { causal: true, returnLogits: 'biased', returnWeights: true };
    const { logits, weights } = engine.attention(q, k, v, options);
    expectClose(engine.softmax(logits).data, weights.data, 100 * u, {
      quantity: 'softmax.ofLogits',
    });
  });

  test('rows without one are NaN, and no others', () => {
    const rows = [
      [1, NaN, 0],
      [-Infinity, -Infinity, -Infinity],
      [1, Infinity, -Infinity],
      [0, -Infinity, 0],
    ];
    const { data } = engine.softmax({ data: Float32Array.from(rows.flat()), shape: [4, 3] });
    assert.deepEqual([...data], [...Array(9).fill(NaN), 0.5, 0, 0.5]);
  });

  test('of nothing is nothing', () => {
    for (const shape of [[0], [3, 0], [0, 3], [2, 0, 4]]) {
      const empty = { data: new Float32Array(0), shape };
      assert.deepEqual({ ...engine.softmax(empty, { axis: 0 }) }, empty);
    }
  });
});

describe('embedding, entropy, headStatistics: tables and statistics', () => {
  const table = filled([5, 3], (n) => n);

  test('embedding and learned positions are rows of their table', () => {
    const { data, shape } = engine.embedding(table, Int32Array.of(4, 0, 4));
    assert.deepEqual([...data], [12, 13, 14, 0, 1, 2, 12, 13, 14]);
    assert.deepEqual(shape, [3, 3]);
    assert.deepEqual(
      [...engine.learnedEncoding(table, 2, { offset: 3 }).data],
      [9, 10, 11, 12, 13, 14],
    );
    const clamped = engine.learnedEncoding(table, 3, { offset: 4, outOfRange: 'clamp' });
    assert.deepEqual([...clamped.data], [12, 13, 14, 12, 13, 14, 12, 13, 14]);
  });

  test('entropy and head statistics of weights', () => {
    const next = random(3);
    const weights = filled([1, 2, 4, 4], () => Math.abs(next()));
    for (let r = 0; r < 8; ++r) {
      const row = weights.data.subarray(r * 4, r * 4 + 4);
      const sum = row.reduce((s, e) => s + e, 0);
      row.forEach((e, i) => (row[i] = e / sum));
    }
    const rows = range(8).map((r) => [...weights.data.subarray(r * 4, r * 4 + 4)]);
    const entropies = rows.map((row) => -row.reduce((s, w) => s + w * Math.log(w), 0));
    const { data, shape } = engine.entropy(weights);
    assert.deepEqual(shape, [1, 2, 4]);
    expectClose(data, entropies, 4 * u, { quantity: 'entropy' });
    const mean = (of) => [0, 1].map((h) => range(4).reduce((s, i) => s + of(h * 4 + i, i), 0) / 4);
    const statistics = engine.headStatistics(weights);
    const expected = {
      entropy: mean((r) => entropies[r]),
      distance: mean((r, i) => rows[r].reduce((s, w, j) => s + w * Math.abs(i - j), 0)),
      maxWeight: mean((r) => Math.max(...rows[r])),
      firstKey: mean((r) => rows[r][0]),
    };
    for (const [name, value] of Object.entries(expected)) {
      assert.deepEqual(statistics[name].shape, [1, 2]);
      expectClose(statistics[name].data, value, 4 * u, { what: name, quantity: 'headStatistics' });
    }
  });
});

describe('attentionRollout: what a stack of layers does', () => {
  test('rollout of layers is the product of their means, later ones on the left', () => {
    const [layers, heads, t] = [3, 2, 4];
    const next = random(5);
    const weights = filled([layers, heads, t, t], () => Math.abs(next()));
    const at = (l, h, i, j) => weights.data[((l * heads + h) * t + i) * t + j];
    const of = range(layers).map((l) =>
      range(t).map((i) => {
        const row = range(t).map(
          (j) => range(heads).reduce((s, h) => s + at(l, h, i, j), 0) / heads + Number(i === j),
        );
        const sum = row.reduce((s, e) => s + e, 0);
        return row.map((e) => e / sum);
      }),
    );
    const times = (a, b) =>
      a.map((row) => range(t).map((j) => row.reduce((s, e, i) => s + e * b[i][j], 0)));
    const exact = times(of[2], times(of[1], of[0])).flat();
    const { data, shape } = engine.attentionRollout(weights);
    assert.deepEqual(shape, [t, t]);
    expectClose(data, exact, 2 * u, { quantity: 'attentionRollout' });
    const none = engine.attentionRollout({ data: new Float32Array(0), shape: [0, 1, 2, 2] });
    assert.deepEqual([...none.data], [1, 0, 0, 1]);
  });
});

describe('out: a tensor for the result', () => {
  const x = randomArray([2, 3, 5, 8], 1);
  const gamma = randomArray([8], 2).data;
  const calls = {
    rotaryEmbedding: { offset: 7, interleaved: true },
    layerNorm: { gamma, beta: gamma },
    rmsNorm: { gamma, axis: -1 },
    gelu: { approximate: 'tanh' },
    softmax: { axis: 1, temperature: 0.5 },
  };

  for (const [name, options] of Object.entries(calls)) {
    test(`of ${name} gets the bits that would be returned, from arrays and from tensors`, () => {
      const expected = engine[name](x, options);
      for (const given of [x, engine.tensor(x.shape, x.data)]) {
        const out = engine.tensor(x.shape);
        assert.equal(engine[name](given, { ...options, out }), undefined);
        expectSame(out.view(), expected.data);
        out.dispose();
        given.dispose?.();
      }
    });

    test(`of ${name} may be x itself`, () => {
      const x1 = engine.tensor(x.shape, x.data);
      assert.equal(engine[name](x1, { ...options, out: x1 }), undefined);
      expectSame(x1.view(), engine[name](x, options).data);
      x1.dispose();
    });
  }

  test('of sinusoidalEncoding gets the table', () => {
    const out = engine.tensor([6, 9]);
    const options = { offset: 4, layout: 'concatenated' };
    assert.equal(engine.sinusoidalEncoding(6, 9, { ...options, out }), undefined);
    expectSame(out.view(), engine.sinusoidalEncoding(6, 9, options).data);
    out.dispose();
  });

  test('costs no room for a result, however large', () => {
    const shape = [1, 1, 4096, 64];
    const [from, out] = [engine.tensor(shape), engine.tensor(shape)];
    engine.rotaryEmbedding(from, { out });
    const { heapBytes, usedBytes } = engine.memory();
    for (const name of Object.keys(calls)) engine[name](from, { out });
    assert.deepEqual(
      [engine.memory().heapBytes, engine.memory().usedBytes],
      [heapBytes, usedBytes],
    );
    // The most that is kept for the next call.
    const large = engine.tensor([2 ** 19 - 64]);
    engine.gelu(large);
    large.dispose();
    assert.ok(engine.memory().usedBytes > usedBytes, 'which a result does take');
    from.dispose();
    out.dispose();
  });
});
