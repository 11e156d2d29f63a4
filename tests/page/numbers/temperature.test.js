// The numbers of the panel about temperature against the formulas in float64, from the engine of the page in Node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultOf, startEngine } from '../support/engine.js';
import { allowedKeys } from '../support/oracle.js';
import { curvePoint, law } from '../support/curves.js';

const { ask: askPage, qkv, request, tensors, web } = await startEngine();
/** The panel shows random scores until its reader asks for the row of the query. */
const ask = (patch) => askPage({ scores: 'row', ...patch });

/** The scores of the query's row that are not masked, from the tensors of all heads. */
function scoresOfMap() {
  const { layer, view } = request();
  const count = layer.tokens.length;
  const [first, end] = allowedKeys(layer.mask, view.query, count);
  const { scores } = tensors().heads[view.head];
  return Array.from(scores.slice(view.query * count + first, view.query * count + end));
}

const studyOf = (of) => resultOf(web.temperatureStudy(qkv, of));

const CASES = [
  { source: 'constructed', query: 7, mask: 'causal', temperature: 1 },
  { source: 'constructed', head: 1, mask: 'none', temperature: 0.3 },
  { source: 'random', head: 2, mask: 'window', temperature: 0.05 },
  { source: 'random', head: 1, mask: 'none', temperature: 3, length: 256 },
  { source: 'random', head: 3, mask: 'causal', temperature: 20, query: 1 },
];
const NAMES = ['entropy', 'largest', 'gradient'];
const nameOf = (patch) => Object.entries(patch).flat().join(' ');

for (const patch of CASES) {
  test(`temperature: curves and numbers equal the formulas in float64: ${nameOf(patch)}`, () => {
    const { temperature: point } = ask(patch);
    const own = Array.from(point.of.scores);
    // The row alone is computed by another product than the whole head: its scores may round otherwise.
    const scores = scoresOfMap();
    assert.equal(own.length, scores.length);
    own.forEach((s, j) =>
      assert.ok(Math.abs(s - scores[j]) < 1e-5 * (1 + Math.abs(s)), `score ${j}`),
    );
    const { theory, critical } = law(own);
    const close = (a, b, size) => assert.ok(Math.abs(a - b) <= 1e-12 * size, `${a}, not ${b}`);
    close(point.of.critical, critical, 100);

    const study = studyOf(point.of);
    const largestErrors = { entropy: 0, largest: 0, gradient: 0 };
    let told = 0;
    assert.equal(study.temperatures.length, 121);
    study.temperatures.forEach((tau, i) => {
      close(tau, 0.05 * 400 ** (i / 120), 100);
      close(study.theory[i], theory(tau), 1e3 * (1 + Math.abs(theory(tau))));
      const wanted = curvePoint(own, tau);
      const wrong = curvePoint(own, tau * 1.02);
      for (const name of NAMES) {
        const off = Math.abs(study[name][i] - wanted[name]);
        assert.ok(off <= wanted.bounds[name], `${name} at ${tau}: ${off}`);
        largestErrors[name] = Math.max(largestErrors[name], off);
        if (Math.abs(study[name][i] - wrong[name]) > wanted.bounds[name]) told++;
      }
    });
    assert.ok(told > 150, `the bounds see a temperature off by two percent: ${told} of 363 times`);
    for (const name of NAMES) {
      const difference = Math.abs(largestErrors[name] - study.error[name]);
      assert.ok(difference < 1e-12, `${name}: its own check`);
      assert.ok(study.error[name] < 1e-5);
    }
    const wanted = curvePoint(own, patch.temperature);
    for (const name of NAMES) {
      assert.ok(Math.abs(point[name] - wanted[name]) <= wanted.bounds[name], name);
    }
    close(point.theory, theory(patch.temperature), 1e3 * (1 + Math.abs(point.theory)));
    const counts = study.histogram.counts;
    assert.equal(
      counts.reduce((a, b) => a + b),
      own.length,
    );
  });
}

test('temperature: its scores and entropy are those of the map', () => {
  const { temperature, query } = ask({ source: 'random', head: 1, temperature: 0.4 });
  assert.ok(Math.abs(temperature.entropy - query.entropy) < 1e-6);
  assert.ok(Math.abs(temperature.largest - Math.max(...query.weights)) < 1e-6);
});

