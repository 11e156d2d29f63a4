// The page's own softmax, entropy and ln of a sum of powers: by the formula where exp does not overflow, and where it would.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const { softmaxOf, entropyOf, logSumExp } = await modules('domain/softmax');
const near = (got, wanted) => assert.ok(Math.abs(got - wanted) < 1e-15 * Math.max(1, Math.abs(wanted)), `${got}, not ${wanted}`); // prettier-ignore

test('softmax: powers of e as parts of their sum, of numbers of any size', () => {
  const scores = [Math.log(1), Math.log(2), Math.log(5)];
  for (const shift of [0, 1000, -1000]) {
    const weights = softmaxOf(scores.map((score) => score + shift));
    [1 / 8, 2 / 8, 5 / 8].forEach((part, i) =>
      assert.ok(Math.abs(weights[i] - part) < 1e-12, `${weights[i]} at ${i}, shifted by ${shift}`),
    );
  }
});

test('softmax: what is excluded has exactly no weight, also where all are', () => {
  assert.deepEqual([...softmaxOf([-Infinity, 3, -Infinity])], [0, 1, 0]);
  assert.deepEqual([...softmaxOf([-Infinity, -Infinity])], [0, 0]);
  assert.deepEqual([...softmaxOf([])], []);
});

test('entropy: ln n of n equal weights, 0 of one, and nothing for a weight of 0', () => {
  near(entropyOf([0.25, 0.25, 0.25, 0.25]), Math.log(4));
  assert.equal(entropyOf([0, 1, 0]), 0);
  near(entropyOf([0.5, 0, 0.5]), Math.LN2);
});

test('log of a sum of powers: ln n more than n equal numbers, also where exp would overflow', () => {
  near(logSumExp([0, 0, 0]), Math.log(3));
  near(logSumExp([2000, 2000]), 2000 + Math.LN2);
  near(logSumExp([-2000, -2000]), -2000 + Math.LN2);
});
