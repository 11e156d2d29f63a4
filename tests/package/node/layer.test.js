// @build each
// multiHeadAttention(): the layer gives what its formula says, however its weights are handed over.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { booleanMask, filled, randomArray } from '../../support/js/arrays.js';
import { expectSame, expectSameResult } from '../../support/js/check.js';
import { allExtras, allResults, expectResults } from '../../support/js/expect-results.js';
import * as oracle from '../../support/js/oracle.js';

const engine = await init();

/** Config with every size, weights as [in, out] with biases, and inputs. */
function makeLayer(sizes = {}) {
  const { dModel = 12, numHeads = 3, tq = 5, tk = tq, batch = 2, seed = 1 } = sizes;
  const { numKvHeads = numHeads, dK = dModel / numHeads, dV = dK, dContext = dModel } = sizes;
  const small = (shape, s) => {
    const { data } = randomArray(shape, seed * 20 + s);
    return { data: data.map((x) => x / 2), shape };
  };
  const bias = (length, s) => small([length], s).data;
  const [q, k, v] = [numHeads * dK, numKvHeads * dK, numKvHeads * dV];
  return {
    config: { dModel, numHeads, numKvHeads, dK, dV, dContext },
    weights: {
      wq: small([dModel, q], 1),
      wk: small([dContext, k], 2),
      wv: small([dContext, v], 3),
      wo: small([numHeads * dV, dModel], 4),
      ...{ bq: bias(q, 5), bk: bias(k, 6), bv: bias(v, 7), bo: bias(dModel, 8) },
    },
    x: randomArray([batch, tq, dModel], seed * 20 + 9),
    context: randomArray([batch, tk, dContext], seed * 20 + 10),
  };
}

const outIn = (weights) =>
  Object.fromEntries(
    Object.entries(weights).map(([name, w]) => [name, w.shape ? oracle.transposed(w) : w]),
  );

/** wq, wk, wv and their biases side by side. */
function fused({ wq, wk, wv, wo, bq, bk, bv, bo }) {
  const parts = [wq, wk, wv];
  const columns = parts.reduce((sum, { shape }) => sum + shape[1], 0);
  const wqkv = { data: new Float32Array(wq.shape[0] * columns), shape: [wq.shape[0], columns] };
  let from = 0;
  for (const { data, shape } of parts) {
    data.forEach((value, at) => {
      wqkv.data[Math.floor(at / shape[1]) * columns + from + (at % shape[1])] = value;
    });
    from += shape[1];
  }
  const both = bq && { bqkv: Float32Array.of(...bq, ...bk, ...bv) };
  return { wqkv, wo, ...both, ...(bo && { bo }) };
}

/** Creates, runs and disposes. */
function forward({ config, weights }, x, options) {
  const layer = engine.multiHeadAttention(config, weights);
  try {
    return layer.forward(x, options);
  } finally {
    layer.dispose();
  }
}

function expectExact(given, options = {}) {
  const { context, ...rest } = options;
  const result = forward(given, given.x, { ...allExtras, ...options });
  const exact = oracle.layer({ ...given, context, options: rest });
  expectResults(result, exact, (context ?? given.x).shape[1], {
    ...{ method: 'multiHeadAttention', asked: allResults },
  });
  return result;
}

const without = (given, ...names) => ({
  ...given,
  weights: Object.fromEntries(Object.entries(given.weights).filter(([n]) => !names.includes(n))),
});

describe('multiHeadAttention: against the formula', () => {
  test('self-attention, with the shapes of its results', () => {
    const { output, weights, lse, entropy } = expectExact(makeLayer());
    assert.deepEqual(output.shape, [2, 5, 12]);
    assert.deepEqual(weights.shape, [2, 3, 5, 5]);
    assert.deepEqual(lse.shape, [2, 3, 5]);
    assert.deepEqual(entropy.shape, [2, 3, 5]);
  });

  for (const name of ['bq', 'bk', 'bv', 'bo']) {
    test(`without ${name}`, () => expectExact(without(makeLayer(), name)));
  }

  test('without any bias', () => expectExact(without(makeLayer(), 'bq', 'bk', 'bv', 'bo')));

  test('cross-attention with a context of its own length and width', () => {
    const given = makeLayer({ tk: 8, dContext: 7 });
    const { weights } = expectExact(given, { context: given.context });
    assert.deepEqual(weights.shape, [2, 3, 5, 8]);
  });

  for (const numKvHeads of [6, 3, 2, 1]) {
    test(`6 query heads with ${numKvHeads} key/value heads`, () => {
      expectExact(makeLayer({ dModel: 24, numHeads: 6, numKvHeads }));
    });
  }

  test('dK and dV of their own', () => {
    for (const [dK, dV] of [
      [5, 4],
      [4, 7],
      [1, 1],
      [17, 3],
    ])
      expectExact(makeLayer({ dK, dV }));
  });

  test('dModel need not be a multiple of numHeads when dK is given', () => {
    expectExact(makeLayer({ dModel: 10, numHeads: 3, dK: 4 }));
  });

  test('causal, masks, temperature and scale', () => {
    const given = makeLayer({ tk: 8 });
    const { context } = given;
    expectExact(given, { causal: true });
    expectExact(given, { context, causal: true, causalOffset: -2 });
    expectExact(given, { mask: booleanMask([5, 5], (i) => i % 3 !== 0) });
    expectExact(given, { mask: filled([3, 5, 1], (i) => i / 9 - 1) });
    expectExact(given, { temperature: 0.5, scale: 0.375 });
  });

  test('rows of the weights', () => {
    const given = makeLayer();
    const all = forward(given, given.x, { returnWeights: true }).weights;
    const { weights } = forward(given, given.x, { returnWeights: true, rows: [1, 3] });
    assert.deepEqual(weights.shape, [2, 3, 2, 5]);
    expectSame(weights.data.slice(0, 10), all.data.slice(5, 15));
  });
});

