// @build each
// attention(): masks, causality, temperature, scale and what is returned besides the output.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { booleanMask, filled, problem, random, randomArray } from '../../support/js/arrays.js';
import { expectClose, expectSame, expectSameResult } from '../../support/js/check.js';
import { allExtras, expectAttention } from '../../support/js/expect-results.js';
import * as oracle from '../../support/js/oracle.js';

const engine = await init();
const arrays = problem({ tk: 9 });

const expectExact = (...of) => expectAttention(engine, ...of);

/** Every shape that broadcasts to [2, 4, 7, 9]. */
const maskShapes = [
  ...[[9], [1], [7, 9], [7, 1], [1, 9], [4, 7, 9], [4, 1, 9], [1, 7, 1]],
  ...[
    [2, 4, 7, 9],
    [2, 1, 1, 9],
    [1, 4, 7, 1],
    [2, 1, 7, 9],
    [1, 1, 1, 1],
  ],
];

describe('attention: masks', () => {
  for (const shape of maskShapes) {
    test(`a boolean mask [${shape}] broadcasts`, () => {
      const coin = random(shape.length);
      expectExact(arrays, { mask: booleanMask(shape, () => coin() < 0.4) });
    });

    test(`an additive mask [${shape}] broadcasts`, () => {
      const value = random(7 + shape.length);
      const mask = filled(shape, (i) => (i % 5 === 3 ? -Infinity : 2 * value()));
      expectExact(arrays, { mask });
    });
  }

  test('any nonzero byte allows', () => {
    const { q, k, v } = arrays;
    const ones = booleanMask([7, 9], (i) => i % 3 !== 0);
    const many = { data: ones.data.map((x) => x * 200), shape: ones.shape };
    expectSameResult(
      engine.attention(q, k, v, { mask: many }),
      engine.attention(q, k, v, { mask: ones }),
    );
  });

  test('a boolean mask and -Infinity exclude alike, bit for bit', () => {
    const { q, k, v } = arrays;
    const mask = booleanMask([7, 9], (i) => i % 4 !== 1);
    const added = filled([7, 9], (i) => (i % 4 !== 1 ? 0 : -Infinity));
    expectSameResult(
      engine.attention(q, k, v, { ...allExtras, mask }),
      engine.attention(q, k, v, { ...allExtras, mask: added }),
    );
  });

  test('a mask may be a tensor', () => {
    const { q, k, v } = arrays;
    const mask = randomArray([4, 7, 9], 8);
    const tensor = engine.tensor(mask.shape, mask.data);
    expectSameResult(
      engine.attention(q, k, v, { mask: tensor }),
      engine.attention(q, k, v, { mask }),
    );
    tensor.dispose();
  });

  test('a row without keys gives zeros, lse -Infinity and entropy 0', () => {
    const mask = booleanMask([7, 9], (i) => Math.floor(i / 9) !== 2);
    const { output, weights, lse, entropy } = expectExact(arrays, { mask });
    const row = (data, width) => [...data.slice(2 * width, 3 * width)];
    assert.ok(row(output.data, 8).every((x) => x === 0));
    assert.ok(row(weights.data, 9).every((x) => x === 0));
    assert.deepEqual([lse.data[2], entropy.data[2]], [-Infinity, 0]);
  });
});

describe('attention: causal', () => {
  const square = problem({ tq: 9 });

  test('query i reads keys up to i', () => {
    const { weights } = expectExact(square, { causal: true });
    weights.data.forEach((w, at) => {
      const [i, j] = [Math.floor(at / 9) % 9, at % 9];
      assert.equal(w > 0, j <= i, `weight (${i}, ${j})`);
    });
  });

  for (const causalOffset of [-20, -8, -3, -1, 0, 1, 2, 8, 100, 2 ** 31 - 1, -(2 ** 31) + 1]) {
    test(`query i reads keys up to i + ${causalOffset}`, () => {
      expectExact(arrays, { causal: true, causalOffset });
      expectExact(square, { causal: true, causalOffset });
    });
  }

  test('it composes with a mask', () => {
    const mask = booleanMask([7, 9], (i) => i % 3 !== 0);
    expectExact(arrays, { causal: true, causalOffset: 2, mask });
  });
});

test('attention: a window gives the bits of the mask that says the same', () => {
  const { q, k, v } = problem({ tq: 20, tk: 30 });
  for (const [left, right] of [
    [20, 0],
    [0, 0],
    [3, 5],
    [-1, 2],
  ]) {
    const mask = booleanMask([20, 30], (at) => {
      const away = Math.floor(at / 30) + 9 - (at % 30);
      return (left < 0 || away <= left) && -away <= right;
    });
    expectSameResult(
      engine.attention(q, k, v, { ...allExtras, window: [left, right], causalOffset: 9 }),
      engine.attention(q, k, v, { ...allExtras, mask }),
    );
  }
});

