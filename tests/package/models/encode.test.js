// @build each
// Models with an encoder: what their decoder says of a source, against the formulas in float64, and what has no meaning there.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create, load } from 'qkv/models';
import { expectThrows, expectRejects } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import { boundOf, kinds, pairs, rowsOf, sizeIn } from '../../support/js/model-kinds.js';
import { modelForward, randomWeights } from '../../support/js/model-oracle.js';
import { families } from './support/families.js';
import { safetensors } from './support/files.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

const letters = Array.from('abcdefghijklmnopqrs');
const tokenizer = charactersTokenizer(letters);
const make = (name, options = { tokenizer }) => {
  const weights = randomWeights(pairs[name], 7);
  return { config: pairs[name], weights, model: create(engine, pairs[name], weights, options) };
};
const collect = async (tokens) => {
  const all = [];
  for await (const token of tokens) all.push(token);
  return all;
};

/** The most likely tokens after a source, one after another. */
function greedy({ config, weights }, source, count) {
  const said = [config.startToken ?? 0];
  while (said.length <= count) {
    const { logits } = modelForward(config, weights, said, { source });
    const last = Array.from(logits.slice(-config.vocabulary));
    said.push(last.indexOf(Math.max(...last)));
  }
  return said.slice(1);
}

for (const name of Object.keys(pairs)) {
  test(`LanguageModel.forward: ${name} has the logits of its formula after a source`, () => {
    const { config, weights, model } = make(name);
    const [source, ids] = [rowsOf(config, 2 * 9, 3), rowsOf(config, 2 * 6, 4)];
    const exact = modelForward(config, weights, ids, { source, batch: 2 });
    const bound = boundOf(config, sizeIn(exact.logits));
    const session = model.session({ source, batch: 2 });
    for (const [first, count] of [[0, 4], [4, 1], [5, 1]]) {
      const part = [0, 1].flatMap((b) => ids.slice(6 * b + first, 6 * b + first + count));
      const { logits } = model.forward(part, { session });
      const width = count * config.vocabulary;
      logits.data.forEach((x, i) => {
        const at = (Math.floor(i / width) * 6 + first) * config.vocabulary + (i % width);
        assert.ok(Math.abs(x - exact.logits[at]) <= bound, `${x}, expected ${exact.logits[at]}`);
      });
    }
    assert.equal(session.length, 6);
    model.dispose();
  }); // prettier-ignore

  test(`LanguageModel.generate: ${name} says the likeliest tokens after the prompt's text`, async () => {
    const made = make(name);
    const { model, config } = made;
    const text = 'cabbage';
    const source = tokenizer.encode(text);
    const expected = greedy(made, source, 6);
    const tokens = await collect(model.generate(text, { maxTokens: 6 }));
    assert.deepEqual(tokens.map(({ id }) => id), expected);
    assert.equal(tokens.map((token) => token.text).join(''), tokenizer.decode(expected));
    assert.deepEqual(await collect(model.generate(source, { maxTokens: 6 })), tokens);
    // A session goes on where it is, and its source stays when all tokens are taken back.
    const session = model.session({ source: text });
    const start = [config.startToken ?? 0];
    const [first, ...rest] = await collect(model.generate(start, { session, maxTokens: 1 }));
    const alone = { ...tokens[0], finishReason: 'length' };
    assert.deepEqual([first, ...rest], [alone]);
    session.truncate(0);
    const again = await collect(model.generate([...start, first.id], { session, maxTokens: 5 }));
    assert.deepEqual(again.map(({ id }) => id), expected.slice(1));
    const [stop] = expected.slice(2);
    const stopped = await collect(model.generate(text, { maxTokens: 6, stopTokens: [stop] }));
    assert.equal(stopped.at(-1).id, stop);
    assert.ok(stopped.length <= 3);
    model.dispose();
  }); // prettier-ignore
}

test('LanguageModel.beams: the text of an answer begins as that of generate()', async () => {
  // As many tokenizers have it: a word has the space before it, but the first of a text.
  const words = (ids) => Array.from(ids, (id) => ` ${letters[id]}`).join('').slice(1);
  const { model } = make('t5 pair', { tokenizer: { ...tokenizer, decode: words } });
  const options = { maxTokens: 3, stopTokens: [] };
  const [best] = await model.beams([1, 2, 3], { ...options, beams: 1 });
  assert.equal(best.text, await model.generate([1, 2, 3], options).text());
  assert.equal(best.text, words(best.ids));
  model.dispose();
}); // prettier-ignore

test('LanguageModel.generate: as many tokens as the model has room for, and no source is too long', async () => {
  const { model, config } = make('flan-t5');
  assert.equal((await collect(model.generate([1]))).length, config.maxLength);
  const { bytes } = model.session({ source: [1, 2], capacity: 4 });
  // Keys and values of 4 and of 2 tokens, in whole panels.
  assert.ok(bytes >= 2 * config.numLayers * 2 * config.dK * (4 + 2) * 4, `${bytes} bytes`);
  expectThrows(() => model.generate(rowsOf(config, 25)), 'LanguageModel.generate', 'out_of_range', 'prompt has 25 tokens', 'maxLength = 24'); // prettier-ignore
  model.dispose();
});

