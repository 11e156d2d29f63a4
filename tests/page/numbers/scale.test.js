// The numbers of the panel about the division by sqrt(d), in Node: against float64 and against chance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules, resultOf, startEngine } from '../support/engine.js';
import { randomOf as generator } from '../../support/js/random.js';

/** The page's own generator says what q and k are. */
const { normals, hashText } = await modules('engine/random');
const { qkv, web } = await startEngine();

const U = 2 ** -24;
const KEYS = 64;
const ROWS = 64;
const WIDTHS = [4, 8, 16, 32, 64, 128, 256, 512, 1024];
const sum = (values) => values.reduce((a, b) => a + b, 0);
const mean = (values) => sum(values) / values.length;

const studies = new Map();
/** What the panel finds for a sample, worked out once. */
function studyOf(sample) {
  if (!studies.has(sample)) studies.set(sample, resultOf(web.widthStudy(qkv, sample)));
  return studies.get(sample);
}

function entropy(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b));
  const powers = scores.map((s) => Math.exp(s - most));
  const total = sum(powers);
  return sum(powers.map((e) => (e > 0 ? -(e / total) * Math.log(e / total) : 0)));
}

/** q.k of a sample in float64, row by row, and the largest sum of |q_c k_c| of any of them. */
function products(width, sample) {
  const fill = normals(hashText(`width ${width}`, sample));
  let size = 0;
  const rows = Array.from({ length: ROWS }, () => {
    const [q, k] = [new Float32Array(width), new Float32Array(KEYS * width)];
    fill(q);
    fill(k);
    return Array.from({ length: KEYS }, (_, j) => {
      let dot = 0;
      let sizes = 0;
      for (let c = 0; c < width; c++) {
        const product = q[c] * k[j * width + c];
        dot += product;
        sizes += Math.abs(product);
      }
      size = Math.max(size, sizes);
      return dot;
    });
  });
  return { rows, size };
}

const varianceOf = (values) => mean(values.map((v) => v * v)) - mean(values) ** 2;

test('scale: the generator draws from N(0, 1)', () => {
  const count = 50_000;
  const draws = new Float32Array(count);
  normals(hashText('a test', 5))(draws);
  const moment = (power) => mean(Array.from(draws, (x) => x ** power));
  // Standard errors of the means of x, x^2, x^3 and x^4 are sqrt(1, 2, 15, 96 / count).
  const within = (value, wanted, variance) =>
    assert.ok(Math.abs(value - wanted) <= 5 * Math.sqrt(variance / count), `${value}: ${wanted}`);
  within(moment(1), 0, 1);
  within(moment(2), 1, 2);
  within(moment(3), 0, 15);
  within(moment(4), 3, 96);
  // By Kolmogorov and Smirnov: chance exceeds 2.2 / sqrt(count) once in ten thousand.
  const sorted = draws.sort();
  const density = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  let [below, at, most] = [0, -9, 0];
  for (let x = -9; x <= 9; x += 0.001) {
    below += (density(x) + 4 * density(x + 0.0005) + density(x + 0.001)) / 6000;
    while (at + 9 < count && sorted[at + 9] <= x + 0.001) at++;
    most = Math.max(most, Math.abs((at + 9) / count - below));
  }
  assert.ok(most <= 2.2 / Math.sqrt(count), `farthest from the distribution: ${most}`);
  const again = new Float32Array(10);
  normals(hashText('a test', 5))(again);
  const other = new Float32Array(10);
  normals(hashText('a test', 6))(other);
  assert.notDeepEqual(again, other);
});

/** How far a variance measured on independent rows that share a query may be from d: one standard deviation. */
const varianceError = (d) => Math.sqrt((2 * d + (2 * (d * d + 2 * d)) / KEYS) / ROWS);

for (const sample of [1, 2]) {
  test(`scale: scores and entropies equal the formulas in float64: sample ${sample}`, () => {
    const study = studyOf(sample);
    assert.ok(study.complete);
    assert.equal(study.sample, sample);
    assert.deepEqual(
      study.results.map(({ width }) => width),
      WIDTHS,
    );
    let worstEntropy = 0;
    let scoresBound = 0;
    for (const { width, plain, scaled } of study.results) {
      const { rows, size } = products(width, sample);
      const root = Math.sqrt(width);
      // The bound of a sum of d products in float32, whatever its order, as a share of sqrt(d).
      scoresBound = Math.max(scoresBound, ((width + 2) * U * size) / root);
      for (const [spread, factor] of [
        [plain, 1],
        [scaled, Math.fround(1 / root)],
      ]) {
        const scores = rows.map((row) => row.map((s) => s * factor));
        const off = expectSpread(spread, scores, factor === 1 ? root : 1);
        worstEntropy = Math.max(worstEntropy, off);
      }
    }
    assert.ok(study.error.scores > 0 && study.error.scores <= scoresBound);
    assert.ok(study.error.entropy > 0 && study.error.entropy < 5e-5);
    assert.ok(worstEntropy <= study.error.entropy, 'the mean is no worse than the worst row');
  });
}

