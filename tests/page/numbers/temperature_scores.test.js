// What the panel about temperature computes of a row, from the definitions in float64: moments, the Jacobian, bins, and when the
// formula is said to hold. Scores are the test's, and so is the engine, which can be told to be wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules(
  'features/temperature/worker/temperature_study',
  'features/temperature/shared/constants',
  'features/temperature/state',
  'engine/random',
  'domain/temperatures',
);

const sum = (values) => values.reduce((a, b) => a + b, 0);
const mean = (values) => sum(values) / values.length;
const close = (got, wanted, name, within = 1e-9) =>
  assert.ok(
    Object.is(got, wanted) || Math.abs(got - wanted) <= within * Math.abs(wanted),
    `${name}: ${got}, not ${wanted}`,
  );

// ---- an engine ----

function softmax(scores, tau) {
  const most = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp((score - most) / tau));
  const all = sum(powers);
  return Float64Array.from(powers, (power) => power / all);
}
const entropyOf = (weights) => sum(Array.from(weights, (p) => (p > 0 ? -p * Math.log(p) : 0)));

/** An engine in float64; `wrong` says by how much its entropies and weights are off. */
const engine = (wrong = {}) => ({
  softmax({ data, shape }, { temperature }) {
    assert.deepEqual(shape, [data.length]);
    const factor = 1 + (wrong.weights?.(temperature) ?? 0);
    return { data: softmax(data, temperature).map((p) => p * factor) };
  },
  entropy: ({ data }) => ({ data: [entropyOf(data) + (wrong.entropy ?? 0)] }),
});

/** A row of these scores, as a head has it: the keys that the mask leaves a query are [0, row]. */
function rowOf(scores, row = scores.length - 1) {
  const asked = [];
  const head = {
    row(...args) {
      asked.push(args);
      return { logits: { data: Float32Array.of(...scores, 7, 8, 9) } };
    },
  };
  const mask = { kind: 'causal' };
  const of = web.rowScores(head, row, mask);
  assert.deepEqual(asked, [[row, { mask, temperature: 1 }, { returnLogits: 'biased' }]]);
  return of;
}

const ROWS = [
  [0.5, -1, 2, 0.25, 4, -3.5, 0, 0.125],
  [3, 1, 1, 0],
  [-2, -8],
  [1, 1, 1, 1, 1, 5, 5],
  Array.from({ length: 40 }, (_, i) => Math.fround(Math.sin(3 * i) * (1 + i / 20))),
];

test('temperature: a row has its mean, its cumulants, the distance of the largest two and tau_c', () => {
  for (const scores of ROWS) {
    const of = rowOf(scores);
    assert.deepEqual([...of.scores], scores);
    assert.deepEqual([of.source, of.row], ['row', scores.length - 1]);
    const centre = mean(scores);
    close(of.mean, centre, 'mean');
    const mu = [0, 1, 2, 3, 4, 5, 6].map((r) => mean(scores.map((s) => (s - centre) ** r)));
    // kappa_n = mu_n - sum_m binomial(n - 1, m - 1) kappa_m mu_(n - m), from m = 2 on as kappa_1 is 0.
    const kappa = [NaN, 0];
    const binomial = (n, k) => (k === 0 ? 1 : (binomial(n, k - 1) * (n - k + 1)) / k);
    for (let n = 2; n <= 6; n++) {
      kappa[n] = mu[n];
      for (let m = 2; m < n; m++) kappa[n] -= binomial(n - 1, m - 1) * kappa[m] * mu[n - m];
    }
    assert.equal(of.cumulants.length, 7);
    for (let r = 2; r <= 6; r++) {
      const off = Math.abs(of.cumulants[r] - kappa[r]);
      assert.ok(off <= 1e-9 * mu[2] ** (r / 2), `kappa ${r}: ${of.cumulants[r]}, not ${kappa[r]}`);
    }
    assert.ok(of.cumulants.slice(0, 2).every(Number.isNaN));
    const [first, second] = [...scores].sort((a, b) => b - a);
    assert.equal(of.gap, first - second);
    close(of.critical, Math.sqrt(mu[2]) / Math.sqrt(2 * Math.log(scores.length)), 'tau_c');
  }
  const { critical, gap, cumulants } = rowOf([3]);
  assert.deepEqual([critical, gap, cumulants[2]], [null, null, 0]);
  const [a, b] = [rowOf([1, 2]), rowOf([1, 2])];
  assert.equal(b.id, a.id + 1);
  assert.throws(
    () => web.rowScores({ row: () => ({}) }, 0, { kind: 'none' }),
    /left out its scores/,
  );
});

