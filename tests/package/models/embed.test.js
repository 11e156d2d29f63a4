// @build each
// Vectors of texts.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create, load } from 'qkv/models';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import { boundOf, kinds, rowsOf, sizeIn } from '../../support/js/model-kinds.js';
import { modelForward, randomWeights } from '../../support/js/model-oracle.js';
import { families } from './support/families.js';
import { gguf, ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';

const engine = await initAsTold(init);
after(() => engine.dispose());
const config = kinds.bert;
const weights = randomWeights(config, 8);
const tokenizer = charactersTokenizer(Array.from('abcdefghijklmnopqrs'));
const model = create(engine, config, weights, { tokenizer });
after(() => model.dispose());

const texts = [rowsOf(config, 7), rowsOf(config, 3, 5), [4]];

/** What the formulas say of a text: the mean of its rows, or the first or last. */
function exactly(ids, pooling) {
  const { hidden } = modelForward(config, weights, ids);
  const last = { first: ids.length - 1, rows: 1 };
  const { first, rows } = { mean: { first: 0, rows: ids.length }, cls: { first: 0, rows: 1 }, last }[pooling]; // prettier-ignore
  return Array.from({ length: config.dModel }, (_, i) => {
    let sum = 0;
    for (let row = first; row < first + rows; ++row) sum += hidden[row * config.dModel + i];
    return sum / rows;
  });
}

for (const pooling of ['mean', 'cls', 'last']) {
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

describe('embed: a text that is too long', () => {
  const most = config.maxLength;
  const word = 'abcdefghij'.repeat(4).slice(0, most + 3);
  const ids = [...tokenizer.encode(word)];

  test('is refused, unless it may be cut', () => {
    const says = [`texts[1] has ${most + 3} tokens`, `${most}`];
    for (const text of [word, ids]) {
      for (const options of [{}, { truncate: false }]) {
        const call = () => model.embed(['a', text], options);
        expectThrows(call, 'LanguageModel.embed', 'out_of_range', ...says);
      }
    }
  });

  test('is as its beginning then, and one that is not too long as it is', () => {
    const { data } = model.embed([word, ids, 'abc'], { truncate: true });
    expectSame(data, model.embed([ids.slice(0, most), ids.slice(0, most), 'abc']).data);
  });

  test('keeps what the tokenizer puts behind every text', () => {
    // 17 and 18 stand round every text, as [CLS] and [SEP] of BERT.
    const framed = {
      encode: (text) => [17, ...tokenizer.encode(text), 18],
      decode: (all) => tokenizer.decode(all),
    };
    const own = create(engine, config, weights, { tokenizer: framed });
    const { data } = own.embed([word], { truncate: true });
    expectSame(data, own.embed([[17, ...ids.slice(0, most - 2), 18]]).data);
    // Of tokens nobody knows what stands behind every text.
    const tokens = own.embed([framed.encode(word)], { truncate: true });
    expectSame(tokens.data, own.embed([[17, ...ids.slice(0, most - 1)]]).data);
    own.dispose();
  });
});

test('embed: as the file of the model says, unless it is told otherwise', async () => {
  const { metadata, tensors } = ggufModels.bert();
  const loaded = (...more) => load(engine, { weights: [ggufFile([...metadata, ...more], tensors)] });
  const [ids] = [[1, 5, 3, 9]];
  for (const [number, pooling] of [[1, 'mean'], [2, 'cls'], [3, 'last']]) {
    const own = await loaded(['bert.pooling_type', gguf.u32(number)]);
    assert.equal(own.pooling, pooling);
    expectSame(own.embed([ids]).data, own.embed([ids], { pooling }).data);
    const other = own.embed([ids], { pooling: pooling === 'mean' ? 'cls' : 'mean' }).data;
    assert.notDeepEqual([...own.embed([ids]).data], [...other]);
    own.dispose();
  }
  const usual = await loaded();
  assert.equal(usual.pooling, 'mean');
  usual.dispose();
  for (const [number, word] of [[0, 'none'], [4, 'rank']]) {
    const own = await loaded(['bert.pooling_type', gguf.u32(number)]);
    assert.equal(own.pooling, undefined);
    const says = [`pooling is undefined and the file says "${word}"`, "'mean', 'cls' or 'last'"];
    expectThrows(() => own.embed([ids]), 'LanguageModel.embed', 'invalid_argument', ...says);
    assert.equal(own.embed([ids], { pooling: 'cls' }).data.length, 64);
    own.dispose();
  }
}); // prettier-ignore

test('embed: a decoder that is told to be an encoder, without a head, by its last token', async () => {
  const { config: hub, tensors, truth, expected } = families.llama();
  const { 'lm_head.weight': head, ...rest } = tensors;
  assert.ok(head);
  const own = await load(engine, {
    config: { ...hub, is_causal: false, architectures: ['LlamaModel'] },
    weights: [safetensors(rest)],
    pooling: { pooling_mode: 'lasttoken' },
  });
  assert.deepEqual([own.config.head, own.config.causal, own.pooling], [false, false, 'last']);
  const ids = [1, 5, 3, 9];
  const told = { ...own.config, ...expected, causal: false, head: false };
  const { hidden } = modelForward(told, truth.arrays, ids);
  const last = [...hidden.slice(-own.config.dModel)];
  const size = sizeIn(last);
  const { data } = own.embed([ids], { normalize: false });
  expectClose(data, last, boundOf(told, size), { size });
  own.dispose();
});
