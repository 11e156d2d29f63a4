// @build each
// Heads of other things than the next token: classes of texts and of pairs, and masked tokens, against the formulas in float64.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create, load } from 'qkv/models';
import { expectClose, expectRejects, expectSame, expectThrows } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import { boundOf, kinds, rowsOf, sizeIn } from '../../support/js/model-kinds.js';
import { modelForward, randomWeights } from '../../support/js/model-oracle.js';
import { unreadable } from '../../support/js/unreadable.js';
import { families } from './support/families.js';
import { ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

const own = { head: true, headBias: true };
/** Of classes, as BERT, DistilBERT, ModernBERT and Llama have them, and with every other transform. */
const classes = {
  bert: { ...kinds.bert, ...own, headTransform: 'tanh', headPooling: 'first', classes: 12 },
  distilbert: { ...kinds.bert, ...own, headTransform: 'relu', headPooling: 'first', classes: 9 },
  modernbert: {
    ...{ ...kinds.modernbert, ...own, headTransform: 'gelu', headNorm: true },
    ...{ headPooling: 'mean', classes: 8 },
  },
  llama: { ...kinds.llama, tiedEmbeddings: false, headPooling: 'last', classes: 10 },
  silu: { ...kinds.t5, ...own, headTransform: 'silu', headPooling: 'mean', classes: 11 },
};
const tokenClasses = { ...kinds.bert, ...own, classes: 7 };
const masked = {
  bert: {
    ...{ ...kinds.bert, ...own, tiedEmbeddings: true, headTransform: 'gelu', headNorm: true },
  },
  modernbert: { ...kinds.modernbert, ...own, headTransform: 'gelu', headNorm: true },
  'gelu_tanh, without a norm': { ...kinds.bert, ...own, headTransform: 'gelu_tanh' },
};
const letters = Array.from('abcdefghijklmnopqrs');
const plain = charactersTokenizer(letters);
/** 16, 17 and 18 are [MASK], [CLS] and [SEP]. */
const tokenizer = {
  ...{ encode: (text) => [17, ...plain.encode(text), 18], decode: (ids) => plain.decode(ids) },
  encodePlain: (text) => [17, ...plain.encode(text), 18],
  encodePair(first, second, most = Infinity) {
    const [a, b] = [[...plain.encode(first)], [...plain.encode(second)]];
    const isCut = a.length + b.length + 3 > most;
    while (a.length + b.length + 3 > most) (a.length > b.length ? a : b).pop();
    const [one, other] = [
      [17, ...a, 18],
      [...b, 18],
    ];
    return {
      ...{ ids: [...one, ...other], isCut },
      types: [...one.map(() => 0), ...other.map(() => 1)],
    };
  },
  mask: 16,
};
const world = (config, seed = 4) => {
  const weights = randomWeights(config, seed);
  return { weights, model: create(engine, config, weights, { tokenizer }) };
};

for (const [name, config] of Object.entries({
  ...classes,
  ...masked,
  'of each token': tokenClasses,
})) {
  test(`forward: ${name}: logits of each token or row, of a batch with its lengths`, () => {
    const { weights, model } = world(config);
    const ids = rowsOf(config, 3 * 8);
    const keyLengths = config.causal === false ? [8, 5, 1] : undefined;
    const { logits } = model.forward(ids, { batch: 3, keyLengths });
    const exact = modelForward(config, weights, ids, { batch: 3, keyLengths });
    const rows = config.headPooling ? 1 : 8;
    assert.deepEqual(logits.shape, [3, rows, config.classes ?? config.vocabulary]);
    const size = sizeIn(exact.logits);
    expectClose(logits.data, exact.logits, boundOf(config, size), { size });
    // Of the last token it is as of all, and of a row there is one anyway.
    const last = model.forward(ids, { batch: 3, rows: 'last', keyLengths }).logits;
    if (rows === 1) expectSame(last.data, logits.data);
    else assert.deepEqual(last.shape, [3, 1, logits.shape[2]]);
    model.dispose();
  });

  test(`save: ${name}: a model with such a head comes back as it was`, async () => {
    const { model } = world(config);
    const again = await load(engine, { weights: model.save() });
    assert.deepEqual(again.config, model.config);
    const ids = rowsOf(config, 6);
    expectSame(again.forward(ids).logits.data, model.forward(ids).logits.data);
    for (const each of [model, again]) each.dispose();
  });
}

describe('score', () => {
  for (const [name, config] of Object.entries(classes)) {
    test(`${name}: of each text what the formulas say of it alone, in the order given`, async () => {
      const { weights, model } = world(config);
      const list = Array.from({ length: 30 }, (_, i) => rowsOf(config, 1 + ((5 * i) % 20), i + 1));
      const told = [];
      const { data, shape, truncated } = await model.score(list, {
        onProgress: (p) => told.push(p),
      });
      assert.deepEqual([shape, truncated], [[30, config.classes], []]);
      const expected = list.flatMap((ids) => [...modelForward(config, weights, ids).logits]);
      const size = sizeIn(expected);
      expectClose(data, expected, boundOf(config, size), { size });
      assert.ok(told.length < 30);
      assert.deepEqual(told.at(-1), { done: 30, of: 30 });
      model.dispose();
    });
  }

  test('pairs have segments, where the model has them', async () => {
    for (const name of ['bert', 'modernbert']) {
      const config = classes[name];
      const { weights, model } = world(config);
      const pairs = [['abc', 'defgh'], ['a', 'b'], 'cde', ['', 'fg']]; // prettier-ignore
      const { data } = await model.score(pairs);
      const expected = pairs.flatMap((pair) => {
        const { ids, types } = Array.isArray(pair)
          ? tokenizer.encodePair(...pair)
          : { ids: tokenizer.encode(pair), types: undefined };
        const tokenTypes = config.tokenTypes > 0 ? types : undefined;
        return [...modelForward(config, weights, ids, { tokenTypes }).logits];
      });
      const size = sizeIn(expected);
      expectClose(data, expected, boundOf(config, size), { size });
      model.dispose();
    }
  });

  test('a list of two is read once', async () => {
    const { model } = world(classes.bert);
    for (const [first, second] of [
      ['ab', 'c'],
      [1, 2],
    ]) {
      let reads = 0;
      const list = Object.defineProperty([0, second], 0, {
        get: () => (reads++ ? 'other' : first),
      });
      const [changed, same] = [await model.score([list]), await model.score([[first, second]])];
      expectSame(changed.data, same.data, `${first}`);
      assert.equal(reads, 1);
    }
    model.dispose();
  });

  test('what is too long is refused, or cut: of a pair the longer text', async () => {
    const { model } = world(classes.bert);
    const [long, short] = ['abcdefghij'.repeat(3), 'klm'];
    const fn = 'LanguageModel.score';
    const most = kinds.bert.maxLength;
    await expectRejects(model.score([[long, short]]), fn, 'out_of_range', 'texts[0] has 36 tokens', `${most}`); // prettier-ignore
    const { data, truncated } = await model.score(['ab', [long, short], long, [short, long]], { truncate: true }); // prettier-ignore
    assert.deepEqual(truncated, [1, 2, 3]);
    const [fits, alone] = [long.slice(0, most - 6), long.slice(0, most - 2)];
    expectSame(data, (await model.score(['ab', [fits, short], alone, [short, fits]])).data);
    model.dispose();
  });

  test('it ends when it is aborted', async () => {
    const { model } = world(classes.bert);
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error('enough'));
    const list = [['a', 'b'], 'abcdef', 'abcdefghijk']; // prettier-ignore
    await assert.rejects(model.score(list, { signal: stop.signal, onProgress }), /enough/);
    const aborted = AbortSignal.abort(new Error('not at all'));
    await assert.rejects(model.score(list, { signal: aborted }), /not at all/);
    model.dispose();
  });

  const { model } = world(classes.bert);
  const ofTokens = world(tokenClasses).model;
  const ofMasks = world(masked.bert).model;
  const headless = world(kinds.bert).model;
  const bare = create(engine, classes.bert, randomWeights(classes.bert, 4));
  const single = create(engine, classes.bert, randomWeights(classes.bert, 4), { tokenizer: plain });
  after(() => [model, ofTokens, ofMasks, headless, bare, single].forEach((each) => each.dispose()));
  /** A model whose tokenizer answers so for every pair. */
  const byPairs = (answer) => {
    const odd = { ...tokenizer, encodePair: () => ({ ids: [1, 2], isCut: false, ...answer }) };
    const made = create(engine, classes.bert, randomWeights(classes.bert, 4), { tokenizer: odd });
    after(() => made.dispose());
    return made;
  };
  const wrong = [
    ['of each token', () => ofTokens.score(['a']), 'unsupported', 'a head of each token, not of a text'],
    ['of masks', () => ofMasks.score(['a']), 'unsupported', 'a head of each token'],
    ['no head', () => headless.score(['a']), 'unsupported', 'the model has no head'],
    ['a text', () => model.score('ab'), 'invalid_argument', 'texts is "ab"', 'an array'],
    ['a number', () => model.score([1]), 'invalid_argument', 'texts[0] is 1'],
    ['what cannot be read', () => model.score(['a', unreadable([])]), 'invalid_argument', 'texts[1] cannot be read', 'plain values'],
    ['no tokens', () => model.score([[]]), 'invalid_argument', 'texts[0] has 0 elements'],
    ['an id', () => model.score([[1, 99]]), 'out_of_range', 'texts[0][1] is 99'],
    ['no tokenizer', () => bare.score([['a', 'b']]), 'invalid_argument', 'texts[0] is two texts', 'no tokenizer'],
    ['no pairs', () => single.score([['a', 'b']]), 'invalid_argument', 'the tokenizer has no encodePair()'],
    ['too many segments', () => byPairs({ types: [0, 0, 0] }).score([['a', 'b']]), 'shape_mismatch', 'types of texts[0] has 3 elements', '2'],
    ['no segments', () => byPairs({}).score([['a', 'b']]), 'invalid_argument', 'types of texts[0] is undefined'],
    ['a segment', () => byPairs({ types: [0, 0.5] }).score([['a', 'b']]), 'invalid_argument', 'types of texts[0][1] is 0.5'],
    ['truncate', () => model.score(['a'], { truncate: 1 }), 'invalid_argument', 'truncate is 1'],
    ['signal', () => model.score(['a'], { signal: 1 }), 'invalid_argument', 'signal is 1'],
    ['onProgress', () => model.score(['a'], { onProgress: 1 }), 'invalid_argument', 'onProgress is 1'],
    ['a key', () => model.score(['a'], { batch: 1 }), 'invalid_argument', "unknown key 'batch'"],
  ]; // prettier-ignore
  for (const [name, call, code, ...says] of wrong) {
    test(`it refuses ${name}`, () => expectRejects(call(), 'LanguageModel.score', code, ...says));
  }
});

