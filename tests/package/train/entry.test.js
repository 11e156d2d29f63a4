// @build each
// qkv/train as an entry: everything of qkv with the same bits, its own .wasm files, options and handles, and a worker.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import * as qkv from 'qkv';
import * as train from 'qkv/train';
import { problem, randomArray, toRank } from '../../support/js/arrays.js';
import { expectQkvError, expectSame, expectSameResult } from '../../support/js/check.js';
import { everything } from '../../support/js/everything.js';
import { expectedVariant, read, wasmFile } from '../../support/js/files.js';

const [engine, plain] = await Promise.all([train.init(), qkv.init()]);
after(() => [engine, plain].forEach((each) => each.dispose()));
const trainFile = (variant) => read(`dist/qkv-train-${variant}.wasm`);

test('train: it exports the same names, and what they are is the same', () => {
  assert.deepEqual(Object.keys(train).sort(), Object.keys(qkv).sort());
  for (const name of ['QkvError', 'array', 'random', 'toNested', 'zeros']) {
    assert.equal(train[name], qkv[name], name);
  }
});

test('train: an engine is of the variant that qkv would choose, and says the same of itself', () => {
  assert.deepEqual(engine.info, plain.info);
  assert.equal(engine.info.variant, expectedVariant);
});

test('train: every function of qkv gives the same bits', async () => {
  expectSameResult(await everything(engine), await everything(plain));
});

describe('train: the .wasm', () => {
  test('may be given, and is told from that of qkv', async () => {
    const { info, dispose } = await train.init({ wasm: trainFile('simd') });
    assert.equal(info.variant, 'simd');
    dispose();
    for (const [init, wasm, was, expected] of [
      [train.init, wasmFile('simd'), 'qkv', 'qkv-train-simd.wasm'],
      [qkv.init, trainFile('simd'), 'qkv-train', 'qkv-simd.wasm'],
    ]) {
      const error = await init({ wasm }).catch((reason) => reason);
      expectQkvError(error, 'init', 'load_failed', `the .wasm is ${was},`, expected);
    }
  });

  test('with threads gives the same bits', async () => {
    const [one, two] = await Promise.all(
      ['simd', 'simd-threads'].map((variant) =>
        train.init({ variant, threads: variant === 'simd' ? 1 : 2 }),
      ),
    );
    assert.equal(two.info.threads, 2);
    const { q, k, v } = problem({ heads: 8, kvHeads: 2, tq: 70, dK: 32 });
    const gradients = [one, two].map((each) => {
      const saved = each.attention(q, k, v, { causal: true, returnLse: true });
      return each.attentionBackward(q, q, k, v, saved, { causal: true });
    });
    for (const name of ['dq', 'dk', 'dv']) {
      expectSame(gradients[1][name].data, gradients[0][name].data, name);
    }
    [one, two].forEach((each) => each.dispose());
  });
});

test('train: calls of init() share a module, and not with qkv', async () => {
  const other = await train.init();
  const tensor = other.tensor([2, 2], [1, 2, 3, 4]);
  assert.equal(engine.softmaxBackward(tensor, tensor).shape.length, 2);
  const error = (() => {
    try {
      plain.softmax(tensor);
    } catch (reason) {
      return reason;
    }
    return undefined;
  })();
  expectQkvError(error, 'softmax', 'invalid_argument', 'x is a tensor of another engine');
  other.dispose();
});

