// The numbers of the panel that follows one row, in Node: every step against the formula, for every query, mask and
// scale, and what the page says of its error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEngine } from '../support/engine.js';

const { ask } = await startEngine();
const U = 2 ** -24;

/** Every step of one row in float64. */
function exact({ q, k, v }, query, { scale, masked }) {
  const pairs = (row) =>
    Array.from({ length: row.length / 2 }, (_, j) => row.slice(2 * j, 2 * j + 2));
  const [a, b] = pairs(q)[query];
  const products = pairs(k).map(([x, y]) => a * x + b * y);
  const scaled = products.map((p) => scale * p);
  const biased = scaled.map((s, j) => ((masked >> j) & 1 ? -Infinity : s));
  const max = Math.max(...biased);
  const powers = biased.map((s) => (max === -Infinity ? 0 : Math.exp(s - max)));
  const sum = powers.reduce((x, y) => x + y, 0);
  const weights = powers.map((e) => (sum > 0 ? e / sum : 0));
  const output = [0, 1].map((d) => weights.reduce((o, w, j) => o + w * pairs(v)[j][d], 0));
  return { products, scaled, masked: biased, max, exps: powers, sum, weights, output };
}

function expectNear(actual, wanted, size, name) {
  assert.equal(actual.length, wanted.length, name);
  wanted.forEach((value, j) => {
    if (!Number.isFinite(value)) assert.equal(actual[j], value, `${name} ${j}`);
    else {
      const off = Math.abs(actual[j] - value);
      assert.ok(off <= 32 * U * size, `${name} ${j} is ${actual[j]}, expected ${value}`);
    }
  });
}

const numbers = {
  q: [0.1, -2, 3, 4, 0.5, 0.6],
  k: [1, 0, -1, 2, 0.5, 0.25],
  v: [1, 2, -3, 4, 5, 6],
};
for (const patch of [
  {},
  { rowQuery: 1 },
  { rowQuery: 2, numbers, rowScale: 0.5 },
  { rowQuery: 0, numbers, rowMasked: 1 },
  { rowQuery: 1, numbers, rowMasked: 6 },
  { rowQuery: 1, numbers, rowScale: -1.5, rowMasked: 2 },
]) {
  test(`row: every step is that of the formula, ${JSON.stringify(patch)}`, () => {
    const { row } = ask(patch);
    const { rowQuery = 0, rowScale = 1 / Math.sqrt(2), rowMasked = 0 } = patch;
    const given = row.request.numbers;
    const wanted = exact(given, rowQuery, { scale: rowScale, masked: rowMasked });
    const largest = Math.max(1, ...wanted.products.map(Math.abs), ...wanted.scaled.map(Math.abs));
    for (const step of ['products', 'scaled', 'masked', 'exps']) {
      expectNear(row[step], wanted[step], largest, step);
    }
    expectNear([row.max, row.sum, row.scale], [wanted.max, wanted.sum, rowScale], largest, 'parts');
    for (const weights of [row.weights, row.naive]) {
      expectNear(weights, wanted.weights, largest, 'weights');
    }
    for (const output of [row.output, row.naiveOutput]) {
      expectNear(output, wanted.output, 8 * largest, 'output');
    }
    expectNear([row.lse], [Math.log(wanted.sum) + wanted.max], largest, 'lse');
    const off = [...row.weights].map((w, j) => Math.abs(w - wanted.weights[j]));
    // From the same numbers in float32, so that the page's error and this one differ by their rounding.
    assert.ok(row.error <= 32 * U * largest && Math.max(...off) <= row.error + 4 * U * largest);
  });
}

test('row: a query beyond the last is the last, and without a key all is zero', () => {
  const last = ask({ rowQuery: 5 }).row;
  assert.deepEqual(last.weights, ask({ rowQuery: 2 }).row.weights);
  const none = ask({ rowMasked: 7 }).row;
  for (const weights of [none.weights, none.naive]) assert.deepEqual([...weights], [0, 0, 0]);
  assert.deepEqual([...none.output], [0, 0]);
  assert.equal(none.error, 0);
});

test('row: without the maximum exp overflows, and the core does not', () => {
  const { row } = ask({ rowMax: false, rowScale: 400 });
  assert.ok(row.exps.some((e) => e === Infinity));
  assert.ok(row.naive.some(Number.isNaN));
  assert.ok(Math.abs(row.weights.reduce((a, b) => a + b) - 1) < 4 * U);
  assert.ok(row.error < 1e-6);
});

test('row: without the maximum every exp of scores far below 0 is 0, and the core has the weights', () => {
  const { row } = ask({ rowMax: false, rowScale: -1200 });
  assert.ok(row.max < -104 && row.exps.every((e) => e === 0));
  assert.ok(row.naive.every(Number.isNaN));
  assert.ok(Math.abs(row.weights.reduce((a, b) => a + b) - 1) < 4 * U);
});