describe('fillMask', () => {
  for (const [name, config] of Object.entries(masked)) {
    test(`${name}: the likeliest tokens at each mask, as the formulas have them`, () => {
      const { weights, model } = world(config);
      const ids = [17, 3, 16, 5, 7, 16, 2, 18];
      const filled = model.fillMask(ids, { top: 4 });
      const { logits } = modelForward(config, weights, ids);
      assert.equal(filled.length, 2);
      [2, 5].forEach((place, i) => {
        const row = [...logits.slice(place * config.vocabulary, (place + 1) * config.vocabulary)];
        const total = row.reduce((sum, x) => sum + Math.exp(x), 0);
        const order = row.map((x, id) => [x, id]).sort(([a], [b]) => b - a);
        filled[i].forEach(({ id, text, probability }, k) => {
          assert.equal(id, order[k][1]);
          assert.equal(text, letters[id]);
          assert.ok(Math.abs(probability - Math.exp(order[k][0]) / total) < 1e-4);
        });
      });
      assert.equal(model.fillMask(ids)[0].length, 5);
      assert.deepEqual(model.fillMask(ids, { mask: 7, top: 1 }).length, 1);
      model.dispose();
    });
  }

  const { model } = world(masked.bert);
  const ofClasses = world(classes.bert).model;
  const headless = world(kinds.bert).model;
  const decoder = world(kinds.llama).model;
  const bare = create(engine, masked.bert, randomWeights(masked.bert, 4));
  after(() => [model, ofClasses, headless, decoder, bare].forEach((each) => each.dispose()));
  const wrong = [
    ['a model without a head', () => headless.fillMask([16]), 'unsupported', 'the model has no head'],
    ['a model of classes', () => ofClasses.fillMask([16]), 'unsupported', 'is of classes'],
    ['a decoder', () => decoder.fillMask([16]), 'unsupported', 'reads from left to right'],
    ['a text without a mask', () => model.fillMask('abc'), 'invalid_argument', 'text has no token 16'],
    ['no mask', () => bare.fillMask([1]), 'invalid_argument', 'mask is undefined and the tokenizer has none'],
    ['a mask', () => model.fillMask([1], { mask: 19 }), 'out_of_range', 'mask is 19'],
    ['top', () => model.fillMask([16], { top: 20 }), 'out_of_range', 'top is 20, expected 1 to 19'],
    ['an id', () => model.fillMask([16, 19]), 'out_of_range', 'text[1] is 19'],
    ['a key', () => model.fillMask([16], { k: 1 }), 'invalid_argument', "unknown key 'k'"],
  ]; // prettier-ignore
  for (const [name, call, code, says] of wrong) {
    test(`it refuses ${name}`, () => expectThrows(call, 'LanguageModel.fillMask', code, says));
  }
});

