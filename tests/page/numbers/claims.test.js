// What the page says in words, in Node: each claim about a head, a picture or a check is held to the numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultOf, modules, startEngine } from '../support/engine.js';
import { curvePoint } from '../support/curves.js';
import { textsOf } from '../support/texts.js';

const { ask, qkv, tensors, report, request, web } = await startEngine();
// features/map/names.ts and the like touch the page only when they are called.
const { storyOf, headStory, setLanguage, isAnimal, asksForAnimal, homeOf, trackOf, lawNumbers } =
  await modules(
    ...['features/map/names', 'i18n/i18n', 'domain/animals', 'features/row/cells'],
    'features/temperature/words',
  );
const texts = textsOf;

/** The rows of the shown head, with which tokens a query may see. */
function rowsOf(patch) {
  ask(patch);
  const { layer, view } = request();
  const count = layer.tokens.length;
  const { weights } = tensors().heads[view.head];
  return Array.from({ length: count }, (_, i) => ({
    ...{ i, token: layer.tokens[i], tokens: layer.tokens },
    w: Array.from(weights.slice(i * count, (i + 1) * count)),
    ...{
      first: layer.mask === 'window' ? Math.max(0, i - 3) : 0,
      end: layer.mask === 'none' ? count : i + 1,
    },
  }));
}

const sum = (list) => list.reduce((a, b) => a + b, 0);
const order = (w) => [...w.keys()].sort((a, b) => w[b] - w[a]);
const even = ({ w, first, end }) => {
  assert.ok(w.slice(first, end).every((p) => Math.abs(p - 1 / (end - first)) < 1e-6));
};
const animalsOf = ({ tokens, first, end }) =>
  [...tokens.keys()].filter((j) => j >= first && j < end && isAnimal(tokens[j]));

/** What each sentence says of a row. */
const CLAIMS = {
  'how.reference'(row) {
    const animals = animalsOf(row);
    if (!asksForAnimal(row.token) || animals.length === 0) return;
    assert.ok(sum(animals.map((j) => row.w[j])) > 0.9, `${row.i}: ${row.w}`);
  },
  'how.reference.near'(row) {
    if (asksForAnimal(row.token) || row.i === 0) return;
    assert.deepEqual(order(row.w).slice(0, 2), [row.i, row.i - 1]);
  },
  'how.reference.sides'(row) {
    if (asksForAnimal(row.token)) return;
    const sides = [row.i - 1, row.i + 1].filter((j) => j >= 0 && j < row.end);
    const [self, ...next] = order(row.w).slice(0, 1 + sides.length);
    assert.equal(self, row.i);
    assert.deepEqual(
      next.sort((a, b) => a - b),
      sides,
    );
  },
  'how.reference.even'(row) {
    if (!asksForAnimal(row.token)) even(row);
  },
  'how.reference.window'({ i, w }) {
    assert.ok(w.every((p, j) => j >= i - 3 || p === 0));
  },
  'how.previous'({ i, w, first, end }) {
    if (i > 0) assert.equal(order(w)[0], i - 1);
    assert.ok(first < end);
  },
  'how.same'({ i, w, token, tokens, first, end }) {
    const same = [...w.keys()].filter(
      (j) => j >= first && j < end && tokens[j].toLowerCase() === token.toLowerCase(),
    );
    assert.ok(sum(same.map((j) => w[j])) > 0.9, `${i}: ${w}`);
  },
  'how.first'({ w, first }) {
    if (first === 0) assert.equal(order(w)[0], 0);
  },
  'how.first.window'({ i, w }) {
    if (i > 3) assert.equal(w[0], 0);
  },
  'how.local'({ i, w, first, end }) {
    for (let j = i + 1; j < Math.min(end, i + 8); j++) assert.ok(w[j] < w[j - 1], `${i} ${j}`);
    for (let j = i - 1; j >= Math.max(first, i - 8); j--) assert.ok(w[j] < w[j + 1], `${i} ${j}`);
  },
  'how.mean': even,
  'how.lost': even,
};

test('heads: what is said of each is what its weights do, under all masks and positions', () => {
  const held = new Set();
  for (const positions of ['sinusoidal', 'none']) {
    for (const mask of ['none', 'causal', 'window']) {
      for (let head = 0; head < 6; head++) {
        for (const length of [null, 100]) {
          const patch = { positions, mask, head, length };
          const rows = rowsOf(patch);
          for (const key of storyOf({ source: 'constructed', positions, mask }, head)) {
            assert.ok(CLAIMS[key], `nothing holds ${key}`);
            rows.forEach((row) => CLAIMS[key](row));
            held.add(key);
          }
        }
      }
    }
  }
  assert.deepEqual([...held].sort(), Object.keys(CLAIMS).sort());
});

