// The numbers of the map, in Node: weights, entropies and rows against the formula, the heads built by hand, and what
// the layer reads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEngine } from '../support/engine.js';
import * as oracle from '../support/oracle.js';

const { allOf, allowedKeys, dModel, excess, layer, layerOf, positional, weightOf } = oracle;
const { ask, report, tensors, web } = await startEngine();

const ENGLISH = web.initialState('en').text;
const CHINESE = web.initialState('zh').text;

for (const [source, mask, temperature] of [
  ['constructed', 'causal', 1],
  ['constructed', 'none', 0.2],
  ['random', 'window', 1],
  ['random', 'causal', 0.05],
  ['random', 'none', 20],
]) {
  test(`map: ${source} weights equal the formula in float64, ${mask} at ${temperature}`, () => {
    ask({ text: `${ENGLISH} ${CHINESE}`, source, mask, temperature });
    const all = tensors();
    const { check } = report();
    const exact = layer(layerOf(all));
    const weights = allOf(all, 'weights');
    assert.ok(excess(weights, exact.weights, exact.bounds) <= 0);
    // The bound is for the worst case, yet narrow enough to see a temperature off by one percent,
    const wrong = layer({ ...layerOf(all), temperature: temperature * 1.01 });
    assert.ok(excess(weights, wrong.weights, exact.bounds) > 0);
    // and as roundings mostly cancel, what is measured stays far inside it.
    const limit = (source === 'constructed' ? 1e-5 : 1e-6) * Math.max(1, 1 / temperature);
    assert.ok(check.weights > 0 && check.weights < limit, `${check.weights}`);
    const entropies = allOf(all, 'entropy').map((h, i) => Math.abs(h - exact.entropy[i]));
    assert.ok(Math.max(...entropies) < 1e-4 * Math.max(1, 1 / temperature));
    const largest = weights.map((w, i) => Math.abs(w - exact.weights[i]));
    assert.ok(Math.abs(Math.max(...largest) - check.weights) < 1e-12, 'its own check');
    assert.equal(check.heads, all.heads.length);
  });
}

test('map: of many tokens only the shown head is checked', () => {
  const { query } = ask({ text: 'a b c', length: 1024 });
  assert.equal(query.weights.length, 1024);
  const { check } = report();
  assert.equal(check.heads, 1);
  assert.ok(check.weights > 0 && check.weights < 1e-4);
});

test('map: rows sum to 1 and what is masked weighs exactly 0', () => {
  for (const mask of ['none', 'causal', 'window']) {
    ask({ mask });
    const all = tensors();
    const count = all.request.layer.tokens.length;
    let outside = 0;
    for (let head = 0; head < all.heads.length; head++) {
      for (let row = 0; row < count; row++) {
        const weights = Array.from({ length: count }, (_, col) => weightOf(all, head, row, col));
        const sum = weights.reduce((a, b) => a + b);
        assert.ok(Math.abs(sum - 1) < (count + 8) * 2 ** -23, `row ${row}: ${sum}`);
        const [first, end] = allowedKeys(mask, row, count);
        outside += weights.filter((w, j) => w !== 0 && (j < first || j >= end)).length;
      }
    }
    assert.equal(outside, 0);
  }
});

test('map: the rows on the screen are rows of the tensors', () => {
  for (const patch of [
    { head: 1, query: 7 },
    { head: 3, mask: 'window', query: 5 },
    { source: 'random', head: 2, query: 9 },
  ]) {
    const frame = ask(patch);
    const all = tensors();
    const count = all.request.layer.tokens.length;
    const head = all.heads[patch.head];
    const { row, weights, entropy, largest } = frame.query;
    assert.equal(row, patch.query);
    weights.forEach((weight, col) => {
      assert.ok(Math.abs(weight - head.weights[row * count + col]) < 1e-6, `${col}`);
    });
    assert.ok(Math.abs(entropy - head.entropy[row]) < 1e-6);
    assert.equal(largest, weights.indexOf(Math.max(...weights)));
  }
});

