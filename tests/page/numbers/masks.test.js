// The numbers of the panel about masks and order, in Node: weights under exactly the mask of the grid, and what a
// shuffle of the tokens changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEngine } from '../support/engine.js';
import { grid, unpack } from '../support/grid.js';
import { layer, layerOf } from '../support/oracle.js';

const { ask, request, tensors, web } = await startEngine();

/** Asks that the weights on the grid are those of the formula under `mask`, and 0 where it says so. */
function expectGrid(frame, mask) {
  const { masks } = frame;
  assert.deepEqual(Array.from(masks.mask), mask);
  const all = tensors();
  const exact = layer({ ...layerOf(all), mask });
  const count = masks.tokens.length;
  const { head } = request().view;
  const from = head * count ** 2;
  let most = 0;
  masks.weights.forEach((weight, at) => {
    if (mask[at] === 0) assert.equal(weight, 0, `masked at ${at}`);
    const off = Math.abs(weight - exact.weights[from + at]);
    assert.ok(off <= exact.bounds[from + at], `weight ${at} is off by ${off}`);
    most = Math.max(most, weight);
  });
  const rows = Array.from({ length: count }, (_, i) => mask.slice(i * count, (i + 1) * count));
  rows.forEach((row, i) => {
    const sum = masks.weights.slice(i * count, (i + 1) * count).reduce((a, b) => a + b);
    const wanted = row.includes(1) ? 1 : 0;
    assert.ok(Math.abs(sum - wanted) < 2e-6, `row ${i} sums to ${sum}`);
    assert.ok(Math.abs(masks.entropy[i] - exact.entropy[head * count + i]) < 1e-4);
  });
  const empty = rows.flatMap((row, i) => (row.includes(1) ? [] : [i]));
  assert.deepEqual(masks.empty, empty);
  assert.ok(most > 0 || empty.length === count);
}

const KINDS = [
  [{ maskKind: 'none' }, () => true],
  [{ maskKind: 'causal' }, (i, j) => j <= i],
  [{ maskKind: 'window', maskSize: 4 }, (i, j) => j <= i && i - j < 4],
  [{ maskKind: 'window', maskSize: 1 }, (i, j) => i === j],
  [{ maskKind: 'padding', maskSize: 3 }, (_i, j) => j < 8],
  [{ maskKind: 'prefix', maskSize: 5 }, (i, j) => j <= i || j < 5],
];
const PAINT = '0000ffff0000'.padEnd(64, 'f');

for (const [choice, mayRead] of KINDS) {
  const name = Object.values(choice).join(' ');
  test(`masks: ${name} is what it says, and the weights follow it`, () => {
    for (const look of [
      { source: 'random', head: 2 },
      { source: 'constructed', head: 3, temperature: 3 },
    ]) {
      expectGrid(ask({ ...look, ...choice }), grid(11, mayRead));
    }
  });
}

test('masks: a painted mask is its digits, and rows without any key are zeros', () => {
  const frame = ask({ source: 'random', maskKind: 'painted', maskPaint: PAINT });
  expectGrid(frame, unpack(PAINT, 11));
  const { weights, entropy, empty } = frame.masks;
  assert.deepEqual(empty, [0, 2]);
  for (const row of empty) {
    assert.deepEqual(Array.from(weights.slice(row * 11, row * 11 + 11)), new Array(11).fill(0));
    assert.equal(entropy[row], 0);
  }
  const padding = ask({ source: 'random', maskKind: 'padding', maskSize: 16 });
  assert.equal(padding.masks.empty.length, 11, 'nothing but padding');
});

test('masks: of a long text the first 16 tokens are taken', () => {
  const { masks } = ask({ source: 'random', length: 64, maskKind: 'padding', maskSize: 2 });
  assert.deepEqual(masks.tokens, request().layer.tokens.slice(0, 16));
  assert.deepEqual(
    Array.from(masks.mask),
    grid(16, (_i, j) => j < 14),
  );
});

const WORDS = ['red', 'green', 'blue', 'white', 'black'];
const shuffled = { source: 'random', text: WORDS.join(' '), maskShuffle: 5 };

/** The output of the whole page's layer on these words: another way to the numbers of the panel. */
function outputOf(words, patch) {
  ask({ source: 'random', text: words.join(' '), ...patch });
  const { output, x, heads } = tensors();
  return { output, width: x.length / words.length, heads };
}

