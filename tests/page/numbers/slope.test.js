// The slope of a power law and its standard error, against known data and against chance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';
import { randomOf as generator } from '../../support/js/random.js';

const { fitPower } = await modules('domain/power_fit');
const lengths = [64, 128, 256, 512, 1024, 2048, 4096];
const near = (got, wanted, bound, what) =>
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
    near(fit.slope, power, 1e-12, 'slope');
    near(fit.factor / factor, 1, 1e-11, 'factor');
    near(fit.spread, 0, 1e-12, 'spread');
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
  near(fit.slope, slope, 1e-10, 'slope');
  near(fit.factor, Math.exp(intercept), 1e-10, 'factor');
  near(fit.spread, error, 1e-10, 'spread');
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
  near(told / squares, 1, 5 * Math.sqrt((2 + 2 / 5) / trials), 'variance');
});

test('slope: points without a logarithm are left out, and too few points give no number', () => {
  const fit = fitPower([0, 64, 128, 256], [5, 1, 2, 4]);
  near(fit.slope, 1, 1e-12, 'slope');
  assert.ok(Number.isNaN(fitPower([64, 128], [1, 2]).spread));
  near(fitPower([64, 128], [1, 2]).slope, 1, 1e-12, 'slope of two points');
  assert.ok(Number.isNaN(fitPower([64, 64], [1, 2]).slope));
  assert.ok(Number.isNaN(fitPower([], []).slope));
});