describe('multiHeadAttention: bit for bit', () => {
  const given = makeLayer({ numKvHeads: 1, dK: 5, dV: 4 });
  const { config, weights, x } = given;
  const expected = forward(given, x, allExtras);

  test('defaults of the config are the sizes they stand for', () => {
    const plain = makeLayer();
    const { dModel, numHeads } = plain.config;
    const short = { ...plain, config: { dModel, numHeads } };
    expectSameResult(forward(short, plain.x), forward(plain, plain.x));
    const wide = makeLayer({ dK: 5 });
    const { dV, dContext, numKvHeads, ...rest } = wide.config;
    assert.deepEqual([dV, dContext, numKvHeads], [5, 12, 3]);
    expectSameResult(forward({ ...wide, config: rest }, wide.x), forward(wide, wide.x));
  });

  test('[out, in] is [in, out] transposed', () => {
    const swapped = { config: { ...config, weightLayout: 'out_in' }, weights: outIn(weights) };
    expectSameResult(forward(swapped, x, allExtras), expected);
    const named = { config: { ...config, weightLayout: 'in_out' }, weights };
    expectSameResult(forward(named, x, allExtras), expected);
  });

  test('fused weights are the separate ones side by side', () => {
    expectSameResult(forward({ config, weights: fused(weights) }, x, allExtras), expected);
    const swapped = {
      config: { ...config, weightLayout: 'out_in' },
      weights: outIn(fused(weights)),
    };
    expectSameResult(forward(swapped, x, allExtras), expected);
    const bare = without(given, 'bq', 'bk', 'bv');
    expectSameResult(
      forward({ config, weights: fused(bare.weights) }, x, allExtras),
      forward(bare, x, allExtras),
    );
  });

  test('x as its own context is self-attention', () => {
    expectSameResult(forward(given, x, { ...allExtras, context: x }), expected);
  });

  test('[T, dModel] is one batch row', () => {
    const one = { data: x.data.slice(0, 60), shape: [5, 12] };
    const { output } = forward(given, one);
    assert.deepEqual(output.shape, [5, 12]);
    expectSame(output.data, expected.output.data.slice(0, 60));
    const cross = forward(given, one, { context: { ...one, shape: [1, 5, 12] } });
    expectSame(cross.output.data, output.data);
  });

  test('tensors are read in place, and out is written in place', () => {
    const layer = engine.multiHeadAttention(config, weights);
    const tx = engine.tensor(x.shape, x.data);
    const out = engine.tensor(x.shape);
    const { output, ...extras } = expected;
    expectSameResult(layer.forward(tx, { ...allExtras, context: tx }), expected);
    assert.deepEqual(layer.forward(tx, { out }), {});
    expectSame(out.view(), output.data);
    expectSameResult(layer.forward(x, { ...allExtras, out }), extras);
    expectSame(out.view(), output.data);
    expectSame(tx.view(), x.data);
    for (const held of [layer, tx, out]) held.dispose();
  });

  test('weights are copied: changing the arrays afterwards changes nothing', () => {
    const copies = structuredClone(weights);
    const layer = engine.multiHeadAttention(config, copies);
    for (const w of Object.values(copies)) (w.data ?? w).fill(NaN);
    expectSameResult(layer.forward(x, allExtras), expected);
    layer.dispose();
  });

  test('weights and inputs are not modified, and the result does not share the shape of x', () => {
    const before = structuredClone({ weights, x });
    const { output } = forward(given, x, allExtras);
    assert.deepEqual({ weights, x }, before);
    assert.deepEqual([...output.shape], x.shape);
    assert.notEqual(output.shape, x.shape);
  });

  test('two layers live side by side', () => {
    const other = makeLayer({ seed: 7 });
    const [one, two] = [given, other].map((l) => engine.multiHeadAttention(l.config, l.weights));
    const separate = forward(other, other.x);
    expectSameResult(two.forward(other.x), separate);
    expectSameResult(one.forward(x, allExtras), expected);
    one.dispose();
    expectSameResult(two.forward(other.x), separate);
    two.dispose();
  });

  test('an empty sequence gives an empty result', () => {
    const { output } = forward(given, { data: new Float32Array(0), shape: [2, 0, 12] });
    assert.deepEqual([[...output.shape], output.data.length], [[2, 0, 12], 0]);
  });
});