describe('what such a head cannot do', () => {
  const { model } = world(masked.bert);
  const decoder = world(classes.llama).model;
  after(() => [model, decoder].forEach((each) => each.dispose()));
  const ids = [1, 2, 3];
  const sweep = { clean: ids, corrupt: [1, 2, 4], answer: 1, instead: 2, site: 'z' };

  test('the parts of a logit are those of a head that maps the stream', async () => {
    const fn = (name) => `LanguageModel.${name}`;
    expectThrows(() => model.attribute(ids, { answer: 1 }), fn('attribute'), 'unsupported', 'transforms the stream'); // prettier-ignore
    expectThrows(() => decoder.attribute(ids, { answer: 1 }), fn('attribute'), 'unsupported', 'is of classes'); // prettier-ignore
    await expectRejects(model.sweep(sweep), fn('sweep'), 'unsupported', 'transforms the stream');
    expectThrows(() => decoder.lens(ids), fn('lens'), 'unsupported', 'is of classes');
    expectThrows(() => decoder.generate(ids), fn('generate'), 'unsupported', 'is of classes', 'score()'); // prettier-ignore
    expectThrows(() => decoder.loss(ids), fn('loss'), 'unsupported', 'is of classes');
    for (const each of [model, decoder]) {
      assert.ok(each.headScores({ text: ids }).every(({ copying }) => Number.isNaN(copying)));
    }
  });

  test('a lens reads the stream of every layer through the transform', () => {
    const config = masked.bert;
    const { layers } = modelForward(config, world(config).weights, ids);
    model.lens(ids, { top: 2 }).forEach((rows, layer) => {
      rows.forEach(([{ id }], t) => {
        const row = [...layers[layer].logits.slice(t * 19, (t + 1) * 19)];
        assert.ok(row[id] > Math.max(...row) - 1e-4);
      });
    });
  });
});