/** The largest difference between the output of the words in this order and that of the words as written. */
function differenceOf(order, patch) {
  const plain = outputOf(WORDS, patch);
  const moved = outputOf(
    order.map((i) => WORDS[i]),
    patch,
  );
  let most = 0;
  moved.output.forEach((out, at) => {
    const from = order[Math.floor(at / plain.width)] * plain.width + (at % plain.width);
    most = Math.max(most, Math.abs(out - plain.output[from]));
  });
  return most;
}

test('masks: shuffled, the differences are those of the layer on the words in both orders', () => {
  const { masks } = ask({ ...shuffled, maskKind: 'causal' });
  const { order, swaps } = masks;
  assert.notDeepEqual(order, [0, 1, 2, 3, 4]);
  assert.deepEqual([...order].sort(), [0, 1, 2, 3, 4]);
  assert.deepEqual(
    masks.tokens,
    order.map((i) => WORDS[i]),
  );
  assert.ok(swaps.without.free < 1e-6, `${swaps.without.free} is more than rounding`);
  for (const [positions, of] of [
    ['none', swaps.without],
    ['sinusoidal', swaps.sinusoidal],
  ]) {
    for (const [mask, value] of [
      ['none', of.free],
      ['causal', of.masked],
    ]) {
      const most = differenceOf(order, { positions, mask });
      assert.ok(Math.abs(most - value) < 1e-6, `${positions} ${mask}: ${most}, shown ${value}`);
      if (mask === 'causal' || positions === 'sinusoidal') assert.ok(value > 1e-2);
    }
  }
  // What the grid shows of the shuffled tokens is what these words give when they are typed so.
  const { heads } = outputOf(masks.tokens, { mask: 'causal' });
  heads[0].weights.forEach((weight, at) =>
    assert.ok(Math.abs(weight - masks.weights[at]) < 1e-6, `weight ${at}`),
  );
});

test('masks: a mask that no token notices leaves the symmetry whole', () => {
  const { swaps } = ask({ ...shuffled, maskKind: 'none' }).masks;
  assert.ok(swaps.without.masked < 1e-6 && swaps.sinusoidal.masked > 1e-2);
  assert.equal(ask({ ...shuffled, maskShuffle: 0 }).masks.swaps, null);
});

test('masks: numbers of one’s own have an order, and no positions', () => {
  const { masks, row } = ask({ source: 'yours', maskShuffle: 3 });
  const { tokens, swaps, order, weights } = masks;
  assert.ok(row);
  assert.deepEqual(
    tokens,
    order.map((i) => `x${i + 1}`),
  );
  assert.ok(swaps.without.free < 1e-6 && swaps.without.masked > 1e-3);
  assert.equal(swaps.sinusoidal, null);
  const { q, k } = request().layer.numbers;
  const score = (i, j) => {
    const [a, b] = [order[i] * 2, order[j] * 2];
    return (q[a] * k[b] + q[a + 1] * k[b + 1]) / Math.SQRT2;
  };
  const [e0, e1] = [score(1, 0), score(1, 1)].map(Math.exp);
  assert.ok(Math.abs(weights[3] - e0 / (e0 + e1)) < 1e-6);
});

test('masks: painted masks in links are clamped to the grid', () => {
  const read = (mp) => web.parseFragment(`#v=1&mk=painted&mp=${mp}`, 'en');
  const whole = 'f'.repeat(64);
  for (const [raw, wanted] of [
    ['', whole],
    ['xyz', whole],
    ['12 4', whole],
    ['8', '8'.padEnd(64, 'f')],
    ['AbC0', 'abc0'.padEnd(64, 'f')],
    ['0'.repeat(70), '0'.repeat(64)],
  ]) {
    const state = read(raw);
    assert.equal(state.maskPaint, wanted, raw);
    assert.deepEqual(web.parseFragment(web.formatFragment(state), 'zh'), state);
  }
  const sizes = ['0', '99', '-3', '2.6'].map(
    (ms) => web.parseFragment(`#v=1&ms=${ms}`, 'en').maskSize,
  );
  assert.deepEqual(sizes, [1, 16, 1, 3]);
});
