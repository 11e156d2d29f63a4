// @build any
// Means, medians and quantiles, softmax and entropy, and the slope of a power law: against definitions, where numbers overflow,
// and against known data and chance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';
import { randomOf as generator } from '../../support/js/random.js';

const { mean, median, quantile, softmaxOf, entropyOf, logSumExp, fitPower } = await modules(
  'domain/{averages,softmax,power_fit}',
);

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
const lengths = [64, 128, 256, 512, 1024, 2048, 4096];
const within = (got, wanted, bound, what) =>
  assert.ok(Math.abs(got - wanted) <= bound, `${what}: ${got}, ${wanted}`);

test('slope: a power law is found exactly', () => {
  for (const [factor, power] of [
    [0.003, 2],
    [7, 1],
    [1e-9, -0.5],
  ]) {
    const fit = fitPower(
      lengths,
      lengths.map((x) => factor * x ** power),
    );
    within(fit.slope, power, 1e-12, 'slope');
    within(fit.factor / factor, 1, 1e-11, 'factor');
    within(fit.spread, 0, 1e-12, 'spread');
  }
});

test('slope: the normal equations in another form, and the textbook standard error', () => {
  const y = [1.1, 1.9, 4.3, 7.6, 16.9, 30, 67];
  const a = lengths.map(Math.log);
  const b = y.map(Math.log);
  const sum = (values) => values.reduce((s, v) => s + v, 0);
  const n = a.length;
  const xx = sum(a.map((v) => v * v));
  const xy = sum(a.map((v, i) => v * b[i]));
  const slope = (n * xy - sum(a) * sum(b)) / (n * xx - sum(a) ** 2);
  const intercept = (sum(b) - slope * sum(a)) / n;
  const residuals = sum(b.map((v, i) => (v - intercept - slope * a[i]) ** 2));
  const error = Math.sqrt(residuals / (n - 2) / (xx - sum(a) ** 2 / n));
  const fit = fitPower(lengths, y);
  within(fit.slope, slope, 1e-10, 'slope');
  within(fit.factor, Math.exp(intercept), 1e-10, 'factor');
  within(fit.spread, error, 1e-10, 'spread');
});

test('slope: the standard error is how far slopes of noisy data lie from the truth', () => {
  const next = generator(11);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const trials = 4000;
  let [squares, told] = [0, 0];
  for (let trial = 0; trial < trials; trial++) {
    const y = lengths.map((x) => 0.01 * x ** 1.5 * Math.exp(0.1 * normal()));
    const fit = fitPower(lengths, y);
    squares += (fit.slope - 1.5) ** 2;
    told += fit.spread ** 2;
  }
  // Both means estimate one variance; each is off by sqrt(2 / trials) and sqrt(2 / 5 / trials) of it.
  within(told / squares, 1, 5 * Math.sqrt((2 + 2 / 5) / trials), 'variance');
});

test('slope: points without a logarithm are left out, and too few points give no number', () => {
  const fit = fitPower([0, 64, 128, 256], [5, 1, 2, 4]);
  within(fit.slope, 1, 1e-12, 'slope');
  assert.ok(Number.isNaN(fitPower([64, 128], [1, 2]).spread));
  within(fitPower([64, 128], [1, 2]).slope, 1, 1e-12, 'slope of two points');
  assert.ok(Number.isNaN(fitPower([64, 64], [1, 2]).slope));
  assert.ok(Number.isNaN(fitPower([], []).slope));
});