describe('train: attentionBackward', () => {
  const { q, k, v } = problem({ batch: 2, heads: 4, kvHeads: 2, tq: 5, tk: 6 });
  const dOutput = randomArray(q.shape, 9);
  const options = { numHeads: 4, numKvHeads: 2, causal: true, causalOffset: 1, returnLse: true };
  const of = (arrays, e = engine) => {
    const saved = e.attention(arrays.q, arrays.k, arrays.v, options);
    return e.attentionBackward(arrays.dOutput, arrays.q, arrays.k, arrays.v, saved, options);
  };
  const expected = of({ q, k, v, dOutput });

  test('takes heads side by side, and gives gradients of that form', () => {
    const arrays = { q, k, v, dOutput };
    const side = Object.fromEntries(
      Object.entries(arrays).map(([name, array]) => [name, toRank(array, 3)]),
    );
    const actual = of(side);
    for (const name of ['dq', 'dk', 'dv']) {
      const { data, shape } = toRank(expected[name], 3);
      assert.deepEqual(actual[name].shape, shape);
      expectSame(actual[name].data, data, name);
    }
  });

  /** Gradients of these weights of one head, in double precision: dq, dk and dv, [tq, d], [tk, d] and [tk, d]. */
  const exactOf = ({ q, k, v, dOutput }, weights, scale) => {
    const [tq, tk, d] = [q.shape[2], k.shape[2], q.shape[3]];
    const [dq, dk, dv] = [tq, tk, tk].map((rows) => new Float64Array(rows * d));
    const dot = (a, i, b, j) =>
      Array.from({ length: d }, (_, n) => a.data[i * d + n] * b.data[j * d + n]).reduce(
        (sum, x) => sum + x,
      );
    for (let i = 0; i < tq; i += 1) {
      const p = weights.subarray(i * tk, (i + 1) * tk);
      const dP = Array.from(p, (_, j) => dot(dOutput, i, v, j));
      const mean = dP.reduce((sum, x, j) => sum + p[j] * x, 0);
      for (let j = 0; j < tk; j += 1) {
        const dS = scale * p[j] * (dP[j] - mean);
        for (let n = 0; n < d; n += 1) {
          dv[j * d + n] += p[j] * dOutput.data[i * d + n];
          dq[i * d + n] += dS * k.data[j * d + n];
          dk[j * d + n] += dS * q.data[i * d + n];
        }
      }
    }
    return { dq, dk, dv };
  };

  for (const [name, masks] of [
    ['-1e4', [-1e4]],
    ['-1e6', [-1e6]],
    ['-1e9', [-1e9]],
    ["float32's lowest", [-3.4028234663852886e38]],
    ["float32's lowest twice", [-3.4028234663852886e38, -3.4028234663852886e38]],
  ]) {
    test(`gives the gradients of the weights with ${name} on every key`, () => {
      const [tq, tk, d] = [5, 70, 8];
      const shapes = {
        q: [1, 1, tq, d],
        k: [1, 1, tk, d],
        v: [1, 1, tk, d],
        dOutput: [1, 1, tq, d],
      };
      const arrays = Object.fromEntries(
        Object.entries(shapes).map(([key, shape], i) => [key, randomArray(shape, 20 + i)]),
      );
      const masked = (value) => ({ data: new Float32Array(tk).fill(value), shape: [tk] });
      const given = {
        mask: masked(masks[0]),
        ...(masks.length > 1 && { bias: masked(masks[1]) }),
        returnLse: true,
        returnWeights: true,
      };
      const saved = engine.attention(arrays.q, arrays.k, arrays.v, given);
      const sum = saved.weights.data.reduce((all, p) => all + p, 0);
      assert.ok(Math.abs(sum - tq) < 1e-4, `weights sum to ${sum}`);
      const actual = engine.attentionBackward(
        ...[arrays.dOutput, arrays.q, arrays.k, arrays.v, saved],
        given,
      );
      const exact = exactOf(arrays, saved.weights.data, 1 / Math.sqrt(d));
      for (const key of ['dq', 'dk', 'dv']) {
        const largest = Math.max(...exact[key].map(Math.abs));
        const worst = Math.max(...exact[key].map((x, i) => Math.abs(actual[key].data[i] - x)));
        assert.ok(worst <= 1e-5 * largest, `${key} is off by ${worst} beside ${largest}`);
      }
    });
  }

  test('takes tensors, and the one that the output was written to', () => {
    const tensors = Object.fromEntries(
      Object.entries({ q, k, v, dOutput }).map(([name, { data, shape }]) => [
        name,
        engine.tensor(shape, data),
      ]),
    );
    const out = engine.tensor(q.shape);
    const { lse } = engine.attention(tensors.q, tensors.k, tensors.v, { ...options, out });
    const saved = { output: out, lse };
    const actual = engine.attentionBackward(
      ...[tensors.dOutput, tensors.q, tensors.k, tensors.v, saved],
      { ...options, out },
    );
    for (const name of ['dq', 'dk', 'dv']) expectSame(actual[name].data, expected[name].data, name);
    assert.deepEqual(Object.keys(actual), ['dq', 'dk', 'dv']);
    for (const tensor of [...Object.values(tensors), out]) tensor.dispose();
  });

  test('gives 0 to what may not be read, even where it holds NaN, and its bits hang on nothing else', () => {
    const keyLengths = [4, 6];
    const spoilt = { k: { ...k, data: k.data.slice() }, v: { ...v, data: v.data.slice() } };
    // The last two keys of the first batch row, in each of its two heads.
    for (const head of [0, 1]) {
      for (const { data } of Object.values(spoilt))
        data.fill(NaN, (head * 6 + 4) * 8, (head * 6 + 6) * 8);
    }
    const given = { keyLengths, returnLse: true };
    const [clean, actual] = [{ k, v }, spoilt].map((arrays) => {
      const saved = engine.attention(q, arrays.k, arrays.v, given);
      return engine.attentionBackward(dOutput, q, arrays.k, arrays.v, saved, given);
    });
    for (const name of ['dq', 'dk', 'dv']) expectSame(actual[name].data, clean[name].data, name);
    assert.ok(actual.dk.data.subarray(4 * 8, 6 * 8).every((x) => x === 0));
  });
});

