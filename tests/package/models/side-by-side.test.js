// @build each
// Several generations in one pass, and beam search: beside generations alone, and beside all answers there are.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { regularExpression } from 'qkv/constraints';
import { charactersTokenizer, create } from 'qkv/models';
import { init as initAway } from 'qkv/worker';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { checkpoint, checkpointConfig } from '../../support/js/checkpoints.js';
import { kinds, rowsOf } from '../../support/js/model-kinds.js';
import { logProbabilities, modelForward, randomWeights } from '../../support/js/model-oracle.js';

const engine = await init({ deterministic: true });
after(() => engine.dispose());
const config = { ...kinds.llama, maxLength: 60 };
const weights = randomWeights(config, 3);
const letters = Array.from('abcdefghijklmnopqrs');
const model = create(engine, config, weights, { tokenizer: charactersTokenizer(letters) });
after(() => model.dispose());
const prompts = [12, 3, 7, 1].map((length) => rowsOf(config, length));
const all = async (tokens) => {
  const list = [];
  for await (const token of tokens) list.push(token);
  return list;
};
const withoutIndex = (token) => Object.fromEntries(Object.entries(token).filter(([name]) => name !== 'index')); // prettier-ignore

describe('generateAll', () => {
  const fn = 'LanguageModel.generateAll';

  for (const [what, options] of Object.entries({
    'the likeliest tokens': { maxTokens: 9 },
    'drawn tokens, with penalties and alternatives': {
      ...{ maxTokens: 9, temperature: 1.3, seed: 2 ** 52 + 5, topK: 9, topP: 0.95 },
      ...{ repetitionPenalty: 1.2, frequencyPenalty: 0.3, topLogprobs: 2, logitBias: { 3: 1 } },
    },
    'what is forced and masked': {
      ...{
        maxTokens: 6,
        forced: [4, 2],
        mask: (answer) => (answer.length < 3 ? undefined : [7, 8]),
      },
    },
    'stops of texts and tokens': {
      maxTokens: 20,
      temperature: 2,
      seed: 8,
      stop: ['a'],
      stopTokens: [5],
    },
  }))
    test(`each has the tokens that it has alone: ${what}`, async () => {
      const together = model.generateAll(prompts, options);
      const told = await all(together);
      for (const [i, prompt] of prompts.entries()) {
        const seed = ((options.seed ?? 0) + i) % 2 ** 53;
        const alone = model.generate(prompt, { ...options, seed });
        const expected = await all(alone);
        assert.deepEqual(told.filter(({ index }) => index === i).map(withoutIndex), expected);
        assert.equal(together.finishReasons[i], alone.finishReason);
        if (options.seed) assert.equal(together.seeds[i], seed);
      }
    });

  test('they come in rounds, and texts are whole', async () => {
    const told = await all(model.generateAll(prompts, { maxTokens: 3 }));
    assert.deepEqual(
      told.map(({ index }) => index),
      [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3],
    );
    const texts = await model.generateAll(prompts, { maxTokens: 3 }).texts();
    const alone = prompts.map((prompt) => model.generate(prompt, { maxTokens: 3 }).text());
    assert.deepEqual(texts, await Promise.all(alone));
  });

  test('without a seed one is drawn, and those of the others follow it', () => {
    const { seeds } = model.generateAll(prompts);
    assert.deepEqual(
      seeds,
      seeds.map((_, i) => seeds[0] + i),
    );
    assert.notEqual(model.generateAll(prompts).seeds[0], seeds[0]);
  });

  test('after the greatest seed comes 0, and each has another', async () => {
    const seed = 2 ** 53 - 1;
    const together = model.generateAll(prompts, { temperature: 2, seed, maxTokens: 6 });
    assert.deepEqual(together.seeds, [seed, 0, 1, 2]);
    const told = await all(together);
    for (const [i, prompt] of prompts.entries()) {
      const alone = model.generate(prompt, {
        ...{ temperature: 2, maxTokens: 6 },
        seed: together.seeds[i],
      });
      const own = told.filter(({ index }) => index === i).map(withoutIndex);
      assert.deepEqual(own, await all(alone));
    }
  });

  test('who breaks off leaves no session behind, and each says that it was aborted', async () => {
    const { handles } = engine.memory();
    const broken = model.generateAll(prompts);
    for await (const { index } of broken) if (index === 2) break;
    assert.deepEqual(broken.finishReasons, Array(4).fill('aborted'));
    const stop = new AbortController();
    const stopped = model.generateAll(prompts, { signal: stop.signal });
    await assert.rejects(async () => {
      for await (const _ of stopped) stop.abort(new Error('enough'));
    }, /enough/);
    const unused = model.generateAll(prompts);
    await unused.return();
    assert.deepEqual(unused.finishReasons, Array(4).fill('aborted'));
    assert.equal(engine.memory().handles, handles);
  });

  test('what cannot go on ends all of them by name', async () => {
    const banned = letters.map((_, id) => id);
    const none = () => [];
    await expectRejects(all(model.generateAll(prompts, { mask: none })), fn, 'invalid_argument', 'mask() is'); // prettier-ignore
    await expectRejects(all(model.generateAll(prompts, { banned })), fn, 'out_of_range');
  });

  test('what is wrong is refused at once', () => {
    const session = model.session();
    for (const [given, options, of, code, ...says] of [
      [[], {}, fn, 'invalid_argument', 'prompts is an array', '1 to 1024'],
      ['abc', {}, fn, 'invalid_argument', 'prompts is "abc"'],
      [[[1], []], {}, fn, 'shape_mismatch', 'prompt'],
      [[[99]], {}, fn, 'out_of_range', 'prompt[0] is 99'],
      [prompts, { session }, fn, 'invalid_argument', 'session is'],
      [prompts, { read: [] }, fn, 'invalid_argument', 'read is'],
      [prompts, { topK: -1 }, fn, 'out_of_range', 'topK'],
      [prompts, { seed: '1' }, fn, 'invalid_argument', 'seed'],
      [prompts, { maxToken: 1 }, fn, 'invalid_argument', "unknown key 'maxToken'", "'maxTokens'"],
      [prompts, { stop: [''] }, fn, 'invalid_argument', 'stop is'],
      [prompts, { stopTokens: [99] }, fn, 'out_of_range', 'stopTokens[0] is 99'],
      [prompts, { banned: [99] }, fn, 'out_of_range', 'banned[0] is 99'],
      [prompts, { forced: 1 }, fn, 'invalid_argument', 'forced is 1'],
      [prompts, { logitBias: { 99: 1 } }, fn, 'out_of_range', 'a token of logitBias is 99'],
      [prompts, { mask: 1 }, fn, 'invalid_argument', 'mask is 1'],
      [prompts, { constraint: {} }, fn, 'invalid_argument', 'constraint is'],
      [prompts, Object.create({ reuse: true }), fn, 'invalid_argument', 'reuse is true'],
    ])
      expectThrows(() => model.generateAll(given, options), of, code, ...says);
    session.dispose();
  });
});

