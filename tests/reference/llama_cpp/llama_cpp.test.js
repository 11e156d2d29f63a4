// @build any
// llama.cpp's logits of tiny models (make_fixtures.js) against the formulas in float64 (forward.js): what the package is
// held to where it reads the same files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decode, encode } from '../../support/js/gguf.js';
import { forward } from './forward.js';
import { cases, families, tokens, weights } from './models.js';

const fixture = JSON.parse(readFileSync(new URL('fixtures/logits.json', import.meta.url), 'utf8'));

/**
 * How far llama.cpp may be from float64, in logits of up to 7, measured (in brackets). It computes in float32 [1.6e-6]; takes
 * GELU from a table of float16 [1.2e-3]; and rounds the inputs of products to the format of the weights.
 */
const bounds = { F32: 4e-6, F16: 4e-3, BF16: 4e-2, Q8_0: 0.1 };
const tabled = /^(gemma|gpt|bert)/;
const boundOf = ({ family, format }) => (tabled.test(family) ? 3e-3 : bounds[format]);

/** Weights as the file of a case has them. */
const stored = ({ family, format }) =>
  Object.fromEntries(
    Object.entries(weights(family)).map(([name, { shape, data }]) => {
      const type = shape.length === 1 ? 'F32' : format;
      return [name, { shape, data: decode(type, encode(type, data)) }];
    }),
  );

function distance(each, changed) {
  const { sizes } = families[each.family];
  const { values } = fixture.cases.find(
    ({ family, format }) => family === each.family && format === each.format,
  );
  const exact = forward(each.family, { weights: stored(each), tokens, sizes, changed }).flat();
  assert.equal(values.length, exact.length);
  return Math.max(...exact.map((y, i) => Math.abs(y - values[i])));
}

test('llama.cpp: the fixture has every case and these tokens', () => {
  const names = (list) => list.map(({ family, format }) => `${family} ${format}`);
  assert.deepEqual(names(fixture.cases), names(cases));
  assert.deepEqual(fixture.tokens, tokens);
});

for (const each of cases) {
  test(`llama.cpp: ${each.family} ${each.format} is what the formulas say`, (t) => {
    const far = distance(each);
    t.diagnostic(`${far.toExponential(1)} of ${boundOf(each)}`);
    assert.ok(far <= boundOf(each), `${far} > ${boundOf(each)}`);
  });
}

/** Readings that a family could be mistaken for; the logits tell them apart by ten bounds or more. */
const mistakes = {
  llama: { 'halves turned': { rotary: { base: 10000, width: 16 } } },
  llama3: {
    'other base': { rotary: { base: 10000, width: 16, neighbours: true } },
    'no factors': { rotary: { base: 500000, width: 16, neighbours: true, factors: undefined } },
  },
  qwen2: { 'neighbours turned': { rotary: { base: 1000000, width: 16, neighbours: true } } },
  gemma: { 'embedding as it is': { scaledEmbedding: false } },
  gemma2: {
    'every layer reads all': { window: () => Infinity },
    'every layer has a window': { window: () => 4 },
    'window in odd layers': { window: (layer) => (layer % 2 === 1 ? 4 : Infinity) },
    'window of one more': { window: (layer) => (layer % 2 === 0 ? 5 : Infinity) },
    'no cap of scores': { attentionCap: 0 },
    'no cap of logits': { logitCap: 0 },
  },
  gptneox: {
    'one after the other': { parallel: false },
    'whole heads turned': { rotary: { base: 10000, width: 16 } },
  },
  bert_mean: { 'the first row': { pool: ([first]) => first } },
};

for (const [family, readings] of Object.entries(mistakes)) {
  for (const [name, changed] of Object.entries(readings)) {
    test(`llama.cpp: ${family} is told from "${name}"`, () => {
      const each = { family, format: 'F32' };
      const far = distance(each, changed);
      assert.ok(far > 10 * boundOf(each), `${far}`);
    });
  }
}
