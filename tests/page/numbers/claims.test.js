// What the page says in words, in Node: each claim about a head, a picture or a check is held to the numbers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../support/js/files.js';
import { resultOf, modules, startEngine } from '../support/engine.js';
import { curvePoint } from '../support/curves.js';
import { textsOf } from '../support/texts.js';

const { ask, qkv, tensors, report, request, web } = await startEngine();
// features/head_names.ts and the like touch the page only when they are called.
const words = await modules(
  ...['features/head_names', 'i18n/i18n', 'domain/animals', 'features/row/page/track'],
  ...['features/temperature/page/sentences', 'features/cost/shared/shape', 'engine/layer_weights'],
);
const { storyOf, headStory, setLanguage, isAnimal, asksForAnimal, homeOf } = words;
const { trackOf, lawNumbers, PRESETS, modelOf } = words;
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

test('checks: as many heads are checked as the page says', () => {
  for (const language of ['en', 'zh']) {
    for (const key of ['chapters.use.text', 'checks.intro'])
      assert.match(texts(language)[key], /256/);
  }
  const heads = [256, 257].map((length) => (ask({ length }), report().check.heads));
  assert.deepEqual(heads, [6, 1]);
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

const contents = Object.fromEntries(
  ['en', 'zh'].map((language) => {
    const path = join(root, `web/src/features/lessons/content_${language}.json`);
    return [language, JSON.parse(readFileSync(path, 'utf8'))];
  }),
);
/** The text of a step of a lesson, in both languages. */
const told = (lesson, step) =>
  ['en', 'zh'].map((language) => contents[language][lesson].steps[step].text);
const everywhere = (...keys) => ['en', 'zh'].flatMap((of) => keys.map((key) => texts(of)[key]));

test('page: it does not say that the core computes every number; it says so of the weights', () => {
  for (const text of everywhere('page.description')) {
    assert.doesNotMatch(text, /every number|每个数字/iu);
    assert.match(text, /every attention weight|每个注意力权重/iu);
  }
});

test('order: a large number subtracted gives 0 as −∞ does, but an average where all keys are masked', () => {
  const rows = (data, width = 2) => ({ data: Float32Array.from(data), shape: [2, width] });
  const [q, k, v] = [rows([0.1, 0.2, 0.3, 0.4]), rows([1, 2, 3, 4]), rows([1, 2, 3, 4])];
  const seen = [1, 0, 0, 0];
  const large = rows(seen.map((allowed) => (allowed ? 0 : -1e9)));
  const run = (how) => qkv.attention(q, k, v, { numHeads: 1, returnWeights: true, ...how });
  const subtracted = run({ bias: large });
  assert.deepEqual([...subtracted.weights.data], [1, 0, 0.5, 0.5]);
  assert.deepEqual([...subtracted.output.data], [1, 2, 2, 3]);
  const masked = run({ mask: { data: Uint8Array.from(seen), shape: [2, 2] } });
  assert.deepEqual([...masked.weights.data], [1, 0, 0, 0]);
  for (const text of told('order', 2)) {
    assert.match(text, /10⁹.*float32/u);
    assert.match(text, /average|平均/u);
    assert.doesNotMatch(text, /would not be zero|不是零/u);
  }
});

test('temperature: the largest of 256 normal scores lies at 2.8σ, below σ√(2 ln n)', () => {
  // The mean of the largest is the integral of x over the density of the largest, n Φ(x)^(n − 1) φ(x).
  const [n, step] = [256, 1e-3];
  let [below, mean] = [0, 0];
  for (let x = -9; x < 9; x += step) {
    const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
    const middle = below + (density * step) / 2;
    mean += x * n * middle ** (n - 1) * density * step;
    below += density * step;
  }
  const limit = Math.sqrt(2 * Math.log(n));
  for (const text of told('temperature', 3)) {
    assert.ok(text.includes(`${mean.toFixed(1)}σ`), `${mean}: ${text}`);
    assert.ok(text.includes(`${limit.toFixed(1)}σ`), `${limit}: ${text}`);
  }
});

test('positions: each slope of ALiBi is half of the one before with 8 heads, and not with 16', () => {
  const ratio = (heads) => {
    const slopes = qkv.alibiSlopes(heads);
    return slopes[1] / slopes[0];
  };
  assert.equal(ratio(8), 0.5);
  assert.ok(Math.abs(ratio(16) - Math.SQRT1_2) < 1e-6);
  for (const text of told('positions', 3)) assert.match(text, /with 8 heads|有 8 个头/u);
});

test('positions: the encodings of the heads are as wide as the panel says', () => {
  const widths = ['constructed', 'random'].map((source) => modelOf(qkv, source, 1).positionWidth);
  assert.deepEqual(widths, [16, 64]);
  assert.equal(ask({}).positions.encoding.data.length / ask({}).positions.encoding.length, 64);
  for (const text of everywhere('positions.intro')) {
    assert.match(text, /2i\/64/);
    for (const width of widths) assert.match(text, new RegExp(`(64|16).*\\b${width}\\b`, 'su'));
  }
});

test('recurrence: from the last state back to the first there is one step fewer than there are digits', () => {
  for (const text of told('recurrence', 3))
    assert.match(text, /one step fewer|步数比数字的个数少一/u);
});

test('cost: a source names where the numbers of its row are from, and the numbers that no table has', () => {
  for (const [name, { vocabulary, tokens }] of Object.entries(PRESETS).slice(1)) {
    for (const text of everywhere(`cost.source.${name}`)) {
      assert.ok(text.includes(vocabulary.toLocaleString('en')), text);
      if (!name.startsWith('gpt2')) continue;
      assert.ok(text.includes(tokens.toLocaleString('en')), text);
      assert.match(text, /published files|公开的模型文件/u);
    }
  }
});

test('learn: an experiment about which the panel asks does not tell the answer in its name', () => {
  for (const name of ['birth', 'oneLayer', 'noPositions']) {
    for (const text of everywhere(`learn.experimentName.${name}`)) assert.match(text, /[?？]$/u);
  }
});

test('model: a score of attention alone names no induction head', () => {
  for (const text of everywhere('model.heads.inductionStrong')) {
    assert.doesNotMatch(text, /is an induction head|是归纳头/u);
  }
});

test('block: no norm is called layer norm in general, as the panel also has RMSNorm', () => {
  for (const text of everywhere('block.place', 'block.norm1', 'block.norm2')) {
    assert.doesNotMatch(text, /layer ?norm|层归一化/iu);
  }
});
