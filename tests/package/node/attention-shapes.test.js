// attention(): every rank, head count and size gives what the formula says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { filled, problem, randomArray, toRank } from '../../support/js/arrays.js';
import { expectSame, expectSameResult } from '../../support/js/check.js';
import { allExtras, allResults, expectResults } from '../../support/js/expect-results.js';
import * as oracle from '../../support/js/oracle.js';

const engine = await init();

/** Runs attention() with all extras against the oracle. */
function expectExact({ q, k, v }, options = {}) {
  const result = engine.attention(q, k, v, { ...allExtras, ...options });
  const exact = oracle.attention(q, k, v, options);
  const tk = k.shape.at(-2);
  expectResults(result, exact, tk, allResults);
  return result;
}

test('rank 4 is within the bound of the formula', () => {
  const { output, weights, lse } = expectExact(problem({ dK: 16, dV: 12, tk: 11 }));
  assert.deepEqual(output.shape, [2, 4, 7, 12]);
  assert.deepEqual(weights.shape, [2, 4, 7, 11]);
  assert.deepEqual(lse.shape, [2, 4, 7]);
});

test('rank 3 is within the bound of the formula', () => {
  const { q, k, v } = problem({ tk: 9 });
  const split = { q: toRank(q, 3), k: toRank(k, 3), v: toRank(v, 3) };
  assert.deepEqual(expectExact(split, { numHeads: 4 }).output.shape, [2, 7, 32]);
});

test('ranks 4, 3 and 2 agree bit for bit', () => {
  const { q, k, v } = problem({ batch: 1, tk: 9, dV: 5 });
  const expected = engine.attention(q, k, v, allExtras);
  for (const rank of [3, 2]) {
    const options = { ...allExtras, numHeads: 4 };
    const result = engine.attention(toRank(q, rank), toRank(k, rank), toRank(v, rank), options);
    const output = toRank(expected.output, rank);
    expectSameResult(result, { ...expected, output });
  }
});

test('ranks may be mixed', () => {
  const { q, k, v } = problem({ batch: 1 });
  const expected = engine.attention(q, k, v, allExtras);
  for (const [rq, rk, rv] of [
    [4, 3, 2],
    [2, 4, 3],
    [3, 2, 4],
    [4, 4, 2],
    [2, 3, 3],
  ]) {
    const arrays = [toRank(q, rq), toRank(k, rk), toRank(v, rv)];
    const result = engine.attention(...arrays, { ...allExtras, numHeads: 4 });
    expectSameResult(result, { ...expected, output: toRank(expected.output, rq) });
  }
});

test('numHeads may repeat what rank 4 says', () => {
  const { q, k, v } = problem({ kvHeads: 2 });
  expectSameResult(
    engine.attention(q, k, v, { numHeads: 4, numKvHeads: 2 }),
    engine.attention(q, k, v),
  );
});

for (const kvHeads of [4, 2, 1]) {
  test(`4 query heads read ${kvHeads} key/value heads in groups of ${4 / kvHeads}`, () => {
    const { q, k, v } = problem({ kvHeads, tk: 6 });
    const { output } = expectExact({ q, k, v });
    const repeated = ({ data, shape: [b, , t, d] }) =>
      filled([b, 4, t, d], (i) => {
        const [batch, head, rest] = [
          Math.floor(i / (4 * t * d)),
          Math.floor(i / (t * d)) % 4,
          i % (t * d),
        ];
        return data[(batch * kvHeads + Math.floor(head / (4 / kvHeads))) * t * d + rest];
      });
    expectSame(output.data, engine.attention(q, repeated(k), repeated(v)).output.data);
    const split = [toRank(q, 3), toRank(k, 3), toRank(v, 3)];
    const side = engine.attention(...split, { numHeads: 4, numKvHeads: kvHeads });
    expectSame(side.output.data, toRank(output, 3).data);
  });
}

const sizes = [1, 2, 3, 5, 63, 64, 65];

test('every number of queries and keys works', () => {
  for (const tq of sizes) {
    for (const tk of sizes) expectExact(problem({ batch: 1, heads: 1, tq, tk, dK: 7, dV: 3 }));
  }
});

test('every head width works', () => {
  for (const dK of sizes) {
    for (const dV of sizes) expectExact(problem({ batch: 1, heads: 1, tq: 6, dK, dV }));
  }
});

test('every number of heads and batch rows works', () => {
  for (const heads of [1, 2, 3, 5, 12]) {
    for (const batch of [1, 2, 3, 5]) expectExact(problem({ batch, heads, tq: 3, dK: 5 }));
  }
});

test('batch rows and heads are independent, bit for bit', () => {
  const { q, k, v } = problem();
  const all = engine.attention(q, k, v).output;
  const part = ({ data, shape: [, , t, d] }, at) => ({
    data: data.slice(at * t * d, (at + 1) * t * d),
    shape: [1, 1, t, d],
  });
  for (let at = 0; at < 8; ++at) {
    const alone = engine.attention(part(q, at), part(k, at), part(v, at)).output;
    expectSame(part(all, at).data, alone.data);
  }
});

test('no queries give an empty result', () => {
  const { k, v } = problem();
  const result = engine.attention(randomArray([2, 4, 0, 8], 1), k, v, allExtras);
  assert.deepEqual(result.output.shape, [2, 4, 0, 8]);
  assert.deepEqual(result.weights.shape, [2, 4, 0, 7]);
  assert.deepEqual(result.lse.shape, [2, 4, 0]);
  for (const { data } of Object.values(result)) assert.equal(data.length, 0);
  const { output } = engine.attention(
    toRank(randomArray([1, 2, 0, 3], 1), 2),
    ...[k, v].map(emptyPair),
    {
      numHeads: 2,
    },
  );
  assert.deepEqual(output.shape, [0, 6]);
});
const emptyPair = () => ({ data: new Float32Array(0), shape: [0, 6] });

test('no batch rows give an empty result', () => {
  const none = { data: new Float32Array(0), shape: [0, 3, 8] };
  const { output, entropy } = engine.attention(none, none, none, {
    numHeads: 2,
    returnEntropy: true,
  });
  assert.deepEqual([output.shape, output.data.length], [[0, 3, 8], 0]);
  assert.deepEqual([entropy.shape, entropy.data.length], [[0, 2, 3], 0]);
});

test('no keys give rows without keys: zeros, lse -Infinity, entropy 0', () => {
  const { q } = problem();
  const none = { data: new Float32Array(0), shape: [2, 4, 0, 8] };
  const { output, weights, lse, entropy } = engine.attention(q, none, none, allExtras);
  assert.deepEqual(output.shape, [2, 4, 7, 8]);
  assert.ok(output.data.every((x) => x === 0));
  assert.deepEqual([weights.shape, weights.data.length], [[2, 4, 7, 0], 0]);
  assert.ok(lse.data.every((x) => x === -Infinity));
  assert.ok(entropy.data.every((x) => x === 0));
});

test('logits of 1e4 and logits all alike give the limits of the softmax', () => {
  const q = filled([1, 1, 2, 4], (i) => (i < 4 ? 100 : 0));
  const k = filled([1, 1, 5, 4], (i) => (i < 4 ? 50 : -50));
  const v = randomArray([1, 1, 5, 4], 3);
  const { output, weights } = engine.attention(q, k, v, allExtras);
  assert.deepEqual([...weights.data.slice(0, 5)], [1, 0, 0, 0, 0]);
  expectSame(output.data.slice(0, 4), v.data.slice(0, 4));
  assert.deepEqual([...weights.data.slice(5)], Array(5).fill(Math.fround(0.2)));
});
