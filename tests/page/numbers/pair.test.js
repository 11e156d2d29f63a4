// One score from q and k to the output, in Node: against the formula in float64, for every source, head and mask, and
// what the page says of the components of the heads that were built by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules, startEngine } from '../support/engine.js';

const { ask, qkv, request, tensors } = await startEngine();
// sentences.ts and what it imports touch the page only when they are called.
const { madeOf, isAnimal, asksForAnimal, modelOf, MAX_LISTED } = await modules(
  'features/pair/page/sentences',
  'features/pair/worker/frame_feature',
  'domain/animals',
  'engine/layer_weights',
);
const U = 2 ** -24;

const numbers = {
  q: [0.1, -2, 3, 4, 0.5, 0.6],
  k: [1, 0, -1, 2, 0.5, 0.25],
  v: [1, 2, -3, 4, 5, 6],
};

/** q, k and v of one head in float64, [T, width] each. */
function projected({ x, wq, wk, bq }, head, wv) {
  const [count, columns] = [x.length / 64, wq.length / 64];
  const times = (w, bias) =>
    Array.from({ length: count }, (_, i) =>
      Array.from({ length: 16 }, (_, c) => {
        const at = head * 16 + c;
        const terms = Array.from({ length: 64 }, (_, m) => x[i * 64 + m] * w[m * columns + at]);
        return terms.reduce((a, b) => a + b, bias ? bias[at] : 0);
      }),
    );
  return { q: times(wq, bq), k: times(wk), v: times(wv) };
}

const pairsOf = (rows) =>
  Array.from({ length: rows.length / 2 }, (_, j) => rows.slice(2 * j, 2 * j + 2));
const dot = (a, b) => a.reduce((sum, value, c) => sum + value * b[c], 0);
const near = (a, b, size, name) =>
  assert.ok(Math.abs(a - b) <= 64 * U * size, `${name}: ${a}, not ${b}`);

/** The row of a query in float64. */
function exact({ q, k, v }, { query, mask, temperature }) {
  const end = mask === 'none' ? k.length : query + 1;
  const first = mask === 'window' ? Math.max(0, query - 3) : 0;
  const scores = k.map((key) => dot(q[query], key) / Math.sqrt(key.length));
  const allowed = scores.map((s, j) => (j >= first && j < end ? s / temperature : -Infinity));
  const most = Math.max(...allowed);
  const powers = allowed.map((s) => Math.exp(s - most));
  const sum = powers.reduce((a, b) => a + b);
  const weights = powers.map((p) => p / sum);
  const output = q[0].map((_, c) =>
    dot(
      weights,
      v.map((row) => row[c]),
    ),
  );
  return { scores, weights, output };
}

for (const patch of [
  {},
  { temperature: 0.3, pairKey: 3 },
  { source: 'random', head: 2, mask: 'none', query: 4, pairKey: 9 },
  { source: 'random', head: 3, mask: 'window', query: 8, temperature: 3 },
  { source: 'yours', numbers, query: 1, mask: 'none', pairKey: 2 },
  { source: 'yours', numbers, query: 2, mask: 'causal' },
]) {
  test(`pair: products, score, weight and output are those of the formula, ${JSON.stringify(patch)}`, () => {
    const query = patch.query ?? 7;
    const { pair, query: row } = ask({ query, ...patch });
    const { mask, temperature, source } = request().layer;
    const { head } = request().view;
    const given =
      source === 'yours' &&
      [numbers.q, numbers.k, numbers.v].map((rows) => pairsOf(rows.map(Math.fround)));
    const { q, k, v } = given
      ? { q: given[0], k: given[1], v: given[2] }
      : projected(tensors(), head, modelOf(qkv, source, request().layer.seed).wv);
    const wanted = exact({ q, k, v }, { query, mask, temperature });
    const { key } = pair;
    assert.equal(key, patch.pairKey ?? wanted.weights.indexOf(Math.max(...wanted.weights)));
    assert.equal(pair.q.length, given ? 2 : 16);
    pair.q.forEach((value, c) => near(value, q[query][c], 100, `q ${c}`));
    pair.k.forEach((value, c) => near(value, k[key][c], 100, `k ${c}`));
    pair.products.forEach((value, c) => assert.equal(value, pair.q[c] * pair.k[c]));
    const size = 1 + Math.abs(wanted.scores[key]);
    const sum = pair.products.reduce((a, b) => a + b);
    near(sum / Math.sqrt(pair.q.length), wanted.scores[key], 16 * size, 'the sum of the products');
    // The same numbers as those of the map.
    assert.deepEqual([pair.score, pair.weight], [row.scores[key], row.weights[key]]);
    near(pair.score, wanted.scores[key], 16 * size, 'score');
    near(pair.weight, wanted.weights[key], (16 * size) / temperature, 'weight');
    near(Math.exp(pair.score / temperature - pair.lse), pair.weight, 16 * size, 'softmax');
    for (const list of [pair.output, total(pair)]) {
      list.forEach((o, c) => near(o, wanted.output[c], (64 * size) / temperature, `output ${c}`));
    }
    pair.v.forEach((value, c) => near(value, v[key][c], 8, `v ${c}`));
    assert.ok(pair.sums.score <= 64 * U * size && pair.sums.output < 1e-5);
    near(pair.error.score, Math.abs(pair.score - wanted.scores[key]), 1e-4, 'error of the score');
    near(
      pair.error.weight,
      Math.abs(pair.weight - wanted.weights[key]),
      1e-4,
      'error of the weight',
    );
    assert.ok(Object.values(pair.error).every((error) => error < 1e-4));
  });
}

