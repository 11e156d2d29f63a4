// @build any
// How near vectors are to each other.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { array, cosineSimilarity, nearest } from 'qkv/models';
import { random } from '../../support/js/arrays.js';
import { expectThrows } from '../../support/js/check.js';

const next = random(5);
const vectors = (count, width) => ({
  data: Float32Array.from({ length: count * width }, () => next()),
  shape: [count, width],
});
const row = ({ data, shape: [, width] }, i) => [...data.slice(i * width, (i + 1) * width)];
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

describe('cosineSimilarity', () => {
  test('is a . b / (|a| |b|) of all pairs, rounded once', () => {
    const [a, b] = [vectors(4, 37), vectors(3, 37)];
    const { data, shape } = cosineSimilarity(a, b);
    assert.deepEqual(shape, [4, 3]);
    for (let i = 0; i < 4; ++i) {
      for (let j = 0; j < 3; ++j) {
        const [x, y] = [row(a, i), row(b, j)];
        const expected = dot(x, y) / Math.sqrt(dot(x, x)) / Math.sqrt(dot(y, y));
        assert.ok(Math.abs(data[i * 3 + j] - expected) <= 2 ** -24, `${i} ${j}`);
      }
    }
  });

  test('of one array is that of its vectors with each other, and 0 beside zeros', () => {
    const { data, shape } = cosineSimilarity(array([[3, 4], [0, 0], [-4, 3]])); // prettier-ignore
    assert.deepEqual(shape, [3, 3]);
    assert.deepEqual([...data], [1, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert.deepEqual(cosineSimilarity(Float32Array.of(1, 1), array([[2, 2]])).shape, [1, 1]);
    assert.deepEqual(cosineSimilarity({ data: new Float32Array(0), shape: [0, 5] }).shape, [0, 0]);
  });
});

describe('nearest', () => {
  test('the nearest come first, and of equal ones the first', () => {
    const all = array([[0, 1], [2, 2], [1, 0], [1, 1], [-1, -1]]); // prettier-ignore
    const found = nearest(all, Float32Array.of(5, 5), 3);
    assert.deepEqual(found.map(({ index }) => index), [1, 3, 0]); // prettier-ignore
    const expected = [1, 1, Math.SQRT1_2];
    found.forEach(({ similarity }, i) => assert.ok(Math.abs(similarity - expected[i]) < 1e-12));
    assert.equal(nearest(all, array([[5, 5]])).length, 5);
    assert.equal(nearest(vectors(30, 4), vectors(1, 4)).length, 10);
    assert.deepEqual(
      nearest({ data: new Float32Array(0), shape: [0, 2] }, Float32Array.of(1, 2)),
      [],
    );
  });

  test('no rounding takes a vector beyond itself: an angle is that of a number up to 1', () => {
    const all = vectors(200, 7);
    for (let i = 0; i < 200; i += 1) {
      const one = all.data.slice(7 * i, 7 * (i + 1));
      const [{ index, similarity }] = nearest(all, one);
      assert.equal(index, i);
      assert.ok(similarity <= 1, `${similarity}`);
      const [opposite] = nearest({ data: one.map((x) => -x), shape: [1, 7] }, one);
      assert.ok(opposite.similarity >= -1, `${opposite.similarity}`);
    }
  });

  test('what is no number is the last', () => {
    const all = array([[NaN, 1], [-1, 0], [1, 0]]); // prettier-ignore
    const found = nearest(all, Float32Array.of(1, 0));
    assert.deepEqual(found.map(({ index }) => index), [2, 1, 0]); // prettier-ignore
  });
});

describe('what has no cosine is refused', () => {
  const a = vectors(2, 3);
  const cases = [
    ['cosineSimilarity', () => cosineSimilarity('x'), 'invalid_argument', 'a is "x"'],
    ['cosineSimilarity', () => cosineSimilarity(a, 1), 'invalid_argument', 'b is 1'],
    ['cosineSimilarity', () => cosineSimilarity(a, vectors(2, 4)), 'shape_mismatch', 'b has vectors of 4 numbers, expected 3'],
    ['cosineSimilarity', () => cosineSimilarity({ data: a.data, shape: [1, 2, 3] }), 'shape_mismatch', 'a is [1,2,3]'],
    ['nearest', () => nearest(a, a), 'shape_mismatch', 'query has 2 vectors'],
    ['nearest', () => nearest(a, Float32Array.of(1)), 'shape_mismatch', 'query has vectors of 1 numbers'],
    ['nearest', () => nearest(a, vectors(1, 3), 0), 'out_of_range', 'k is 0'],
    ['nearest', () => nearest(a, vectors(1, 3), 1.5), 'invalid_argument', 'k is 1.5'],
  ]; // prettier-ignore
  for (const [fn, call, code, says] of cases) {
    test(`${fn}: ${says}`, () => expectThrows(call, fn, code, says));
  }
});
