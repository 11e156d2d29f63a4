// @build each
// Vectors of texts.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { expectClose, expectSame } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import { boundOf, kinds, rowsOf, sizeIn } from '../../support/js/model-kinds.js';
import { modelForward, randomWeights } from '../../support/js/model-oracle.js';

const engine = await initAsTold(init);
after(() => engine.dispose());
const config = kinds.bert;
const weights = randomWeights(config, 8);
const tokenizer = charactersTokenizer(Array.from('abcdefghijklmnopqrs'));
const model = create(engine, config, weights, { tokenizer });
after(() => model.dispose());

const texts = [rowsOf(config, 7), rowsOf(config, 3, 5), [4]];

/** What the formulas say of a text: the mean of its rows, or the first. */
function exactly(ids, pooling) {
  const { hidden } = modelForward(config, weights, ids);
  const rows = pooling === 'cls' ? 1 : ids.length;
  return Array.from({ length: config.dModel }, (_, i) => {
    let sum = 0;
    for (let row = 0; row < rows; ++row) sum += hidden[row * config.dModel + i];
    return sum / rows;
  });
}

for (const pooling of ['mean', 'cls']) {
  for (const normalize of [true, false]) {
    test(`embed: ${pooling}, ${normalize ? 'of unit length' : 'as it is'}`, () => {
      const { data, shape } = model.embed(texts, { pooling, normalize });
      assert.deepEqual(shape, [3, config.dModel]);
      const expected = texts.flatMap((ids) => {
        const vector = exactly(ids, pooling);
        const length = normalize ? Math.hypot(...vector) : 1;
        return vector.map((x) => x / length);
      });
      const size = sizeIn(expected);
      expectClose(data, expected, boundOf(config, size), { size });
    });
  }
}

test('embed: the mean, of unit length, unless it is told otherwise; a text is alone', () => {
  const { data } = model.embed(texts);
  expectSame(data, model.embed(texts, { pooling: 'mean', normalize: true }).data);
  const [own] = [model.embed([texts[1]]).data];
  expectSame(own, data.slice(config.dModel, 2 * config.dModel));
  const words = model.embed([tokenizer.decode(texts[0]), texts[1]]);
  expectSame(words.data, data.slice(0, 2 * config.dModel));
  assert.deepEqual(model.embed([]).shape, [0, config.dModel]);
});