test('attention: temperature divides the scores', () => {
  for (const temperature of [0.25, 0.5, 1, 3, 1000]) expectExact(arrays, { temperature });
  const { q, k, v } = arrays;
  const { weights } = engine.attention(q, k, v, { temperature: 2 ** 100, returnWeights: true });
  assert.ok(weights.data.every((w) => w === Math.fround(1 / 9)));
});

test('attention: scale replaces 1/sqrt(d)', () => {
  for (const scale of [0, 0.375, -0.5, 2]) expectExact(arrays, { scale });
  const { q, k, v } = problem({ dK: 16 });
  const half = engine.attention(q, k, v, { scale: 0.25 });
  expectSameResult(half, engine.attention(q, k, v));
});

test('attention: options may be given as undefined', () => {
  const { q, k, v } = problem();
  const names = [
    'scale',
    'temperature',
    'causal',
    'causalOffset',
    'mask',
    'rows',
    'out',
    'returnLse',
  ];
  const options = Object.fromEntries(names.map((name) => [name, undefined]));
  expectSameResult(engine.attention(q, k, v, options), engine.attention(q, k, v));
});

test('attention: weights sum to 1 and extras come only when asked for', () => {
  const { q, k, v } = arrays;
  assert.deepEqual(Object.keys(engine.attention(q, k, v)), ['output']);
  const { weights } = engine.attention(q, k, v, { returnWeights: true });
  const sums = Array.from({ length: 56 }, (_, r) =>
    weights.data.slice(r * 9, r * 9 + 9).reduce((sum, w) => sum + w, 0),
  );
  expectClose(sums, Array(56).fill(1), 2 * 9 * oracle.u);
  for (const [option, result] of [
    ['returnWeights', 'weights'],
    ['returnLse', 'lse'],
    ['returnEntropy', 'entropy'],
  ]) {
    const asked = Object.keys(engine.attention(q, k, v, { [option]: true }));
    assert.deepEqual(asked.sort(), ['output', result].sort());
    assert.deepEqual(Object.keys(engine.attention(q, k, v, { [option]: false })), ['output']);
  }
});

test('attention: rows are those rows of the weights, bit for bit', () => {
  const { q, k, v } = arrays;
  const { weights: all, output } = engine.attention(q, k, v, allExtras);
  for (const rows of [
    [0, 7],
    [0, 1],
    [6, 7],
    [2, 5],
    [3, 3],
    [7, 7],
  ]) {
    const result = expectExact(arrays, { rows }, rows[0] === rows[1] ? ['weights'] : []);
    assert.deepEqual(result.weights.shape, [2, 4, rows[1] - rows[0], 9]);
    const expected = Array.from({ length: 8 }, (_, h) => [
      ...all.data.slice((h * 7 + rows[0]) * 9, (h * 7 + rows[1]) * 9),
    ]).flat();
    expectSame(result.weights.data, Float32Array.from(expected));
    expectSame(result.output.data, output.data);
  }
});

test('attention: the entropy of equal weights is ln Tk, of one key 0', () => {
  const { q, k, v } = arrays;
  const { entropy } = engine.attention(q, k, v, { scale: 0, returnEntropy: true });
  expectClose(entropy.data, Array(56).fill(Math.log(9)), oracle.u * 98 * (Math.log(9) + 2));
  const one = booleanMask([9], (j) => j === 3);
  const alone = engine.attention(q, k, v, { mask: one, returnEntropy: true });
  expectClose(alone.entropy.data, Array(56).fill(0), oracle.u * 98 * (Math.log(9) + 2), {
    size: 1,
  });
});

test('attention: dropout keeps a weight, made larger by what is lost, or drops it', () => {
  const { q, k, v } = arrays;
  const { weights: all } = engine.attention(q, k, v, { returnWeights: true });
  const dropout = { rate: 0.25, seed: 42 };
  const { weights: kept } = engine.attention(q, k, v, { returnWeights: true, dropout });
  const dropped = kept.data.filter((p) => p === 0).length / kept.data.length;
  // 504 independent coins: five standard deviations are 0.097.
  assert.ok(Math.abs(dropped - 0.25) < 0.097, `${dropped} are dropped, expected 0.25`);
  const expected = all.data.map((p, i) => (kept.data[i] === 0 ? 0 : p / 0.75));
  // Two roundings: of 1 / 0.75, and of the product.
  const bounds = expected.map((p) => 2.01 * oracle.u * p);
  expectClose(kept.data, expected, bounds);
});

test('attention: every bit of the seed counts, those past the 32nd too', () => {
  const { q, k, v } = arrays;
  const outputOf = (seed) =>
    engine.attention(q, k, v, { dropout: { rate: 0.5, seed } }).output.data.toString();
  // 7, and 7 with one other bit.
  const flipped = (bit) => (bit < 3 ? 7 - 2 ** bit : 7 + 2 ** bit);
  const seeds = [7, ...Array.from({ length: 53 }, (_, bit) => flipped(bit))];
  assert.equal(new Set(seeds.map(outputOf)).size, seeds.length);
  assert.equal(outputOf(7), outputOf(7));
});
