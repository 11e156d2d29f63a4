// @build each
// Vectors of texts.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
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

test('embed: a text without tokens is refused', () => {
  const fn = 'LanguageModel.embed';
  const says = ['texts[0] has 0 elements', 'at least one token'];
  for (const text of ['', []]) {
    expectThrows(() => model.embed([text]), fn, 'invalid_argument', ...says);
  }
  const forward = () => model.forward([]);
  expectThrows(forward, 'LanguageModel.forward', 'shape_mismatch', 'ids has 0', says[1]);
});

test('embed: vectors of any width', () => {
  const [width, array] = [200_000, (...shape) => ({ shape, data: new Float32Array(shape[0] * (shape[1] ?? 1)).fill(1) })]; // prettier-ignore
  const wide = {
    ...{ vocabulary: 1, numLayers: 1, dModel: width, numHeads: 1, dK: 1, dFeedForward: 0 },
    ...{ maxLength: 4, positions: 'none', biases: false, normType: 'rms', head: false, causal: false },
  }; // prettier-ignore
  const at = (name) => `layers.0.attention.w${name}`;
  const own = create(engine, wide, {
    ...{ embedding: array(1, width), 'layers.0.norm1.gamma': array(width) },
    ...Object.fromEntries(['q', 'k', 'v'].map((name) => [at(name), array(width, 1)])),
    ...{ [at('o')]: array(1, width), 'norm.gamma': array(width) },
  });
  const { data } = own.embed([[0]]);
  const sum = data.reduce((all, x) => all + x * x, 0);
  own.dispose();
  assert.ok(Math.abs(sum - 1) < 1e-6, `${sum}`);
});

test('embed: the mean, of unit length, unless it is told otherwise; a text is alone', () => {
  const { data } = model.embed(texts);
  expectSame(data, model.embed(texts, { pooling: 'mean', normalize: true }).data);
  const [own] = [model.embed([texts[1]]).data];
  expectSame(own, data.slice(config.dModel, 2 * config.dModel));
  const words = model.embed([tokenizer.decode(texts[0]), texts[1]]);
  expectSame(words.data, data.slice(0, 2 * config.dModel));
  assert.deepEqual(model.embed([]).shape, [0, config.dModel]);
});