/** The output, added up from what each key gives. */
function total({ shares, rest, output }) {
  const parts = [...shares, ...(rest ? [rest] : [])];
  return Array.from(output, (_, c) => parts.reduce((sum, { part }) => sum + part[c], 0));
}

test('pair: “it” finds “cat” by sixteen products that add up to four times its score', () => {
  const { pair } = ask({ query: 7 });
  assert.equal(pair.key, 1);
  assert.equal(pair.products.length, 16);
  assert.ok(Math.abs(pair.score - 17.17) < 0.005 && Math.abs(pair.dot / 4 - pair.score) < 1e-5);
  assert.ok(pair.weight > 0.99);
});

test('pair: of many keys the heaviest are listed with the chosen one, and the rest adds up', () => {
  const { pair } = ask({ length: 300, query: 250, source: 'random', temperature: 5, pairKey: 17 });
  const keys = pair.shares.map(({ key }) => key);
  assert.ok(keys.includes(17) && keys.length >= MAX_LISTED && keys.length <= MAX_LISTED + 1);
  assert.deepEqual(
    keys,
    [...keys].sort((a, b) => a - b),
  );
  assert.equal(keys.length + pair.rest.keys, 251);
  total(pair).forEach((o, c) => near(o, pair.output[c], 16, `output ${c}`));
  const weights = [...pair.shares, pair.rest].map(({ weight }) => weight);
  near(
    weights.reduce((a, b) => a + b),
    1,
    16,
    'weights',
  );
  const lightest = Math.min(...pair.shares.filter(({ key }) => key !== 17).map((s) => s.weight));
  assert.ok(pair.rest.weight / pair.rest.keys <= lightest);
});

test('pair: a key that the query may not see gives way to the strongest, and no words to nothing', () => {
  const { pair } = ask({ query: 3, pairKey: 9 });
  assert.equal(pair.key, pair.shares.reduce((a, b) => (b.weight > a.weight ? b : a)).key);
  assert.equal(ask({ text: '', query: null }).pair, null);
});

/** What each sentence says of q, k and v of a pair. */
const CLAIMS = {
  'pair.made.reference'({ pair, tokens }) {
    const found = asksForAnimal(tokens[pair.query]) && isAnimal(tokens[pair.key]);
    assert.equal(pair.products[0] !== 0, found);
    assert.equal(pair.products[1], 0);
    assert.ok(pair.products.slice(2).every(Number.isFinite));
  },
  'pair.made.positions'({ pair }, { positions }) {
    if (positions === 'sinusoidal') assert.ok(pair.products.some((p) => p !== 0));
  },
  'pair.made.without'({ pair }) {
    assert.ok(pair.products.slice(2).every((p) => p === 0));
  },
  'pair.made.same'({ pair, tokens }) {
    const same = tokens[pair.query].toLowerCase() === tokens[pair.key].toLowerCase();
    assert.equal(Math.abs(pair.score - 10) < 1e-4, same);
  },
  'pair.made.mean'({ pair }) {
    assert.ok(pair.products.every((p) => p === 0));
  },
  'pair.made.value'({ pair }) {
    assert.ok(pair.v.every((value) => Math.abs(value) === 0.25));
  },
};

test('pair: what is said of the components is what they are', () => {
  const held = new Set();
  for (const positions of ['sinusoidal', 'none']) {
    for (let head = 0; head < 6; head++) {
      for (const [query, pairKey] of [
        [7, 1],
        [7, 2],
        [4, 0],
        [9, 9],
      ]) {
        const { pair } = ask({ positions, head, query, pairKey });
        const { tokens } = request().layer;
        for (const key of madeOf({ source: 'constructed', positions }, head)) {
          assert.ok(CLAIMS[key], `nothing holds ${key}`);
          CLAIMS[key]({ pair, tokens }, { positions });
          held.add(key);
        }
      }
    }
  }
  assert.deepEqual([...held].sort(), Object.keys(CLAIMS).sort());
});

test('pair: heads that compare positions read nothing but positions in q and k', () => {
  const { tokens } = request().layer;
  const other = ['dog', ...tokens.slice(1)].join(' ');
  for (const head of [1, 3, 4]) {
    const [a, b] = [{}, { text: other }].map((more) =>
      ask({ head, query: 5, pairKey: 0, ...more }),
    );
    assert.deepEqual([a.pair.q, a.pair.k], [b.pair.q, b.pair.k]);
    assert.notDeepEqual(a.pair.v, b.pair.v);
  }
});
