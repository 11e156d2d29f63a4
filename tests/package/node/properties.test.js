// What has to be true of attention and positions whatever the numbers are, beside the properties that
// attention-options, attention-shapes, cache-and-blocks and sinusoidal hold.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { booleanMask, filled, problem, randomArray } from '../../support/js/arrays.js';
import { expectClose, expectSame, expectSameResult } from '../../support/js/check.js';
import { allExtras, allResults, expectResults } from '../../support/js/expect-results.js';
import * as oracle from '../../support/js/oracle.js';

const engine = await init();

/** Runs attention() with all extras against the oracle. */
function expectExact({ q, k, v }, options = {}) {
  const result = engine.attention(q, k, v, { ...allExtras, ...options });
  expectResults(result, oracle.attention(q, k, v, options), k.shape.at(-2), allResults);
  return result;
}

describe('sizes around tiles', () => {
  for (const t of [1, 2, 63, 64, 65, 127, 129]) {
    test(`${t} tokens of every width`, () => {
      for (const dK of [1, 3, 5, 65, 80, 256]) {
        expectExact(problem({ batch: 1, heads: 1, tq: t, dK, seed: t + dK }), { causal: true });
      }
    });
  }

  test('1000 tokens, three query heads on one key/value head', () => {
    expectExact(problem({ batch: 1, heads: 3, kvHeads: 1, tq: 1000, dK: 5 }));
  });
});

describe('order', () => {
  const tokens = 70;
  const width = 8;
  const place = (i) => (i * 27) % tokens;
  const moved = ({ data, shape }) => {
    const to = new data.constructor(data.length);
    for (let i = 0; i < tokens; ++i) {
      to.set(data.subarray(i * width, (i + 1) * width), place(i) * width);
    }
    return { data: to, shape };
  };
  const { q, k, v } = problem({ batch: 1, heads: 1, tq: tokens, dK: width });

  test('permuting the queries permutes the rows, bit for bit', () => {
    const { output } = engine.attention(q, k, v);
    expectSame(engine.attention(moved(q), k, v).output.data, moved(output).data);
  });

  test('without positions, permuting the tokens permutes the rows', () => {
    const { data, bound } = oracle.attention(q, k, v).output;
    const { output } = engine.attention(moved(q), moved(k), moved(v));
    const exact = moved({ data, shape: q.shape });
    expectClose(output.data, exact.data, moved({ data: bound, shape: q.shape }).data);
  });
});

describe('limits of the softmax', () => {
  /** One query whose score of key j is scores[j]. */
  const scored = (scores) => ({
    q: filled([1, 1, 1, 1], () => 1),
    k: { data: Float32Array.from(scores), shape: [1, 1, scores.length, 1] },
    v: randomArray([1, 1, scores.length, 5], 3),
  });
  const weightsOf = ({ q, k, v }, options) =>
    engine.attention(q, k, v, { scale: 1, returnWeights: true, ...options }).weights.data;

  test('towards temperature 0 the largest score takes all', () => {
    const { q, k, v } = problem({ batch: 1, heads: 2, tq: 9, tk: 70 });
    const { weights } = engine.attention(q, k, v, { returnWeights: true });
    const cold = engine.attention(q, k, v, { temperature: 2 ** -100, returnWeights: true });
    for (let row = 0; row < 18; ++row) {
      const warm = weights.data.subarray(row * 70, (row + 1) * 70);
      const best = warm.indexOf(Math.max(...warm));
      const expected = Float32Array.from(warm, (_, j) => Number(j === best));
      expectSame(cold.weights.data.subarray(row * 70, (row + 1) * 70), expected);
    }
  });

  test('towards temperature infinity every allowed key weighs the same', () => {
    const mask = booleanMask([1, 70], (j) => j % 7 !== 2);
    const options = { mask, temperature: 2 ** 100 };
    const weights = weightsOf(scored(Array.from({ length: 70 }, (_, j) => j)), options);
    const expected = Float32Array.from(mask.data, (allowed) => allowed / 60);
    expectClose(weights, expected, oracle.u * 2 * (1 / 60) * (70 + 40));
  });

  test('one logit far above and one far below the rest', () => {
    for (const at of [0, 5, 63, 64, 99]) {
      const scores = Array(100).fill(0.25);
      scores[at] = 50;
      scores[(at + 50) % 100] = -3e38;
      const weights = weightsOf(scored(scores));
      assert.equal(weights[at], 1);
      assert.equal(weights[(at + 50) % 100], 0);
    }
  });

  test('logits of -1e4 and 1e4 side by side', () => {
    const scores = Array.from({ length: 130 }, (_, j) => (j % 13 === 4 ? 1e4 : -1e4));
    const weights = weightsOf(scored(scores));
    scores.forEach((s, j) => assert.equal(weights[j], s > 0 ? Math.fround(0.1) : 0));
  });

  test('equal logits weigh 1/n each, for every n', () => {
    for (let n = 1; n <= 140; ++n) {
      const weights = weightsOf(scored(Array(n).fill(3)));
      expectClose(weights, Array(n).fill(1 / n), (oracle.u * (n + 40)) / n);
    }
  });
});

