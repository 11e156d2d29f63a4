// @build each
// attention(): every rank, head count and size gives what the formula says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { filled, problem, randomArray, toRank } from '../../support/js/arrays.js';
import { expectSame, expectSameResult } from '../../support/js/check.js';
import { allExtras, expectAttention } from '../../support/js/expect-results.js';

const engine = await init();

const expectExact = (...of) => expectAttention(engine, ...of);

test('attention: rank 4 is within the bound of the formula', () => {
  const { output, weights, lse } = expectExact(problem({ dK: 16, dV: 12, tk: 11 }));
  assert.deepEqual(output.shape, [2, 4, 7, 12]);
  assert.deepEqual(weights.shape, [2, 4, 7, 11]);
  assert.deepEqual(lse.shape, [2, 4, 7]);
});

test('attention: rank 3 is within the bound of the formula', () => {
  const { q, k, v } = problem({ tk: 9 });
  const split = { q: toRank(q, 3), k: toRank(k, 3), v: toRank(v, 3) };
  assert.deepEqual(expectExact(split, { numHeads: 4 }).output.shape, [2, 7, 32]);
});

test('attention: ranks 4, 3 and 2 agree bit for bit', () => {
  const { q, k, v } = problem({ batch: 1, tk: 9, dV: 5 });
  const expected = engine.attention(q, k, v, allExtras);
  for (const rank of [3, 2]) {
    const options = { ...allExtras, numHeads: 4 };
    const result = engine.attention(toRank(q, rank), toRank(k, rank), toRank(v, rank), options);
    const output = toRank(expected.output, rank);
    expectSameResult(result, { ...expected, output });
  }
});

test('attention: ranks may be mixed', () => {
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

test('attention: numHeads may repeat what rank 4 says', () => {
  const { q, k, v } = problem({ kvHeads: 2 });
  expectSameResult(
    engine.attention(q, k, v, { numHeads: 4, numKvHeads: 2 }),
    engine.attention(q, k, v),
  );
});

for (const kvHeads of [4, 2, 1]) {
  test(`attention: 4 query heads read ${kvHeads} key/value heads in groups of ${4 / kvHeads}`, () => {
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

test('attention: no queries give an empty result', () => {
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

test('attention: no batch rows give an empty result', () => {
  const none = { data: new Float32Array(0), shape: [0, 3, 8] };
  const { output, entropy } = engine.attention(none, none, none, {
    numHeads: 2,
    returnEntropy: true,
  });
  assert.deepEqual([output.shape, output.data.length], [[0, 3, 8], 0]);
  assert.deepEqual([entropy.shape, entropy.data.length], [[0, 2, 3], 0]);
});

test('attention: no keys give rows without keys: zeros, lse -Infinity, entropy 0', () => {
  const { q } = problem();
  const none = { data: new Float32Array(0), shape: [2, 4, 0, 8] };
  const { output, weights, lse, entropy } = engine.attention(q, none, none, allExtras);
  assert.deepEqual(output.shape, [2, 4, 7, 8]);
  assert.ok(output.data.every((x) => x === 0));
  assert.deepEqual([weights.shape, weights.data.length], [[2, 4, 7, 0], 0]);
  assert.ok(lse.data.every((x) => x === -Infinity));
  assert.ok(entropy.data.every((x) => x === 0));
});