describe('beams', () => {
  const fn = 'LanguageModel.beams';
  const prompt = rowsOf(config, 4);

  /** ln p of every answer of `length` tokens, by the oracle. */
  function everyAnswer(length) {
    let answers = [{ ids: [], logProbability: 0 }];
    for (let t = 0; t < length; t += 1) {
      answers = answers.flatMap(({ ids, logProbability }) => {
        const { logits } = modelForward(config, weights, [...prompt, ...ids]);
        const row = logProbabilities(logits.slice(-config.vocabulary));
        return Array.from(row, (each, id) => ({
          ...{ ids: [...ids, id], logProbability: logProbability + each },
        }));
      });
    }
    return answers.sort((a, b) => b.logProbability - a.logProbability);
  }

  test('as many beams as first tokens find the likeliest answers of two tokens', async () => {
    const expected = everyAnswer(2).slice(0, 19);
    const found = await model.beams(prompt, { beams: 19, maxTokens: 2, stopTokens: [] });
    assert.deepEqual(
      found.map(({ ids }) => [...ids]),
      expected.map(({ ids }) => ids),
    );
    for (const [i, { logProbability, score, text, ids, finishReason }] of found.entries()) {
      assert.ok(Math.abs(logProbability - expected[i].logProbability) < 1e-4);
      assert.equal(score, logProbability / 2);
      assert.equal(text, Array.from(ids, (id) => letters[id]).join(''));
      assert.equal(finishReason, 'length');
    }
  });

  for (const [what, options, isLeft, bias = {}] of [
    [
      'banned tokens never come',
      { banned: [3, 7, 11] },
      (ids) => !ids.some((id) => [3, 7, 11].includes(id)),
    ],
    ['forced tokens are the first', { forced: [6] }, ([first]) => first === 6],
    [
      'a mask is asked for each answer',
      { mask: ([first]) => (first === undefined ? [1, 2, 3] : [first, 9]) },
      ([first, second]) => [1, 2, 3].includes(first) && [first, 9].includes(second),
    ],
    [
      'biases are added where answers are compared',
      { logitBias: { 2: 1.5, 9: -2, 4: -Infinity } },
      (ids) => !ids.includes(4),
      { 2: 1.5, 9: -2 },
    ],
    [
      'a constraint holds for each',
      { constraint: regularExpression('[a-f][c-s]') },
      ([first, second]) => first < 6 && second >= 2,
    ],
  ])
    test(`the likeliest answers of two tokens under rules: ${what}`, async () => {
      const value = ({ ids, logProbability }) =>
        ids.reduce((sum, id) => sum + (bias[id] ?? 0), logProbability);
      const expected = everyAnswer(2)
        .filter(({ ids }) => isLeft(ids))
        .sort((a, b) => value(b) - value(a))
        .slice(0, 19);
      const wide = { beams: 19, maxTokens: 2, stopTokens: [], ...options };
      const found = await model.beams(prompt, wide);
      assert.deepEqual(
        found.map(({ ids }) => [...ids]),
        expected.map(({ ids }) => ids),
      );
      for (const [i, { logProbability, score, finishReason }] of found.entries()) {
        assert.ok(Math.abs(logProbability - expected[i].logProbability) < 1e-4);
        assert.ok(Math.abs(score - value(expected[i]) / 2) < 1e-4);
        assert.equal(finishReason, options.constraint ? 'stop' : 'length');
      }
    });

  test('a bias that adds may make a longer answer the best one, which ends the search no sooner', async () => {
    const [end] = [5];
    const options = { maxTokens: 4, stopTokens: [end], lengthPenalty: 0 };
    const [plain] = await model.beams(prompt, { ...options, beams: 19, logitBias: { [end]: 9 } });
    assert.deepEqual([...plain.ids], [end]);
    const bias = Object.fromEntries(letters.map((_, id) => [id, id === end ? 14 : 8]));
    const [best] = await model.beams(prompt, { ...options, beams: 1, logitBias: bias });
    assert.equal(best.ids.length, 4);
  });

  test('answers of a constraint end where nothing can follow, with or without a token for it', async () => {
    const constraint = regularExpression('(ab?|ba|q)');
    const [without, withEnd] = await Promise.all(
      [[], [18]].map((stopTokens) => model.beams(prompt, { beams: 8, stopTokens, constraint })),
    );
    // "a" alone may be the whole text, but only a token that ends it says so.
    assert.deepEqual(new Set(without.map(({ text }) => text)), new Set(['ab', 'ba', 'q']));
    assert.deepEqual(new Set(withEnd.map(({ text }) => text)), new Set(['a', 'ab', 'ba', 'q']));
    for (const { finishReason } of [...without, ...withEnd]) assert.equal(finishReason, 'stop');
  });

  test('one beam says what generate() says', async () => {
    const options = {
      maxTokens: 12,
      stopTokens: [5],
      banned: [2],
      logitBias: { 8: 0.5 },
      forced: [1],
    };
    const expected = await all(model.generate(prompt, options));
    const [beam, ...others] = await model.beams(prompt, { ...options, beams: 1 });
    assert.deepEqual(
      [...beam.ids],
      expected.map(({ id }) => id),
    );
    assert.equal(beam.finishReason, expected.at(-1).finishReason);
    assert.deepEqual(others, []);
    const sum = expected.reduce((total, { logProbability }) => total + logProbability, 0);
    assert.ok(Math.abs(beam.logProbability - sum) < 1e-5);
  });

  test('answers that end are among them, and a penalty of lengths orders them', async () => {
    // The likeliest tokens of all end an answer.
    const { logits } = model.forward(prompt, { rows: 'last' });
    const order = [...logits.data.keys()].sort((a, b) => logits.data[b] - logits.data[a]);
    const stopTokens = order.slice(0, 2);
    for (const lengthPenalty of [0, 1, 3]) {
      const found = await model.beams(prompt, {
        beams: 4,
        maxTokens: 6,
        stopTokens,
        lengthPenalty,
      });
      assert.equal(found.length, 4);
      for (const { ids, logProbability, score, finishReason, text } of found) {
        assert.equal(score, logProbability / ids.length ** lengthPenalty);
        const isEnd = stopTokens.includes(ids.at(-1));
        assert.equal(finishReason, isEnd ? 'stop' : 'length');
        assert.ok(![...ids.slice(0, -1)].some((id) => stopTokens.includes(id)));
        assert.equal(text.length, isEnd ? ids.length - 1 : ids.length);
      }
      const scores = found.map(({ score }) => score);
      assert.deepEqual(
        scores,
        [...scores].sort((a, b) => b - a),
      );
      if (lengthPenalty === 0) assert.deepEqual([...found[0].ids], [order[0]]);
    }
  });

  test('more beams never find a less likely best answer of the same length', async () => {
    let before = -Infinity;
    for (const beams of [1, 19]) {
      const [best] = await model.beams(prompt, { beams, maxTokens: 2, stopTokens: [] });
      assert.ok(best.logProbability >= before);
      before = best.logProbability;
    }
  });

  test('a signal ends it, and no session stays', async () => {
    const { handles } = engine.memory();
    const signal = AbortSignal.abort(new Error('enough'));
    await assert.rejects(model.beams(prompt, { signal }), /enough/);
    await model.beams(prompt, { maxTokens: 5 });
    assert.equal(engine.memory().handles, handles);
  });

  test('what is wrong is refused by name', async () => {
    for (const [given, options, of, code, ...says] of [
      [prompt, { beams: 0 }, fn, 'out_of_range', 'beams is 0'],
      [prompt, { beams: 65 }, fn, 'out_of_range', 'beams is 65'],
      [prompt, { lengthPenalty: NaN }, fn, 'invalid_argument', 'lengthPenalty'],
      [prompt, { temperature: 1 }, fn, 'invalid_argument', 'temperature is 1', 'draws no token'],
      [prompt, { seed: 0 }, fn, 'invalid_argument', 'seed is 0', 'draws no token'],
      [prompt, { presencePenalty: 1 }, fn, 'invalid_argument', 'presencePenalty is 1', 'logitBias'],
      [prompt, { stop: ['a'] }, fn, 'invalid_argument', 'stop is', 'stopTokens'],
      [prompt, { topLogprobs: 2 }, fn, 'invalid_argument', 'topLogprobs is 2', 'alternatives'],
      [prompt, { read: [] }, fn, 'invalid_argument', 'read is', 'generate() alone'],
      [prompt, { beam: 2 }, fn, 'invalid_argument', "unknown key 'beam'", "'beams'"],
      [prompt, { banned: [99] }, fn, 'out_of_range', 'banned[0] is 99'],
      [prompt, { constraint: {} }, fn, 'invalid_argument', 'constraint is'],
      [prompt, { banned: letters.map((_, id) => id) }, fn, 'out_of_range', 'leave no token'],
      [[99], {}, fn, 'out_of_range', 'prompt[0] is 99'],
    ])
      await expectRejects((async () => model.beams(given, options))(), of, code, ...says);
  });
});