describe('load: re-rankers in GGUF', () => {
  const own = ggufModels.bert();
  const rank = { ...own.expected, head: true, tiedEmbeddings: false, headTransform: 'tanh', headPooling: 'first', headBias: true, classes: 2 }; // prettier-ignore
  const random = randomWeights(rank, 9);
  const turned = ({ data, shape: [rows, columns] }) => ({
    shape: [columns, rows],
    values: Float32Array.from({ length: data.length }, (_, i) => data[(i % rows) * columns + Math.floor(i / rows)]), // prettier-ignore
  });
  const asIs = ({ data, shape }) => ({ shape, values: data });
  const head = {
    ...{ 'cls.weight': turned(random['headTransform.w']), 'cls.bias': asIs(random['headTransform.b']) },
    ...{ 'cls.output.weight': turned(random.head), 'cls.output.bias': asIs(random.headBias) },
  }; // prettier-ignore
  const file = (tensors) => ggufFile(own.metadata, { ...own.tensors, ...tensors });

  test('the head of two maps is computed', async () => {
    const model = await load(engine, { weights: file(head) });
    assert.deepEqual([model.config.classes, model.ignored], [2, []]);
    const ids = [1, 5, 3, 9];
    const weights = { ...own.truth.arrays };
    for (const name of ['headTransform.w', 'headTransform.b', 'head', 'headBias'])
      weights[name] = random[name];
    const { logits } = modelForward(rank, weights, ids);
    const { data } = await model.score([ids]);
    const size = sizeIn(logits);
    expectClose(data, logits, boundOf(rank, size), { size });
    model.dispose();
    const without = await load(engine, { weights: file(head) }, { head: false });
    assert.equal(without.config.head, false);
    without.dispose();
  });

  test('one map alone is left out', async () => {
    const { 'cls.weight': one, 'cls.bias': bias } = head;
    const model = await load(engine, { weights: file({ 'cls.weight': one, 'cls.bias': bias }) });
    assert.deepEqual([model.config.head, model.ignored], [false, ['cls.weight', 'cls.bias']]);
    model.dispose();
  });
});

