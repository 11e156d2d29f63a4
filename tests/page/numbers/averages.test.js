// @build any
// Means, medians and quantiles, against definitions that do not sort.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';
import { randomOf as generator } from '../../support/js/random.js';

const { mean, median, quantile } = await modules('domain/averages');

test('averages: known values, in any order', () => {
  assert.equal(mean([1, 2, 6]), 3);
  assert.equal(mean(Float32Array.of(0.5, -1)), -0.25);
  assert.ok(Number.isNaN(mean([])));
  assert.equal(median([7]), 7);
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([10, 2, 1, 4]), 3);
  assert.equal(quantile([5, 1, 3, 2], 0.25), 1.75);
  assert.deepEqual([quantile([4, 1, 9], 0), quantile([4, 1, 9], 1)], [1, 9]);
  assert.deepEqual([quantile([10, 20, 40], 0.75), quantile([10, 20, 40], 0.125)], [30, 12.5]);
  assert.ok(Number.isNaN(median([])) && Number.isNaN(mean([1, undefined])));
});

test('averages: as many are below the median as above it, and the list stays as it was', () => {
  const next = generator(5);
  for (let count = 1; count <= 40; count++) {
    const values = Array.from({ length: count }, () => Math.round(100 * next()) - 50);
    const before = [...values];
    const middle = median(values);
    const below = values.filter((value) => value < middle).length;
    const above = values.filter((value) => value > middle).length;
    assert.ok(below <= count / 2 && above <= count / 2, `${values}: ${middle}`);
    assert.deepEqual(values, before);
  }
});