test('temperature: random scores are one query against 256 keys of variance 1/2', () => {
  const asked = [];
  const logits = { data: Float32Array.of(1, 2, 4) };
  const of = web.randomScores({ attention: (...args) => (asked.push(args), { logits }) }, 11);
  const [[q, k, v, options]] = asked;
  assert.deepEqual(options, { numHeads: 1, returnLogits: 'raw' });
  assert.deepEqual([q.shape, k.shape, v], [[1, 64], [256, 64], k]);
  const fill = web.normals(web.hashText('temperature', 11));
  for (const { data, shape } of [q, k]) {
    const wanted = new Float32Array(shape[0] * 64);
    fill(wanted);
    data.forEach((value, i) => close(value, Math.fround(wanted[i] * Math.SQRT1_2), `${i}`, 1e-6));
  }
  assert.deepEqual([of.source, of.row, of.gap, [...of.scores]], ['random', 11, 2, [1, 2, 4]]);
  assert.throws(() => web.randomScores({ attention: () => ({}) }, 1), /left out the scores/);
});

/** |(diag(p) - p p^T) / tau|, entry by entry; 1 - p of the largest is the sum of the others. */
function jacobian(weights, tau) {
  const rest = (i) => sum(Array.from(weights, (p, j) => (j === i ? 0 : p)));
  let squares = 0;
  weights.forEach((p, i) => {
    weights.forEach((other, j) => (squares += ((i === j ? p * rest(i) : -p * other) / tau) ** 2));
  });
  return Math.sqrt(squares);
}

test('temperature: the error is the largest of the three', () => {
  const of = rowOf(ROWS[0]);
  const errorWith = (wrong) => web.temperaturePoint(engine(wrong), of, 2).error;
  close(errorWith({ entropy: 0.25 }), 0.25, 'entropy too large');
  close(errorWith({ entropy: -0.25 }), 0.25, 'entropy too small');
  const off = (factor) => {
    const weights = softmax(of.scores, 2);
    const other = weights.map((p) => p * factor);
    return [
      Math.abs(entropyOf(other) - entropyOf(weights)),
      Math.abs(factor - 1) * Math.max(...weights),
    ];
  };
  for (const [weights, entropy] of [
    [0.125, 0],
    [-0.5, 0],
    [
      0.125,
      entropyOf(softmax(of.scores, 2)) * -0.125 +
        sum([...softmax(of.scores, 2)]) * 1.125 * Math.log(1.125),
    ],
  ]) {
    const point = web.temperaturePoint(engine({ weights: () => weights, entropy }), of, 2);
    const [h, largest] = off(1 + weights);
    const own = softmax(of.scores, 2);
    const gradient = Math.abs(point.gradient - jacobian(own, 2));
    const entropies = Math.abs(point.entropy - entropyOf(own));
    close(point.error, Math.max(entropies, largest, gradient), 'the largest');
    assert.ok(h > 0);
  }
  assert.ok(Number.isNaN(errorWith({ entropy: NaN })), 'what is no number is no small error');
});

test('temperature: the Jacobian that is drawn is the derivative of the softmax', () => {
  const STEP = 1e-4;
  for (const row of ROWS.slice(0, 5)) {
    const of = rowOf(row);
    for (const tau of [0.3, 1, 4]) {
      const { keys, values } = web.temperaturePoint(engine(), of, tau).jacobian;
      const largest = Math.min(...keys.map((key) => of.scores[key]));
      assert.ok(of.scores.every((score, key) => keys.includes(key) || score <= largest));
      for (const [j, moved] of keys.entries()) {
        const [above, below] = [STEP, -STEP].map((by) =>
          softmax(
            Float64Array.from(of.scores, (score, key) => score + (key === moved ? by : 0)),
            tau,
          ),
        );
        for (const [i, key] of keys.entries()) {
          const slope = (above[key] - below[key]) / (2 * STEP);
          const error = Math.abs(values[i * keys.length + j] - slope);
          assert.ok(error < 1e-6 / tau, `${key} by ${moved} at ${tau}: ${error}`);
        }
      }
    }
  }
});

test('temperature: the theory, what it leaves out, and the verdict on either side of each bound', () => {
  const factorial = [1, 1, 2, 6, 24, 120, 720];
  const of = rowOf(ROWS[4]);
  const at = (tau, row = of) => web.temperaturePoint(engine(), row, tau);
  for (const tau of [0.2, 1, 3, 20]) {
    const left = [3, 4, 5, 6].map(
      (r) => (((r - 1) / factorial[r]) * Math.abs(of.cumulants[r])) / tau ** r,
    );
    close(at(tau).correction, sum(left), 'left out');
    close(at(tau).theory, Math.log(40) - of.cumulants[2] / tau / tau / 2, 'theory');
  }
  const { critical } = of;
  const verdicts = [0.999999, 1, 2.999999].map((factor) => at(factor * critical).verdict);
  assert.deepEqual(verdicts, ['collapse', 'close', 'close']);
  assert.ok(['shape', 'holds'].includes(at(3 * critical).verdict));
  // Where the terms left out come to 0.03 nats.
  let [low, high] = [3 * critical, 100];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (at(middle).correction > 0.03) low = middle;
    else high = middle;
  }
  const skewed = rowOf([0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
  [low, high] = [3 * skewed.critical, 100];
  assert.ok(at(low, skewed).correction > 0.03, 'a row that is not normal');
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (at(middle, skewed).correction > 0.03) low = middle;
    else high = middle;
  }
  assert.deepEqual(
    [at(low * 0.9999, skewed).verdict, at(high * 1.0001, skewed).verdict],
    ['shape', 'holds'],
  );
  const even = rowOf([1, 2]); // its cumulants of odd order are 0
  for (let tau = 3 * even.critical; tau < 9; tau *= 1.01) {
    const { verdict, correction } = at(tau, even);
    assert.equal(verdict, correction <= 0.03 ? 'holds' : 'shape');
  }
  assert.equal(at(1, rowOf([4])).verdict, 'single');
  assert.equal(at(1, rowOf([4, 4])).verdict, 'equal');
  assert.equal(web.PROMISE, 0.04);
});

