// What the panels of one row, of one score and of masks have computed, in Node, by a core that the test stands in for: what it is
// asked, what the page makes of its answers, and the difference from float64 where the answer is off by a known number.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules } from '../support/engine.js';
import { rowSteps } from '../support/row_steps.js';

const web = await modules(
  'features/row/worker/{frame_feature,trained_row}',
  'features/pair/worker/frame_feature',
  'features/masks/worker/frame_feature',
);

/** Attention in float64, whose weights, outputs and logits are then off by `off`; `calls` has what it was asked. */
function coreOf(off = {}) {
  const calls = [];
  const rowsOf = ({ data, shape: [count, width] }) =>
    Array.from({ length: count }, (_, i) => [...data.slice(i * width, (i + 1) * width)]);
  const attention = (q, k, v, options) => {
    const { scale = 1 / Math.sqrt(k.shape[1]), mask, temperature = 1, returnLogits } = options;
    calls.push({ q: rowsOf(q), k: rowsOf(k), v: rowsOf(v), ...options });
    const { causal = false, causalOffset = 0, window = [Infinity] } = options;
    const keys = rowsOf(k);
    const isSeen = (i, j) =>
      !causal || (j <= i + causalOffset && j >= i + causalOffset - window[0]);
    const answers = rowsOf(q).map((query, i) => {
      const raw = keys.map((key) => scale * key.reduce((s, x, c) => s + x * query[c], 0));
      const isLeftOut = (j) => !isSeen(i, j) || (mask && !mask.data[i * keys.length + j]);
      const biased = raw.map((s, j) => (isLeftOut(j) ? -Infinity : s));
      const most = Math.max(...biased);
      const powers = biased.map((s) => (s === -Infinity ? 0 : Math.exp((s - most) / temperature)));
      const sum = powers.reduce((a, b) => a + b, 0);
      const weights = powers.map((p, j) => (sum > 0 ? p / sum : 0) + (off.weights?.[j] ?? 0));
      const output = rowsOf(v)[0].map(
        (_, d) => weights.reduce((o, w, j) => o + w * rowsOf(v)[j][d], 0) + (off.output?.[d] ?? 0),
      );
      const logits = returnLogits === 'raw' ? raw : biased;
      return { weights, output, logits, lse: Math.log(sum) + most, entropy: 0.5 + i };
    });
    const all = (name) => ({ data: Float32Array.from(answers.flatMap((row) => row[name])) });
    return {
      ...{ output: all('output'), weights: off.silent ? undefined : all('weights') },
      ...{ lse: all('lse'), entropy: all('entropy'), logits: returnLogits && all('logits') },
    };
  };
  return { qkv: { attention }, calls, log: [] };
}

/** Fails unless all these numbers are close; NaN, infinities and others are as they are. */
function expectNear(got, wanted, what) {
  const [a, b] = [got, wanted].map((list) => (typeof list === 'number' ? [list] : [...list]));
  assert.equal(a.length, b.length, what);
  a.forEach((value, i) => {
    const close = Object.is(value + 0, b[i] + 0) || Math.abs(value - b[i]) < 1e-5 * (1 + Math.abs(b[i]));
    assert.ok(close, `${what}: ${value}, not ${b[i]}`);
  });
} // prettier-ignore

const numbers = {
  q: [0.5, -1, 1, 2, -0.25, 3],
  k: [1, 0.5, -2, 1, 0.75, -0.5],
  v: [1, 2, -3, 4, 0.5, -6],
};
const requestOf = (more) => ({
  ...{ numbers, query: 1, masked: 0, scale: null, subtractMax: true },
  ...more,
});
const HERE = { layer: { source: 'random' }, view: {} };

describe('row', () => {
  test('each step is that of its formula', () => {
    const { qkv, log } = coreOf();
    const { compute } = web.rowFrames({ qkv, log });
    for (const more of [
      {},
      { query: 7 }, // beyond the last
      { scale: -0.5, masked: 2 },
      { masked: 5 },
      { masked: 7 },
      { masked: 7, subtractMax: false },
      { subtractMax: false, masked: 1 },
      { subtractMax: false, scale: 400 },
      { numbers: { q: [1, 2], k: [3, 4], v: [5, 6] } },
    ]) {
      const got = compute(requestOf(more), HERE);
      const wanted = rowSteps(requestOf(more));
      for (const name of ['products', 'scaled', 'masked', 'exps', 'sum', 'naive', 'naiveOutput', 'weights', 'output', 'scale']) {
        expectNear(got[name], wanted[name], `${JSON.stringify(more)} ${name}`);
      }
      assert.ok(got.error < 1e-6 && got.learned === null);
    }
  }); // prettier-ignore

  test('says how far the core is from float64: the worst of weights and output', () => {
    const errorOf = (off, more) => {
      const { qkv, log } = coreOf(off);
      return web.rowFrames({ qkv, log }).compute(requestOf(more), HERE).error;
    };
    const near = (error, wanted) => assert.ok(Math.abs(error - wanted) < 1e-6, `${error}`);
    near(errorOf({}), 0);
    near(errorOf({ output: [0, 0.25] }), 0.25);
    near(errorOf({ output: [-0.5, 0.25] }), 0.5);
    near(errorOf({ weights: [0, 0, 2 ** -10], output: [0, 0] }, { numbers: zeroValues }), 2 ** -10);
    near(errorOf({ weights: [-0.25, 0.125, 0] }, { numbers: zeroValues, masked: 2 }), 0.25);
    near(errorOf({}, { masked: 7 }), 0);
    assert.ok(Number.isNaN(errorOf({ output: [NaN, 0] })));
    assert.ok(Number.isNaN(errorOf({ weights: [NaN, 1, 1] })));
  });
  const zeroValues = { ...numbers, v: [0, 0, 0, 0, 0, 0] };

  test('fails when the core leaves out what it was asked for', () => {
    const { qkv, log } = coreOf({ silent: true });
    assert.throws(() => web.rowFrames({ qkv, log }).compute(requestOf(), HERE), /left out/);
  });
});

