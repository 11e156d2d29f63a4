// @build each
// What a generation says of its choices: seeds, ends, alternatives, and tokens that may or may not come.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create, sample } from 'qkv/models';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { kinds, rowsOf } from '../../support/js/model-kinds.js';
import { logProbabilities, randomWeights } from '../../support/js/model-oracle.js';

const fn = 'LanguageModel.generate';
const engine = await init({ deterministic: true });
after(() => engine.dispose());
const config = { ...kinds.llama, maxLength: 40 };
const letters = Array.from('abcdefghijklmnopqrs');
const tokenizer = charactersTokenizer(letters);
const model = create(engine, config, randomWeights(config, 11), { tokenizer });
after(() => model.dispose());
const prompt = rowsOf(config, 5);
const { vocabulary } = config;

const all = async (tokens) => {
  const list = [];
  for await (const token of tokens) list.push(token);
  return list;
};
const idsOf = async (options) => (await all(model.generate(prompt, options))).map(({ id }) => id);

describe('seeds', () => {
  test('generate: without one each call draws another, and says which', async () => {
    const options = { temperature: 1, maxTokens: 20 };
    const calls = Array.from({ length: 8 }, () => model.generate(prompt, options));
    const seeds = calls.map(({ seed }) => seed);
    assert.equal(new Set(seeds).size, 8);
    assert.ok(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0));
    const texts = await Promise.all(
      calls.map(async (call) => (await all(call)).map(({ id }) => id)),
    );
    // 20 tokens of 19 are the same by chance once in 10^25 draws.
    assert.notDeepEqual(texts[0], texts[1]);
    assert.deepEqual(await idsOf({ ...options, seed: seeds[0] }), texts[0]);
  });

  test('generate: a seed that is given is told', () => {
    assert.equal(model.generate(prompt, { seed: 0 }).seed, 0);
  });
});

describe('why it ended', () => {
  const ended = async (options) => {
    const tokens = model.generate(prompt, options);
    assert.equal(tokens.finishReason, undefined);
    const list = await all(tokens);
    assert.ok(list.slice(0, -1).every((token) => !('finishReason' in token)));
    assert.equal(list.at(-1).finishReason, tokens.finishReason);
    return tokens.finishReason;
  };

  test('generate: length, room and stop', async () => {
    const [first, second] = await idsOf({ maxTokens: 2 });
    assert.equal(await ended({ maxTokens: 3 }), 'length');
    assert.equal(await ended({}), 'room');
    assert.equal(await ended({ maxTokens: 1000 }), 'room');
    const session = model.session({ capacity: prompt.length + 2 });
    assert.equal(await ended({ session, maxTokens: 9 }), 'room');
    session.dispose();
    assert.equal(await ended({ stopTokens: [second] }), 'stop');
    assert.equal(await ended({ stop: [letters[first]] }), 'stop');
    // The last that may come is a stop all the same.
    assert.equal(await ended({ stopTokens: [first], maxTokens: 1 }), 'stop');
  });

  test('generate: aborted by who breaks off, by a signal, and by an error', async () => {
    const broken = model.generate(prompt);
    for await (const _ of broken) break;
    const signal = AbortSignal.abort(new Error('enough'));
    const stopped = model.generate(prompt, { signal });
    await assert.rejects(all(stopped), /enough/);
    const failing = model.generate(prompt, { mask: () => ['a'] });
    await expectRejects(all(failing), fn, 'invalid_argument', 'mask()[0]');
    const unused = model.generate(prompt);
    await unused.return();
    for (const tokens of [broken, stopped, failing, unused])
      assert.equal(tokens.finishReason, 'aborted');
  });

  test('generate: text() is all of the text, once', async () => {
    const tokens = await all(model.generate(prompt, { maxTokens: 9 }));
    const told = model.generate(prompt, { maxTokens: 9 });
    assert.equal(await told.text(), tokens.map(({ text }) => text).join(''));
    await expectRejects(told.text(), fn, 'busy');
  });
});

describe('alternatives', () => {
  test('generate: the likeliest tokens, as the logits have them', async () => {
    const ids = [...prompt];
    const options = { topLogprobs: 4, maxTokens: 6, temperature: 3, seed: 2 };
    for (const { id, logProbability, topLogprobs } of await all(model.generate(prompt, options))) {
      const { logits } = model.forward(ids, { rows: 'last' });
      const row = Array.from(logProbabilities(logits.data));
      const order = [...row.keys()].sort((a, b) => row[b] - row[a]);
      assert.deepEqual(
        topLogprobs.map((each) => each.id),
        order.slice(0, 4),
      );
      for (const each of topLogprobs) {
        assert.ok(Math.abs(each.logProbability - row[each.id]) < 1e-5);
        assert.equal(each.text, letters[each.id]);
      }
      assert.ok(Math.abs(logProbability - row[id]) < 1e-5);
      ids.push(id);
    }
  });

  test('generate: the texts are what tokens would add, spaces and open letters too', async () => {
    // Bytes of UTF-8, so that most tokens are no letter alone.
    const bytes = { encode: (text) => [...Buffer.from(text)].map((b) => b % vocabulary) };
    const table = [0xc3, 0xa9, 0x20, 0x61];
    const decode = (ids) => Buffer.from(Array.from(ids, (id) => table[id % 4])).toString();
    const own = create(engine, config, randomWeights(config, 11), {
      tokenizer: { ...bytes, decode },
    });
    const [{ topLogprobs }] = await all(
      own.generate([0], { topLogprobs: vocabulary, maxTokens: 1 }),
    );
    own.dispose();
    for (const { id, text } of topLogprobs)
      assert.equal(text, ['\ufffd', 'é', ' ', 'a'][id % 4], `token ${id}`);
  });

  test('generate: none without the option', async () => {
    const [token] = await all(model.generate(prompt, { maxTokens: 1 }));
    assert.equal('topLogprobs' in token, false);
  });
});

