// @build any
// llama.cpp's logits of tiny models (make_fixtures.js) against the formulas in float64 (forward.js): what the package is
// held to where it reads the same files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundOf, distance, exactOf, fixture, valuesOf } from './distance.js';
import { cases, tokens } from './models.js';

test('llama.cpp: the fixture has every case and these tokens', () => {
  const names = (list) => list.map(({ family, format }) => `${family} ${format}`);
  assert.deepEqual(names(fixture.cases), names(cases));
  assert.deepEqual(fixture.tokens, tokens);
});

for (const each of cases) {
  test(`llama.cpp: ${each.family} ${each.format} is what the formulas say`, (t) => {
    const far = distance(exactOf(each), valuesOf(each));
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
      const far = distance(exactOf(each, changed), valuesOf(each));
      assert.ok(far > 10 * boundOf(each), `${far}`);
    });
  }
}
