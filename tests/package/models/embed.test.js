// @build each
// Vectors of texts.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create, load } from 'qkv/models';
import { expectClose, expectRejects, expectSame, expectThrows } from '../../support/js/check.js';
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
    test(`embed: ${pooling}, ${normalize ? 'of unit length' : 'as it is'}`, async () => {
      const { data, shape } = await model.embed(texts, { pooling, normalize });
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

test('embed, forward: a token is what it is when it is first read', async () => {
  /** Tokens that are 4 when they are read a second time. */
  const changing = (tokens) => {
    const list = [...tokens];
    tokens.forEach((token, i) => {
      let isRead = false;
      const get = () => (isRead ? 4 : ((isRead = true), token));
      Object.defineProperty(list, i, { get, enumerable: true });
    });
    return list;
  };
  const [ids] = texts;
  expectSame((await model.embed([changing(ids)])).data, (await model.embed([ids])).data);
  const hidden = { hidden: true };
  expectSame(
    model.forward(changing(ids), hidden).hidden.data,
    model.forward(ids, hidden).hidden.data,
  );
});

test('embed: a text without tokens is refused', async () => {
  const fn = 'LanguageModel.embed';
  const says = ['texts[0] has 0 elements', 'at least one token'];
  for (const text of ['', []]) {
    await expectRejects(model.embed([text]), fn, 'invalid_argument', ...says);
  }
  const forward = () => model.forward([]);
  expectThrows(forward, 'LanguageModel.forward', 'shape_mismatch', 'ids has 0', says[1]);
});

test('embed: vectors of any width', async () => {
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
  const { data } = await own.embed([[0]]);
  const sum = data.reduce((all, x) => all + x * x, 0);
  own.dispose();
  assert.ok(Math.abs(sum - 1) < 1e-6, `${sum}`);
});

test('embed: the mean, of unit length, unless it is told otherwise', async () => {
  const { data } = await model.embed(texts);
  expectSame(data, (await model.embed(texts, { pooling: 'mean', normalize: true })).data);
  const words = await model.embed([tokenizer.decode(texts[0]), texts[1]]);
  expectSame(words.data, data.slice(0, 2 * config.dModel));
  assert.deepEqual((await model.embed([])).shape, [0, config.dModel]);
});

describe('embed: a text that is too long', () => {
  const most = config.maxLength;
  const word = 'abcdefghij'.repeat(4).slice(0, most + 3);
  const ids = [...tokenizer.encode(word)];

  test('is refused, unless it may be cut', async () => {
    const says = [`texts[1] has ${most + 3} tokens`, `${most}`];
    for (const text of [word, ids]) {
      for (const options of [{}, { truncate: false }]) {
        const call = model.embed(['a', text], options);
        await expectRejects(call, 'LanguageModel.embed', 'out_of_range', ...says);
      }
    }
  });

  test('is as its beginning then, and one that is not too long as it is; which ones were cut is told', async () => {
    const { data, truncated } = await model.embed([word, 'abc', ids], { truncate: true });
    const cut = ids.slice(0, most);
    const whole = await model.embed([cut, 'abc', cut], { truncate: true });
    expectSame(data, whole.data);
    assert.deepEqual([truncated, whole.truncated], [[0, 2], []]);
  });

  test('keeps what the tokenizer puts behind every text', async () => {
    // 17 and 18 stand round every text, as [CLS] and [SEP] of BERT.
    const framed = {
      encode: (text) => [17, ...tokenizer.encode(text), 18],
      decode: (all) => tokenizer.decode(all),
    };
    const own = create(engine, config, weights, { tokenizer: framed });
    const { data } = await own.embed([word], { truncate: true });
    expectSame(data, (await own.embed([[17, ...ids.slice(0, most - 2), 18]])).data);
    // Of tokens nobody knows what stands behind every text.
    const tokens = await own.embed([framed.encode(word)], { truncate: true });
    expectSame(tokens.data, (await own.embed([[17, ...ids.slice(0, most - 1)]])).data);
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
    expectSame((await own.embed([ids])).data, (await own.embed([ids], { pooling })).data);
    const other = (await own.embed([ids], { pooling: pooling === 'mean' ? 'cls' : 'mean' })).data;
    assert.notDeepEqual([...(await own.embed([ids])).data], [...other]);
    own.dispose();
  }
  const usual = await loaded();
  assert.equal(usual.pooling, 'mean');
  usual.dispose();
  for (const [number, word] of [[0, 'none'], [4, 'rank']]) {
    const own = await loaded(['bert.pooling_type', gguf.u32(number)]);
    assert.equal(own.pooling, undefined);
    const says = [`pooling is undefined and the file says "${word}"`, "'mean', 'cls' or 'last'"];
    await expectRejects(own.embed([ids]), 'LanguageModel.embed', 'invalid_argument', ...says);
    assert.equal((await own.embed([ids], { pooling: 'cls' })).data.length, 64);
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
  const { data } = await own.embed([ids], { normalize: false });
  expectClose(data, last, boundOf(told, size), { size });
  own.dispose();
});

describe('embed: many texts', () => {
  // Of all lengths, in no order, some of them twice: rows of one pass, and one that is alone.
  const lengths = [3, 24, 1, 9, 10, 22, 24, 2, 17, 8, 9, 23, 5, 1, 20, 12, 19, 24, 3, 7];
  const list = Array.from({ length: 60 }, (_, i) => rowsOf(config, lengths[i % 20], i + 1));

  for (const name of ['bert', 'modernbert', 't5', 'llama', 'gemma3', 'alibi', 'experts']) {
    const of = kinds[name];
    test(`${name}: each is what the formulas say of it alone, in the order given`, async () => {
      const own = { ...of, maxLength: 24 };
      const arrays = randomWeights(own, 8);
      const made = create(engine, own, arrays);
      for (const pooling of ['mean', 'cls', 'last']) {
        const { data, shape, truncated } = await made.embed(list, { pooling, normalize: false });
        assert.deepEqual([shape, truncated], [[60, own.dModel], []]);
        const expected = list.flatMap((ids) => {
          const { hidden } = modelForward(own, arrays, ids);
          const row = (t) => hidden.slice(t * own.dModel, (t + 1) * own.dModel);
          if (pooling !== 'mean') return [...row(pooling === 'cls' ? 0 : ids.length - 1)];
          return Array.from({ length: own.dModel }, (_, i) => {
            return ids.reduce((sum, _id, t) => sum + row(t)[i], 0) / ids.length;
          });
        });
        const size = sizeIn(expected);
        expectClose(data, expected, boundOf(own, size), { size });
      }
      made.dispose();
    });
  }

  test('they go through in fewer passes than there are texts, and it tells how far it is', async () => {
    const told = [];
    await model.embed(list, { onProgress: (progress) => told.push(progress) });
    assert.ok(told.length < 12, `${told.length}`);
    assert.deepEqual(told.at(-1), { done: 60, of: 60 });
    assert.ok(told.every(({ done, of }, i) => of === 60 && done > (told[i - 1]?.done ?? 0)));
  });

  test('it ends when it is aborted, before a pass and between two, and with what the caller throws', async () => {
    const signal = AbortSignal.abort(new Error('not at all'));
    await assert.rejects(model.embed(list, { signal }), /not at all/);
    const stop = new AbortController();
    let passes = 0;
    const onProgress = () => {
      passes += 1;
      stop.abort(new Error('enough'));
    };
    await assert.rejects(model.embed(list, { signal: stop.signal, onProgress }), /enough/);
    assert.equal(passes, 1);
    const thrown = () => {
      throw new Error('of the caller');
    };
    await assert.rejects(model.embed(list, { onProgress: thrown }), /of the caller/);
    const own = create(engine, config, weights);
    const disposing = own.embed(list, { onProgress: () => own.dispose() });
    await expectRejects(disposing, 'LanguageModel.embed', 'disposed');
  });

  test('what was given counts as it was at the call', async () => {
    const given = [Int32Array.of(1, 2, 3), Int32Array.of(4)];
    const [first, second] = [model.embed(given), model.embed([[1, 2, 3], [4]])];
    given[1][0] = 9;
    given.pop();
    expectSame((await first).data, (await second).data);
  });

  const wrong = [
    [['x', 1], {}, 'invalid_argument', 'texts is "x"'],
    [[1], {}, 'invalid_argument', 'texts[0] is 1'],
    [[[1]], { pooling: 'max' }, 'invalid_argument', 'pooling is "max"'],
    [[[1]], { truncate: 1 }, 'invalid_argument', 'truncate is 1'],
    [[[1]], { signal: 1 }, 'invalid_argument', 'signal is 1'],
    [[[1]], { onProgress: 1 }, 'invalid_argument', 'onProgress is 1'],
    [[[1]], { batch: 1 }, 'invalid_argument', "unknown key 'batch'"],
  ]; // prettier-ignore
  for (const [given, options, code, ...says] of wrong) {
    test(`it refuses ${says[0]}`, () =>
      expectRejects(
        model.embed(given[0] === 'x' ? 'x' : given, options),
        'LanguageModel.embed',
        code,
        ...says,
      ));
  }
});