describe('tokens that may come', () => {
  test('generate: a bias is added, and with -Infinity or banned a token never comes', async () => {
    const greedy = await idsOf({ maxTokens: 12 });
    const never = greedy[0];
    for (const options of [{ banned: [never] }, { logitBias: { [never]: -Infinity } }]) {
      const ids = await idsOf({ ...options, maxTokens: 12 });
      assert.ok(!ids.includes(never));
      const { logits } = model.forward([...prompt], { rows: 'last' });
      assert.equal(ids[0], sample(engine, logits, { logitBias: { [never]: -Infinity } }).id);
    }
    const always = (never + 1) % vocabulary;
    const ids = await idsOf({ logitBias: { [always]: 1000 }, maxTokens: 6 });
    assert.deepEqual(ids, Array(6).fill(always));
    const both = await idsOf({ logitBias: { [always]: 1000 }, banned: [always], maxTokens: 6 });
    assert.ok(!both.includes(always), 'what is banned does not come');
  });

  test('generate: the first tokens can be forced, and are told as all others', async () => {
    const forced = [7, 3, 7];
    const tokens = await all(model.generate(prompt, { forced, maxTokens: 6 }));
    assert.deepEqual(
      tokens.slice(0, 3).map(({ id }) => id),
      forced,
    );
    const { logits } = model.forward([...prompt, 7], { rows: 'last' });
    assert.ok(Math.abs(tokens[1].logProbability - logProbabilities(logits.data)[3]) < 1e-5);
    const rest = (await all(model.generate([...prompt, ...forced], { maxTokens: 3 }))).map(
      ({ id }) => id,
    );
    assert.deepEqual(
      tokens.slice(3).map(({ id }) => id),
      rest,
    );
  });

  test('generate: a mask is called with the answer so far, and lets only its tokens through', async () => {
    const calls = [];
    const mask = (answer) => {
      calls.push([...answer]);
      return answer.length % 2 ? [2, 4, 18] : undefined;
    };
    const ids = await idsOf({ mask, maxTokens: 9, temperature: 5, seed: 4 });
    assert.deepEqual(
      calls,
      ids.map((_, i) => ids.slice(0, i)),
    );
    ids.forEach((id, i) => assert.ok(i % 2 === 0 || [2, 4, 18].includes(id)));
    const free = await idsOf({ maxTokens: 9, temperature: 5, seed: 4 });
    assert.equal(ids[0], free[0], 'undefined lets all through');
  });

  test('generate: penalties count what came before', async () => {
    const { logits } = model.forward(prompt, { rows: 'last' });
    const options = { frequencyPenalty: 1.5, presencePenalty: 0.5 };
    const [first] = await idsOf({ ...options, maxTokens: 1 });
    const row = Array.from(logits.data, (logit, id) => {
      const count = [...prompt].filter((each) => each === id).length;
      return logit - 1.5 * count - (count > 0 ? 0.5 : 0);
    });
    assert.equal(first, row.indexOf(Math.max(...row)));
    // More than logits differ by: tokens take turns, and those of the prompt have had theirs.
    const often = await idsOf({ frequencyPenalty: 30, maxTokens: 2 * vocabulary - prompt.length });
    const counts = Array.from({ length: vocabulary }, () => 0);
    for (const id of [...prompt, ...often]) counts[id] += 1;
    assert.deepEqual(counts, Array(vocabulary).fill(2));
  });

  for (const [options, code, ...says] of [
    [{ banned: 7 }, 'invalid_argument', 'banned is 7'],
    [{ banned: [vocabulary] }, 'out_of_range', `banned[0] is ${vocabulary}`],
    [{ forced: [0.5] }, 'invalid_argument', 'forced[0] is 0.5'],
    [{ logitBias: 'all' }, 'invalid_argument', 'logitBias is "all"'],
    [{ logitBias: { 99: 1 } }, 'out_of_range', '99'],
    [{ logitBias: { 3: NaN } }, 'invalid_argument', 'logitBias[3] is NaN'],
    [{ mask: [1] }, 'invalid_argument', 'mask is'],
    [{ topLogprobs: vocabulary + 1 }, 'out_of_range', 'topLogprobs'],
    [{ topLogprobs: -1 }, 'out_of_range', 'topLogprobs'],
    [{ frequencyPenalty: Infinity }, 'invalid_argument', 'frequencyPenalty'],
  ])
    test(`generate: ${JSON.stringify(options)} is refused at once`, () =>
      expectThrows(() => model.generate(prompt, options), fn, code, ...says));

  for (const [what, mask, code, ...says] of [
    ['no token', () => [], 'invalid_argument', 'mask() is', 'at least one token'],
    ['a text', () => 'abc', 'invalid_argument', 'mask() is "abc"'],
    ['a token that is none', () => [vocabulary], 'out_of_range', 'mask()[0]'],
    [
      'what throws',
      () => {
        throw new Error('not now');
      },
      ...['invalid_argument', 'not now'],
    ],
  ])
    test(`generate: a mask of ${what} ends it by name`, async () => {
      const session = model.session();
      await expectRejects(all(model.generate(prompt, { mask, session })), fn, code, ...says);
      assert.equal(session.length, 0, 'the session is as it was');
      session.dispose();
    });

  test('generate: where nothing may be chosen it ends by name', async () => {
    const banned = Array.from({ length: vocabulary }, (_, id) => id);
    await expectRejects(all(model.generate(prompt, { banned })), fn, 'out_of_range');
    await expectRejects(
      all(model.generate(prompt, { banned: [3], mask: () => [3] })),
      fn,
      'out_of_range',
    );
  });
});