describe('load: heads of files', () => {
  const { config, tensors } = families.bert();
  const at = (shape) => ({
    shape,
    values: new Float32Array(shape.reduce((n, x) => n * x, 1)).fill(0.5),
  });
  const classifier = {
    ...{ 'bert.pooler.dense.weight': at([64, 64]), 'bert.pooler.dense.bias': at([64]) },
    ...{ 'classifier.weight': at([3, 64]), 'classifier.bias': at([3]) },
  }; // prettier-ignore
  const named = (name) => ({ ...config, architectures: [name] });
  const opened = (name, more, options) =>
    load(engine, { config: named(name), weights: safetensors({ ...tensors, ...more }) }, options);

  test('a head is read if the class has it and all of it is there, unless it is not wanted', async () => {
    const rows = [
      ['BertForSequenceClassification', classifier, {}, 3],
      ['BertForSequenceClassification', classifier, { head: true }, 3],
      ['BertForSequenceClassification', classifier, { head: false }, 0],
      ['BertModel', classifier, {}, 0],
      ['BertForSequenceClassification', { 'classifier.weight': at([3, 64]) }, {}, 0],
      ['BertForQuestionAnswering', classifier, {}, 0],
      // The file has the bias of such a head, and nothing else of it.
      ['BertForMaskedLM', classifier, {}, 0],
    ];
    for (const [name, more, options, count] of rows) {
      const model = await opened(name, more, options);
      assert.deepEqual([model.config.classes, model.config.head], [count, count > 0], name);
      assert.equal(model.ignored.includes('classifier.weight'), count === 0);
      model.dispose();
    }
    await expectRejects(
      opened('BertModel', {}, { head: 1 }),
      'load',
      'invalid_argument',
      'head is 1',
    );
  });

  test('the bias of a tied head has one of two names, or both', async () => {
    const transform = {
      'cls.predictions.transform.dense.weight': at([64, 64]),
      'cls.predictions.transform.dense.bias': at([64]),
      'cls.predictions.transform.LayerNorm.weight': at([64]),
      'cls.predictions.transform.LayerNorm.bias': at([64]),
    };
    const [one, other] = ['cls.predictions.bias', 'cls.predictions.decoder.bias'];
    for (const names of [[one], [other], [one, other]]) {
      const biases = Object.fromEntries(names.map((name) => [name, at([11])]));
      const without = Object.fromEntries(Object.entries(tensors).filter(([name]) => name !== one));
      const model = await load(engine, {
        config: named('BertForMaskedLM'),
        weights: safetensors({ ...without, ...transform, ...biases }),
      });
      assert.deepEqual([model.config.head, model.config.tiedEmbeddings, model.config.headBias], [true, true, true]); // prettier-ignore
      assert.equal(model.ignored.includes(other), names.length === 2);
      model.dispose();
    }
  });
});