test('train: the loss and its counts', () => {
  const logits = { data: Float32Array.of(0, 0, 0, 5, 1, 5, 9, 9, 9), shape: [3, 3] };
  const { loss, correct, counted } = engine.crossEntropy(logits, Uint8Array.of(1, 0, 2), {
    ignoreIndex: 2,
  });
  const sum = Math.log(2 + Math.exp(-4));
  assert.ok(Math.abs(loss - (Math.log(3) + sum) / 2) < 1e-6, `${loss}`);
  // Of equal logits the first is the greatest: row 0 says class 0, row 1 too.
  assert.deepEqual([correct, counted], [1, 2]);
  const none = engine.crossEntropy(logits, [-1, -1, -1]);
  assert.deepEqual([none.loss, none.correct, none.counted], [0, 0, 0]);
  assert.ok(none.dLogits.data.every((x) => x === 0));
});

test('train: gru is that of its formula from h0 of zeros, and gruBackward needs no output', () => {
  const [x, h0] = [randomArray([2, 3, 4], 1), { data: new Float32Array(10), shape: [2, 5] }];
  const weights = {
    ...{ wx: randomArray([4, 15], 2), wh: randomArray([5, 15], 3) },
    ...{ bx: randomArray([15], 4).data, bh: randomArray([15], 5).data },
  };
  const output = engine.gru(x, weights);
  expectSame(engine.gru(x, weights, { h0 }).data, output.data);
  const dOutput = randomArray([2, 3, 5], 6);
  const [kept, anew] = [{ output }, {}].map((given) =>
    engine.gruBackward(dOutput, x, weights, given),
  );
  for (const name of ['dx', 'dh0']) expectSame(anew[name].data, kept[name].data, name);
  expectSame(anew.dWeights.wh.data, kept.dWeights.wh.data);
});

test('train: arrays without elements have gradients without elements', () => {
  const none = { data: new Float32Array(0), shape: [0, 4] };
  const w = randomArray([4, 3], 1);
  const { dx, dw } = engine.linearBackward({ ...none, shape: [0, 3] }, none, w);
  assert.deepEqual([dx.shape, dw.shape], [[0, 4], [4, 3]]);
  assert.ok(dw.data.every((x) => x === 0));
  assert.deepEqual(engine.layerNormBackward(none, none).dx.shape, [0, 4]);
  assert.deepEqual(engine.embeddingBackward(none, [], 0).shape, [0, 4]);
  const sequence = { data: new Float32Array(0), shape: [2, 0, 4] };
  const weights = { wx: randomArray([4, 9], 2), wh: randomArray([3, 9], 3) };
  const biases = { bx: new Float32Array(9), bh: new Float32Array(9) };
  const { dh0 } = engine.gruBackward({ ...none, shape: [2, 0, 3] }, sequence, {
    ...{ ...weights, ...biases },
  });
  assert.deepEqual(dh0, { data: new Float32Array(6), shape: [2, 3] });
}); // prettier-ignore

test('train: a second call of a size allocates nothing, and no gradient is left behind', () => {
  const x = randomArray([64, 32], 1);
  const w = randomArray([32, 32], 2);
  const step = () => engine.linearBackward(x, x, w, { bias: true });
  step();
  const before = engine.memory();
  for (let i = 0; i < 20; i += 1) step();
  assert.deepEqual(engine.memory(), before);
});