test('in a worker: the same tokens, seeds, reasons and beams', async () => {
  const away = await initAway({ deterministic: true, models: true });
  after(() => away.dispose());
  const own = checkpointConfig({
    ...{ vocabulary: 19, numLayers: 2, dModel: 16, numHeads: 4, dFeedForward: 24, maxLength: 30 },
  });
  const file = checkpoint(own, randomWeights(own, 11));
  const { load } = await import('qkv/models');
  const [remote, local] = [
    await away.loadModel({ weights: file }),
    await load(engine, { weights: file }),
  ];
  const rows = [[1, 2, 3], [4]];
  const options = { maxTokens: 6, temperature: 1, seed: 5 };
  const [there, here] = [remote.generateAll(rows, options), local.generateAll(rows, options)];
  assert.deepEqual(await all(there), await all(here));
  assert.deepEqual([there.seeds, there.finishReasons], [here.seeds, here.finishReasons]);
  const drawn = remote.generateAll(rows, { maxTokens: 2 });
  assert.deepEqual(drawn.seeds, [drawn.seeds[0], drawn.seeds[0] + 1]);
  for await (const _ of drawn) break;
  assert.deepEqual(drawn.finishReasons, ['aborted', 'aborted']);
  const found = { beams: 3, maxTokens: 4, banned: [2], logitBias: { 3: 1 }, forced: [4] };
  assert.deepEqual(await remote.beams([1, 2], found), await local.beams([1, 2], found));
  local.dispose();
});