test('a window gives the bits of the mask that says the same', () => {
  const { q, k, v } = problem({ tq: 70, tk: 90 });
  for (const [left, right] of [
    [20, 0],
    [0, 0],
    [3, 5],
    [-1, 2],
  ]) {
    const mask = booleanMask([70, 90], (at) => {
      const away = Math.floor(at / 90) + 20 - (at % 90);
      return (left < 0 || away <= left) && -away <= right;
    });
    expectSameResult(
      engine.attention(q, k, v, { ...allExtras, window: [left, right], causalOffset: 20 }),
      engine.attention(q, k, v, { ...allExtras, mask }),
    );
  }
});

test('what a cache holds past its length is never read', () => {
  const sizes = { numKvHeads: 2, dK: 5, dV: 3 };
  const tokens = (count, width, seed, from = count) => {
    const whole = randomArray([1, 2, count, width], seed);
    return filled(whole.shape, (i) =>
      Math.floor(i / width) % count >= from ? [NaN, Infinity, -Infinity][i % 3] : whole.data[i],
    );
  };
  const next = problem({ batch: 1, heads: 4, kvHeads: 2, tq: 1, dK: 5, dV: 3 });
  const held = 60;
  for (const kept of [1, 7, 24, 40]) {
    const caches = [kept, held].map((from) => {
      const cache = engine.kvCache({ ...sizes, capacity: held + 4 });
      cache.append(tokens(held, 5, 1, from), tokens(held, 3, 2, from));
      cache.truncate(kept);
      return cache;
    });
    const [poisoned, clean] = caches.map((cache) =>
      engine.attention(next.q, next.k, next.v, { ...allExtras, cache }),
    );
    expectSameResult(poisoned, clean);
    assert.ok(clean.output.data.every(Number.isFinite));
    caches.forEach((cache) => cache.dispose());
  }
});

describe('positions', () => {
  test('rotary scores depend on the distance alone, however far out', () => {
    const d = 32;
    const [q, k] = [randomArray([1, 1, 1, d], 5), randomArray([1, 1, 1, d], 6)];
    for (const interleaved of [false, true]) {
      const pair = (i) => (interleaved ? [2 * i, 2 * i + 1] : [i, i + d / 2]);
      for (const distance of [0, 1, 5, 1000]) {
        // Turned by the distance, in float64; the bound is that of core/include/qkv/rotary.hpp.
        let [exact, size] = [0, 0];
        for (let i = 0; i < d / 2; ++i) {
          const [a, b] = pair(i);
          const [q1, q2, k1, k2] = [q.data[a], q.data[b], k.data[a], k.data[b]];
          const angle = distance * 10000 ** ((-2 * i) / d);
          exact += Math.cos(angle) * (q1 * k1 + q2 * k2) + Math.sin(angle) * (q1 * k2 - q2 * k1);
          size += Math.hypot(q1, q2) * Math.hypot(k1, k2);
        }
        for (const at of [0, 1, 77, 4096, 65_536, 1_000_000]) {
          const turned = (x, offset) => engine.rotaryEmbedding(x, { offset, interleaved }).data;
          const [q2, k2] = [turned(q, at + distance), turned(k, at)];
          const score = q2.reduce((sum, x, i) => sum + x * k2[i], 0);
          expectClose([score], [exact], 9 * oracle.u * size, { size, what: `score at ${at}` });
        }
      }
    }
  });

  test('PE(p + k) = M_k PE(p) within 2.4e-7, up to position 2^20', () => {
    const last = 2 ** 20;
    const dModel = 16;
    const row = (p) => engine.sinusoidalEncoding(1, dModel, { offset: p }).data;
    for (const [p, k] of [
      [0, last],
      [last, -last],
      [last - 77, 77],
      [last / 2, last / 2],
      [-last + 5, last],
    ]) {
      const m = engine.sinusoidalShift(k, dModel, { form: 'dense' }).data;
      const before = row(p);
      const moved = Array.from(before, (_, r) =>
        before.reduce((sum, x, c) => sum + m[r * dModel + c] * x, 0),
      );
      expectClose(moved, row(p + k), 2.4e-7, { size: 1, what: 'column' });
    }
  });
});