/** Asks that a spread is that of these rows of scores; how far its mean entropy is off. */
function expectSpread(spread, rows, deviation) {
  const entropies = rows.map(entropy);
  const off = Math.abs(spread.entropy - mean(entropies));
  assert.ok(off <= 2e-5, `entropy: ${off}`);
  const all = rows.flat();
  assert.ok(Math.abs(spread.variance / varianceOf(all) - 1) < 1e-5, `variance ${spread.variance}`);
  const counts = new Array(32).fill(0);
  for (const score of all) {
    const bin = Math.floor((score / deviation + 4) * 4);
    if (bin >= 0 && bin < 32) counts[bin]++;
  }
  const moved = sum(counts.map((n, i) => Math.abs(n - spread.counts[i])));
  assert.ok(moved <= 4, `a score on an edge may fall to either side: ${moved}`);
  const squares = sum(entropies.map((h) => (h - mean(entropies)) ** 2));
  const error = Math.sqrt(squares / (ROWS - 1) / ROWS);
  assert.ok(Math.abs(spread.entropyError / error - 1) < 1e-3);
  return off;
}

test('scale: variances are d and 1, and wider is sharper unless divided', () => {
  for (const sample of [1, 2]) {
    const { results } = studyOf(sample);
    for (const { width, plain, scaled } of results) {
      const sure = 5 * varianceError(width);
      assert.ok(Math.abs(plain.variance - width) <= sure, `Var(q.k) = ${plain.variance}`);
      assert.ok(Math.abs(scaled.variance - 1) <= sure / width, `${scaled.variance}`);
      assert.ok(sure < width, 'a bound that could be exceeded');
    }
    const entropies = results.map(({ plain }) => plain.entropy);
    entropies.forEach((h, i) => assert.ok(i === 0 || h < entropies[i - 1], `${entropies}`));
    const divided = results.map(({ scaled }) => scaled.entropy);
    assert.ok(Math.max(...divided) - Math.min(...divided) < 0.15);
  }
});

/** E[H] over rows of 64 scores, by another generator and the library's own logarithm. */
function expectedEntropy(width, scale, rows) {
  const next = generator(width);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const found = Array.from({ length: rows }, () => {
    // Given q, the scores are independent and normal with variance |q|^2.
    const length = Math.sqrt(sum(Array.from({ length: width }, () => normal() ** 2)));
    return entropy(Array.from({ length: KEYS }, () => normal() * length * scale));
  });
  const centre = mean(found);
  const variance = sum(found.map((h) => (h - centre) ** 2)) / (rows - 1);
  return { centre, variance };
}

test('scale: mean entropies are those that chance leads to', () => {
  const { results } = studyOf(1);
  const trials = 2000;
  const expectMean = (spread, { centre, variance }) => {
    const sure = 5 * Math.sqrt(variance / ROWS + variance / trials);
    assert.ok(Math.abs(spread.entropy - centre) <= sure, `${spread.entropy}, ${centre}`);
  };
  for (const { width, plain, scaled } of results.filter((each) => each.width <= 64)) {
    expectMean(plain, expectedEntropy(width, 1, trials));
    const divided = expectedEntropy(width, 1 / Math.sqrt(width), trials);
    expectMean(scaled, divided);
    // What is shown as the law is close to the truth, and the page says by how much it is not.
    assert.ok(Math.abs(Math.log(KEYS) - 0.5 - divided.centre) < 0.07, `${divided.centre}`);
  }
});

test('scale: a width in a link is a power of two within the limits', () => {
  const widths = ['5', '6', '100', '0', '-3', '1e9', 'x'].map(
    (d) => web.parseFragment(`#v=1&d=${d}`, 'en').width,
  );
  assert.deepEqual(widths, [4, 8, 128, 4, 4, 1024, 64]);
});