// ---- a row of a trained head ----

/** A head of `count` tokens and two numbers, whose weights and logits are off by these. */
function headsOf(count, { weights = 0, logits = 0, silent = false, scale } = {}) {
  const q = Float64Array.from({ length: 2 * count }, (_, i) => (i % 5) - 1.5);
  const k = Float64Array.from({ length: 2 * count }, (_, i) => ((3 * i) % 7) / 2 - 1);
  const asked = [];
  const row = (query, layer, extras) => {
    asked.push([query, layer, extras]);
    const { mask, temperature } = layer;
    const [end, first] = [mask === 'none' ? count : query + 1, mask === 'window' ? query - 3 : 0];
    const factor = scale ?? Math.SQRT1_2;
    const scores = Array.from({ length: count }, (_, j) => {
      if (j < first || j >= end) return -Infinity;
      return factor * (q[2 * query] * k[2 * j] + q[2 * query + 1] * k[2 * j + 1]);
    });
    const powers = scores.map((s) => Math.exp(s / temperature));
    const sum = powers.reduce((a, b) => a + b);
    return {
      weights: silent ? undefined : { data: Float32Array.from(powers, (p) => p / sum + weights) },
      logits: { data: Float32Array.from(scores, (s) => s + logits) },
    };
  };
  return { exact: () => ({ q, k, width: 2, scale }), list: [{ row }], count, asked };
}

test('learned row: its steps, for the keys of the largest weights', () => {
  for (const [count, query, layer, more = {}] of [
    [4, 3, { mask: 'causal', temperature: 1 }],
    [9, 8, { mask: 'causal', temperature: 0.5 }], // more keys than are told
    [9, 2, { mask: 'none', temperature: 2 }],
    [9, 7, { mask: 'window', temperature: 2 }],
    [9, 0, { mask: 'causal', temperature: 2 }],
    [9, 5, { mask: 'none', temperature: 2 }, { scale: 0.25 }],
    [30, 29, { mask: 'causal', temperature: 1 }], // of equal weights the first are told
  ]) {
    const heads = headsOf(count, more);
    const row = web.learnedRow(heads, 0, layer, query);
    const { mask, temperature } = layer;
    const [first, end] = [mask === 'window' ? Math.max(0, query - 3) : 0, mask === 'none' ? count : query + 1];
    const { q, k } = heads.exact();
    const scale = more.scale ?? Math.SQRT1_2;
    const termsOf = (key) => [0, 1].map((c) => q[2 * query + c] * k[2 * key + c]);
    const all = Array.from({ length: end - first }, (_, i) => first + i);
    const scores = new Map(all.map((key) => [key, (scale * (termsOf(key)[0] + termsOf(key)[1])) / temperature]));
    const ranked = [...all].sort((a, b) => scores.get(b) - scores.get(a) || a - b);
    const keys = ranked.slice(0, 6).sort((a, b) => a - b);
    assert.deepEqual([row.keys, row.allowed, row.query], [keys, all.length, query]);
    const max = Math.max(...scores.values());
    const sum = [...scores.values()].reduce((total, s) => total + Math.exp(s - max), 0);
    const tempered = keys.map((key) => scores.get(key));
    for (const [name, wanted] of Object.entries({
      ...{ max, sum, tempered, products: keys.map((key) => termsOf(key)[0] + termsOf(key)[1]) },
      scaled: tempered.map((s) => s * temperature),
      exps: tempered.map((s) => Math.exp(s - max)),
      weights: tempered.map((s) => Math.exp(s - max) / sum),
      core: tempered.map((s) => Math.exp(s - max) / sum),
    })) {
      expectNear(row[name], wanted, name);
    }
    keys.forEach((key, i) => expectNear(row.terms[i], termsOf(key), 'terms'));
    assert.ok(row.error < 1e-6);
  }
}); // prettier-ignore