// ---- curves ----

/** What a study yields on its way, and its result. */
function studyOf(of, qkv = engine()) {
  const news = [...web.temperatureStudy(qkv, of)];
  assert.equal(news.length, 16, 'it pauses after every eight temperatures');
  assert.ok(news.slice(0, -1).every((one) => one === undefined));
  return news.at(-1);
}

test('temperature: curves go over 121 temperatures, each the same multiple of the one before', () => {
  const of = rowOf(ROWS[0]);
  const study = studyOf(of);
  assert.equal(study.id, of.id);
  assert.equal(study.temperatures.length, 121);
  study.temperatures.forEach((tau, i) => {
    close(tau, 0.05 * 400 ** (i / 120), 'temperature');
    const weights = softmax(of.scores, tau);
    const wanted = {
      entropy: entropyOf(weights),
      largest: Math.max(...weights),
      gradient: jacobian(weights, tau),
    };
    for (const [name, value] of Object.entries(wanted)) {
      const off = Math.abs(study[name][i] - value);
      assert.ok(off <= 1e-9 * value, `${name} at ${tau}: ${study[name][i]}, not ${value}`);
    }
    close(study.theory[i], Math.log(8) - of.cumulants[2] / (2 * tau * tau), 'theory');
  });
  const { entropy, largest, gradient } = study.error;
  assert.ok([entropy, largest, gradient].every((off) => off >= 0 && off < 1e-12));
});

test('temperature: the errors of curves are the largest over all temperatures, one by one', () => {
  const of = rowOf([0.05, 0.125, 0.1]);
  // Wrong at one temperature alone: of the first eight, in the middle, the last.
  for (const at of [0.05, 1, 20]) {
    const near = (tau) => Math.abs(tau / at - 1) < 0.01;
    const { error } = studyOf(of, engine({ weights: (tau) => (near(tau) ? 0.5 : 0) }));
    const weights = softmax(of.scores, at);
    close(error.largest, 0.5 * Math.max(...weights), `at ${at}`, 1e-6);
    assert.ok(error.entropy > 1e-3 && error.gradient > 1e-12, JSON.stringify(error));
  }
  const shifted = studyOf(of, engine({ entropy: 2 })).error;
  close(shifted.entropy, 2, 'entropy');
  assert.ok(shifted.largest < 1e-12 && shifted.gradient < 1e-12);
});

test("temperature: bins are as many as Rice's rule gives, from the smallest score to the largest", () => {
  const binsOf = (scores) => studyOf(rowOf(scores)).histogram;
  assert.deepEqual(binsOf([3]), { from: 2.5, width: 1, counts: [1] });
  assert.deepEqual(binsOf([-4, -4, -4]), { from: -4.5, width: 1, counts: [3] });
  assert.deepEqual(binsOf([0, 10]), { from: 0, width: 2, counts: [1, 0, 0, 0, 1] });
  assert.deepEqual(binsOf([-5, 5, -3, 1.5]), { from: -5, width: 2, counts: [1, 1, 0, 1, 1] });
  for (const [keys, bins] of [
    [8, 5],
    [15, 5],
    [16, 6],
    [27, 6],
    [28, 7],
    [64, 8],
    [65, 9],
  ]) {
    const scores = Array.from({ length: keys }, (_, i) => i - 3);
    const { from, width, counts } = binsOf(scores);
    assert.deepEqual([from, counts.length, sum(counts)], [-3, bins, keys], `${keys} keys`);
    close(width, (keys - 1) / bins, 'width');
    const wanted = new Array(bins).fill(0);
    for (const score of scores)
      wanted[score - from === keys - 1 ? bins - 1 : Math.floor((score - from) / width)]++;
    assert.deepEqual(counts, wanted);
  }
});

// ---- a gain ----

test('temperature: a gain in a link has three digits and limits', () => {
  const { gain, curves, scores } = web.temperatureFields;
  assert.deepEqual(['0.1', '0.25', '1.23456', '4', '5', 'x', ''].map(gain.read), [
    0.25,
    0.25,
    1.23,
    4,
    4,
    undefined,
    undefined,
  ]);
  assert.deepEqual([gain.initial, curves.initial, scores.initial], [2, true, 'random']);
  assert.deepEqual([gain.key, curves.key, scores.key], ['gc', 'curves', 'ts']);
  const state = { scores: 'row', gain: 3, curves: false };
  assert.deepEqual(web.temperatureRequest(state), { scores: 'row', gain: 3 });
});