for (const [text, it, cat] of [
  [ENGLISH, 'it', 'cat'],
  [CHINESE, '它', '猫'],
]) {
  test(`map: heads built by hand do what they are called, ${it} of ${cat}`, () => {
    ask({ text });
    const all = tensors();
    const { tokens } = all.request.layer;
    const [query, key] = [tokens.indexOf(it), tokens.indexOf(cat)];
    assert.ok(weightOf(all, 0, query, key) > 0.9, `${it} finds ${cat}`);
    for (let row = 1; row < tokens.length; row++) {
      assert.ok(weightOf(all, 1, row, row - 1) > 0.9, `previous token of ${row}`);
      assert.ok(weightOf(all, 3, row, 0) > 0.9, `first token from ${row}`);
      assert.ok(Math.abs(weightOf(all, 5, row, 0) - 1 / (row + 1)) < 1e-6, 'the mean');
      const near = weightOf(all, 4, row, row) + weightOf(all, 4, row, row - 1);
      assert.ok(near > 0.5 && weightOf(all, 4, row, row) < 0.8, `around ${row}: ${near}`);
    }
  });
}

test('map: the head of same words reads them alike, and without positions there is no previous one', () => {
  ask();
  const all = tensors();
  // "the" at 4 reads "The" at 0 and itself alike.
  assert.ok(Math.abs(weightOf(all, 2, 4, 0) - 0.5) < 0.05 && weightOf(all, 2, 4, 4) > 0.4);
  ask({ positions: 'none' });
  assert.ok(Math.abs(weightOf(tensors(), 1, 4, 3) - 0.2) < 1e-5, 'it is the mean');
});

test('map: x is a seeded embedding plus the encoding of the paper', () => {
  const of = (patch) => ask({ text: 'one two one', source: 'random', ...patch });
  const { encoding } = of().positions;
  const withPositions = tensors().x;
  for (let p = 0; p < encoding.length; p++) {
    for (let c = 0; c < dModel; c++) {
      const got = encoding.data[p * dModel + c];
      assert.ok(Math.abs(got - positional(p, c)) <= 1.2e-7, `PE(${p}, ${c})`);
    }
  }
  of({ positions: 'none' });
  const { x } = tensors();
  const row = (t) => x.slice(t * dModel, (t + 1) * dModel);
  assert.deepEqual(row(0), row(2), 'the same token has the same vector');
  assert.notDeepEqual(row(0), row(1));
  const variance = x.reduce((sum, value) => sum + value * value, 0) / x.length;
  assert.ok(variance > 0.7 && variance < 1.3, `variance ${variance}`);
  withPositions.forEach((value, i) => {
    assert.equal(value, Math.fround(x[i] + encoding.data[i]));
  });
  of({ positions: 'none', seed: 8 });
  assert.notDeepEqual(tensors().x, x);
  of({ positions: 'none', seed: 7 });
  assert.deepEqual(tensors().x, x);
});

test('map: without positions and mask, shuffled words shuffle the map', () => {
  const order = [2, 0, 3, 1]; // the new sentence's i-th word was word order[i]
  const words = ['red', 'green', 'blue', 'white'];
  const shuffled = order.map((i) => words[i]).join(' ');
  const maps = (positions) => {
    const of = (text) => {
      ask({ text, positions, mask: 'none', source: 'random' });
      return tensors();
    };
    const [plain, moved] = [of(words.join(' ')), of(shuffled)];
    let most = 0;
    for (let at = 0; at < 4 * 16; at++) {
      const [head, row, col] = [at >> 4, (at >> 2) & 3, at & 3];
      const before = weightOf(plain, head, order[row], order[col]);
      most = Math.max(most, Math.abs(weightOf(moved, head, row, col) - before));
    }
    let output = 0;
    moved.output.forEach((value, at) => {
      const from = order[Math.floor(at / dModel)] * dModel + (at % dModel);
      output = Math.max(output, Math.abs(value - plain.output[from]));
    });
    return { most, output };
  };
  const without = maps('none');
  // The same products in the same order: only sums over keys may round differently.
  assert.ok(without.most < 1e-6 && without.output < 1e-5, JSON.stringify(without));
  const withPositions = maps('sinusoidal');
  assert.ok(withPositions.most > 1e-2 && withPositions.output > 1e-2);
});