test('heads: “it” finds animals that readers type, and the page lists what it knows', () => {
  for (const [text, noun] of [
    ['The elephant slept under a tree because it was tired.', 'elephant'],
    ['Two wolves howled, and it', 'wolves'],
    ['大象躺在树下，因为它累了。', '大象'],
  ]) {
    const { tokens } = web.tokenize(text, 'word', null);
    const query = homeOf(tokens);
    assert.match(tokens[query], /^(it|它)$/);
    const [row] = rowsOf({ text, query }).filter(({ i }) => i === query);
    assert.ok(row.w[tokens.indexOf(noun)] > 0.9, text);
    const state = { ...web.initialState('en'), text };
    setLanguage('en');
    assert.ok(headStory(state, 0, tokens).includes(`in this text: ${noun}.`), text);
  }
  const story = headStory(web.initialState('en'), 0, ['The', 'trophy']);
  assert.match(story, /knows no animal.*elephant.*zebra/);
});

test('page: the row that is told is that of the last “it”, and never of a full stop', () => {
  const home = (text) => homeOf(web.tokenize(text, 'word', null).tokens);
  assert.equal(home('The elephant slept because it was tired.'), 4);
  assert.equal(home('The cat sat.'), 2);
  assert.equal(home('It sat.'), 0);
  assert.equal(home('...'), web.tokenize('...', 'word', null).tokens.length - 1);
  assert.equal(homeOf([]), -1);
});

test('checks: as many heads are checked as the page says', () => {
  for (const language of ['en', 'zh']) {
    for (const key of ['hero.lead', 'checks.intro']) assert.match(texts(language)[key], /256/);
  }
  for (const [length, heads] of [
    [256, 6],
    [257, 1],
  ]) {
    ask({ length });
    assert.equal(report().check.heads, heads);
  }
});

test('row: a full bar is 1 for weights, and the end that is written for other numbers', () => {
  const values = Float32Array.of(0.25, 0.5);
  for (const step of ['weight', 'core']) assert.deepEqual(trackOf(step, values), [0, 1]);
  assert.deepEqual(trackOf('product', values), [0, 0.5]);
  assert.deepEqual(trackOf('scaled', Float32Array.of(-2, NaN, Infinity)), [-2, 0]);
});

test('schemes: the sinusoidal map is q·k of a layer whose W_Q and W_K are the identity, and of no other', () => {
  const { positions } = ask({ scheme: 'sinusoidal', positions: 'sinusoidal' });
  const { values } = positions.scheme;
  const span = Math.sqrt(values.length);
  const x = qkv.sinusoidalEncoding(span, 64);
  const unit = Float32Array.from({ length: 64 * 64 }, (_, at) => Number(at % 65 === 0));
  const random = web.initialState('en').seed;
  const scores = (wq) => {
    const square = (data) => ({ data, shape: [64, 64] });
    const layer = qkv.multiHeadAttention(
      { dModel: 64, numHeads: 1, dK: 64 },
      { wq: square(wq), wk: square(unit), wv: square(unit), wo: square(unit) },
    );
    const { logits } = layer.forward(x, { scale: 1, returnLogits: 'raw' });
    layer.dispose();
    return logits.data;
  };
  const off = (got) => Math.max(...got.map((s, at) => Math.abs(s - values[at])));
  assert.ok(off(scores(unit)) < 1e-4);
  const other = unit.map((value, at) => value + (((at * 7919 + random) % 13) - 6) / 20);
  assert.ok(off(scores(other)) > 1);
});

const labOf = (patch) => ask({ scores: 'random', ...patch }).temperature;

test('temperature: opens on 256 random scores where its law holds', () => {
  const { verdict, theory, entropy, of } = labOf();
  assert.equal(verdict, 'holds');
  assert.equal(of.scores.length, 256);
  for (const language of ['en', 'zh']) assert.match(texts(language)['temperature.ofRandom'], /256/);
  assert.ok(Math.abs(theory - entropy) < 0.04);
  assert.ok(Math.abs(Math.sqrt(of.cumulants[2]) - 0.5) < 0.1);
  const again = labOf({ seed: 8 });
  assert.notDeepEqual(again.of.scores, of.scores);
});

test('temperature: what the law leaves out is of third order in 1/τ', () => {
  for (const seed of [1, 7, 8, 9]) {
    const scores = Array.from(labOf({ seed }).of.scores);
    const mean = sum(scores) / scores.length;
    const v = sum(scores.map((s) => (s - mean) ** 2)) / scores.length;
    const left = (tau) =>
      curvePoint(scores, tau).entropy - Math.log(scores.length) + v / 2 / tau ** 2;
    const ratio = left(80) / left(160);
    assert.ok(Math.abs(ratio - 8) < 1.2, `seed ${seed}: ${ratio}`);
  }
});

test('temperature: no number of the law is shown where it is no entropy', () => {
  setLanguage('en');
  const cold = ask({ scores: 'row', query: 7, temperature: 0.5 }).temperature;
  assert.ok(cold.theory < 0);
  assert.deepEqual(lawNumbers(cold), { theory: 'does not apply', difference: '–' });
  assert.match(lawNumbers(labOf()).theory, /^5\.\d/);
  const study = resultOf(web.temperatureStudy(qkv, cold.of));
  assert.ok(study.entropy.every((h) => h >= 0));
});