test('temperature: where it says that the formula holds, it does', () => {
  const seen = {};
  for (let head = 0; head < 4; head++) {
    for (const temperature of [0.1, 0.7, 1.5, 2, 3, 5, 10, 20]) {
      const patch = { source: 'random', mask: 'none', length: 64, head, temperature };
      const { temperature: point } = ask(patch);
      const { critical } = law(Array.from(point.of.scores));
      const { verdict } = point;
      if (temperature < critical) assert.equal(verdict, 'collapse');
      else if (temperature < 3 * critical) assert.equal(verdict, 'close');
      else assert.ok(['shape', 'holds'].includes(verdict), verdict);
      if (verdict === 'holds') assert.ok(Math.abs(point.theory - point.entropy) < 0.04);
      seen[verdict] = (seen[verdict] ?? 0) + 1;
    }
  }
  assert.ok(seen.collapse && seen.close && seen.shape && seen.holds, JSON.stringify(seen));
});

test('temperature: a single key has no entropy at any temperature', () => {
  const { temperature: point } = ask({ query: 0 });
  assert.equal(point.of.critical, null);
  assert.equal(point.verdict, 'single');
  const { entropy, gradient } = studyOf(point.of);
  assert.ok(entropy.every((h) => h === 0));
  assert.ok(gradient.every((g) => g === 0));
});

test('temperature: keys that are all alike share the row at any temperature', () => {
  const { temperature: point } = ask({ query: 7, head: 5 });
  assert.equal(point.verdict, 'equal');
  const count = point.of.scores.length;
  const { temperatures, entropy, gradient } = studyOf(point.of);
  assert.ok(entropy.every((h) => Math.abs(h - Math.log(count)) < 1e-6));
  gradient.forEach((g, i) => {
    const wanted = Math.sqrt(count - 1) / count / temperatures[i]; // |I/n - 1/n^2|_F
    assert.ok(Math.abs(g / wanted - 1) < 1e-6);
  });
});

test('temperature: a new temperature computes a point, a new row its curves', () => {
  const random = { source: 'random' };
  const first = ask(random);
  const { ran, temperature } = ask({ ...random, temperature: 2 });
  assert.ok(ran.includes('temperature') && !ran.includes('row scores'), `${ran}`);
  assert.equal(temperature.of.id, first.temperature.of.id);
  const other = ask({ ...random, temperature: 2, query: 2 });
  assert.ok(other.ran.includes('row scores'));
  assert.equal(other.temperature.of.id, temperature.of.id + 1);
  assert.equal(other.temperature.of.row, 2);
});

/** LayerNorm with the gain c, q.k / sqrt(d) and the softmax at tau, in float64 from the drawn numbers. */
function exactGain(rows, c, tau) {
  const width = rows[0].length;
  const normed = rows.map((row) => {
    const mean = row.reduce((a, b) => a + b, 0) / width;
    const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / width;
    return row.map((x) => (c * (x - mean)) / Math.sqrt(variance + 1e-5));
  });
  const [q, ...keys] = normed;
  const scores = keys.map((k) => k.reduce((dot, x, i) => dot + x * q[i], 0) / Math.sqrt(width));
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp((score - most) / tau));
  const sum = powers.reduce((a, b) => a + b, 0);
  const mean = scores.reduce((a, b) => a + b, 0) / scores.length;
  return {
    deviation: Math.sqrt(scores.reduce((s, x) => s + (x - mean) ** 2, 0) / scores.length),
    entropy: powers.reduce((h, e) => (e > 0 ? h - (e / sum) * Math.log(e / sum) : h), 0),
    largest: 1 / sum,
  };
}

for (const [gain, temperature] of [
  [2, 1],
  [0.25, 0.1],
  [4, 20],
]) {
  test(`temperature: a gain of ${gain} at ${temperature} is what the formula says, and c^2 tau undoes it`, () => {
    const { gain: found } = ask({ gain, temperature, seed: 7 }).temperature;
    const fill = web.normals(web.hashText('gain', 7));
    const rows = [1, 256].flatMap((count) => {
      const data = new Float32Array(count * 64);
      fill(data);
      return Array.from({ length: count }, (_, i) => [...data.slice(i * 64, i * 64 + 64)]);
    });
    const settings = {
      plain: [1, temperature],
      scaled: [gain, temperature],
      restored: [gain, gain * gain * temperature],
    };
    for (const [name, [c, tau]] of Object.entries(settings)) {
      const exact = exactGain(rows, c, tau);
      for (const [of, value] of Object.entries(exact)) {
        const off = Math.abs(found[name][of] - value);
        // Scores are sums of 64 products, off by some 64 units in the last place of |q||k|/8 = 8 c^2, over tau.
        const bound = 64 * 2 ** -24 * 8 * c * c * (of === 'deviation' ? 1 : 2 / tau) + 1e-6;
        assert.ok(off <= bound, `${name} ${of}: ${off} > ${bound}`);
      }
    }
    assert.ok(
      found.difference <= 1e-4 && found.scaled.deviation / found.plain.deviation - gain ** 2 < 1e-5,
    );
    assert.ok(Math.abs(found.scaled.entropy - found.plain.entropy) > 1e-3);
  });
}