test('learned row: its error is the worst of scores and weights, and there is none of other queries', () => {
  const layer = { mask: 'causal', temperature: 1 };
  const errorOf = (more) => web.learnedRow(headsOf(5, more), 0, layer, 4).error;
  assert.ok(Math.abs(errorOf({ weights: 0.25 }) - 0.25) < 1e-6);
  assert.ok(Math.abs(errorOf({ logits: 0.5 }) - 0.5) < 1e-6);
  assert.ok(Math.abs(errorOf({ logits: -0.5, weights: -0.125 }) - 0.5) < 1e-6);
  for (const query of [-1, 5, 6]) {
    assert.equal(web.learnedRow(headsOf(5), 0, layer, query), null);
  }
  assert.equal(web.learnedRow({ ...headsOf(5), exact: undefined }, 0, layer, 1), null);
  assert.throws(() => web.learnedRow(headsOf(5, { silent: true }), 0, layer, 1), /left out/);
});

// ---- one score ----

/** A scene of a head without a model, of `count` tokens. */
function pairScene(count, query, { mask = 'causal', temperature = 1, even = false } = {}) {
  const make = (factor) =>
    Float32Array.from({ length: 2 * count }, (_, i) => ((factor * i) % 11) / 4 - 1);
  const projections = { q: make(3), k: make(5), v: make(7), width: 2, scale: Math.SQRT1_2 };
  const [end, first] = [mask === 'none' ? count : query + 1, mask === 'window' ? query - 3 : 0];
  const { q, k, scale } = projections;
  const scores = Float32Array.from({ length: count }, (_, j) => {
    if (j < first || j >= end) return -Infinity;
    return even ? 0 : scale * (q[2 * query] * k[2 * j] + q[2 * query + 1] * k[2 * j + 1]);
  });
  const powers = Array.from(scores, (s) => Math.exp(s / temperature));
  const sum = powers.reduce((a, b) => a + b);
  const weights = Float32Array.from(powers, (p) => p / sum);
  const largest = weights.indexOf(Math.max(...weights));
  return {
    heads: { model: null, list: [{ projections: () => projections }] },
    layer: { mask, temperature },
    view: { head: 0 },
    query: { row: query, weights, scores, lse: Math.log(sum), largest },
  };
}

test('pair: the chosen key where the query may see it, the strongest otherwise, and twelve others one by one', () => {
  for (const [count, query, key, listed, rest, more = {}] of [
    [5, 3, null, 4, 0],
    [5, 3, 0, 4, 0],
    [5, 3, 3, 4, 0],
    [5, 3, 4, 4, 0], // it may not be seen
    [5, 3, 4, 5, 0, { mask: 'none', temperature: 2 }],
    [9, 6, 3, 4, 0, { mask: 'window', temperature: 0.5 }],
    [9, 6, 2, 4, 0, { mask: 'window', temperature: 0.5 }], // before the window
    [12, 11, 0, 12, 0],
    [13, 12, null, 12, 1],
    [30, 29, 20, 13, 17, { even: true }], // of equal weights the first, and the chosen one
  ]) {
    const { qkv, log } = coreOf();
    const scene = pairScene(count, query, more);
    const pair = web.pairFrames({ qkv, log }).compute({ key }, scene);
    const allowed = [...scene.query.scores.keys()].filter((j) => scene.query.scores[j] > -Infinity);
    assert.equal(pair.key, allowed.includes(key) ? key : scene.query.largest, `${count} ${key}`);
    assert.deepEqual([pair.shares.length, pair.rest?.keys ?? 0, pair.allowed], [listed, rest, allowed.length]);
    const keys = pair.shares.map((share) => share.key);
    assert.ok(keys.includes(pair.key) && keys.every((k, i) => i === 0 || keys[i - 1] < k));
    const lightest = Math.min(...pair.shares.filter((share) => share.key !== key).map(({ weight }) => weight));
    const others = allowed.filter((j) => !keys.includes(j)).map((j) => scene.query.weights[j]);
    assert.ok(others.every((weight) => weight <= lightest));
    if (!more.even) for (const e of Object.values({ ...pair.sums, ...pair.error })) assert.ok(e < 1e-6);
  }
}); // prettier-ignore

test('pair: its errors are those of the score, the weight and the output', () => {
  const { qkv, log } = coreOf({ output: [0.25, -0.5] });
  const scene = pairScene(5, 3);
  const { query } = scene;
  const scores = query.scores.map((s) => s + 0.125);
  const weights = query.weights.map((p) => p + 2 ** -6);
  const { compute } = web.pairFrames({ qkv, log });
  const { sums, error } = compute({ key: 1 }, { ...scene, query: { ...query, scores, weights } });
  const near = (value, wanted) => assert.ok(Math.abs(value - wanted) < 1e-6, `${value}`);
  near(error.score, 0.125);
  near(sums.score, 0.125);
  near(error.weight, 2 ** -6);
  near(error.output, 0.5);
  assert.ok(sums.output > 0.25);
  assert.equal(compute({ key: 1 }, { ...scene, query: null }), null);
}); // prettier-ignore