describe('a model with an encoder: what has no meaning is refused', () => {
  const { model, config } = make('t5 pair');
  const plain = create(engine, kinds['t5 decoder'], randomWeights(kinds['t5 decoder'], 1));
  const session = model.session({ source: [1, 2] });
  after(() => [model, plain].forEach((each) => each.dispose()));
  const rows = [
    ['forward', () => model.forward([1, 2]), 'invalid_argument', 'session is absent', 'a source'],
    ['loss', () => model.loss([1, 2]), 'invalid_argument', 'has an encoder', 'in a session with a source'],
    ['session', () => model.session(), 'invalid_argument', 'source is undefined', 'text or the tokens'],
    ['session', () => model.session({ source: [] }), 'shape_mismatch', 'source has 0 elements', 'at least one'],
    ['session', () => model.session({ source: [1, 2, 3], batch: 2 }), 'shape_mismatch', 'source has 3', 'batch = 2'],
    ['session', () => model.session({ source: 'ab', batch: 2 }), 'out_of_range', 'the batch of a text is 2', '1 to 1'],
    ['session', () => model.session({ source: [1, 19] }), 'out_of_range', 'source[1] is 19', '[0, 19)'],
    ['session', () => model.session({ source: rowsOf(config, 25) }), 'out_of_range', 'tokens of source is 25', '24'],
    ['session', () => model.session({ source: {} }), 'invalid_argument', 'source is'],
    ['session', () => model.session({ source: [1], read: [{ site: 'cross' }] }), 'unsupported', "read[0].site is 'cross'", 'no encoder'],
    ['session', () => model.session({ source: [1], read: [{ site: 'z', layers: [3] }] }), 'out_of_range', 'read[0].layers[0] is 3', '0 to 2'],
    ['session', () => model.session({ source: [1], read: [{ site: 'z', rows: [0, 2] }] }), 'out_of_range', 'read[0].rows[1] is 2'],
    ['session', () => model.session({ source: [1], edit: [{ site: 'z', layer: 3, value: 0 }] }), 'out_of_range', 'edit[0].layer is 3', '0 to 2'],
    ['session', () => model.session({ source: [1], edit: 1 }), 'invalid_argument', 'edit is 1', 'an array'],
    ['session', () => plain.session({ read: [] }), 'invalid_argument', 'read is an array', 'none: the model has no encoder'],
    ['session', () => plain.session({ edit: [] }), 'invalid_argument', 'edit is an array', 'none: the model has no encoder'],
    ['session', () => model.session({ source: [1], plain: 1 }), 'invalid_argument', 'plain is 1'],
    ['session', () => plain.session({ source: [1] }), 'invalid_argument', 'source is an array', 'none: the model has no encoder'],
    ['generate', () => model.generate('ab', { session }), 'invalid_argument', 'prompt is "ab"', '[model.config.startToken]'],
    ['generate', () => model.generate([], {}), 'shape_mismatch', 'prompt has 0 elements'],
  ]; // prettier-ignore
  for (const [method, call, code, ...says] of rows) {
    test(`${method}: ${says[0]}`, () =>
      expectThrows(call, `LanguageModel.${method}`, code, ...says));
  }
});

test('embed: a model with an encoder', async () => {
  const { model } = make('t5 pair');
  const says = ['has an encoder', "['T5EncoderModel']"];
  await expectRejects(model.embed([[1, 2]]), 'LanguageModel.embed', 'invalid_argument', ...says);
  model.dispose();
});

describe('load: the token that a decoder begins with', () => {
  const { tensors, config } = families.t5();
  const opened = (more, generation) =>
    load(engine, { config: { ...config, ...more }, generation, weights: safetensors(tensors) });
  const start = 'decoder_start_token_id';

  test('that of generation_config.json goes before that of config.json', async () => {
    for (const [more, generation, expected] of [
      [{}, undefined, 3],
      [{}, { eos_token_id: 1 }, 3],
      [{}, { [start]: 4 }, 4],
      [{ [start]: null }, { [start]: 0 }, 0],
    ]) {
      const model = await opened(more, generation);
      assert.equal(model.config.startToken, expected);
      model.dispose();
    }
  });

  test('none, and one that is no token, are refused', async () => {
    await expectRejects(opened({ [start]: null }), 'load', 'invalid_argument', `${start} is missing`, 'begins with'); // prettier-ignore
    await expectRejects(opened({ [start]: 11 }), 'load', 'out_of_range', 'startToken is 11', '0 to 10'); // prettier-ignore
    await expectRejects(opened({}, { [start]: 'x' }), 'load', 'invalid_argument', `generation.${start} is "x"`); // prettier-ignore
  });
});
