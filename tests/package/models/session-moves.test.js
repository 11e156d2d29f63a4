// @build each
// Sessions that are copied, forget tokens in the middle, make room by themselves, and become bytes and back.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { kinds, pairs, rowsOf } from '../../support/js/model-kinds.js';
import { modelForward, randomWeights } from '../../support/js/model-oracle.js';

const engine = await init({ deterministic: true });
after(() => engine.dispose());
const made = (config, seed = 11) => {
  const tokenizer = charactersTokenizer(Array.from('abcdefghijklmnopqrs'));
  const model = create(engine, config, randomWeights(config, seed), { tokenizer });
  after(() => model.dispose());
  return model;
};
const config = { ...kinds.llama, maxLength: 40 };
const model = made(config);
const ids = rowsOf(config, 12);
const invalid = 'invalid_argument';
const range = 'out_of_range';
const logitsOf = (of, tokens, session) => of.forward(tokens, { session }).logits.data;

describe('Session.fork', () => {
  for (const format of ['f32', 'bf16', 'int8']) {
    test(`both go on alone, with the bits of one that was not copied: ${format}`, () => {
      const session = model.session({ format });
      logitsOf(model, ids, session);
      const copy = session.fork();
      assert.deepEqual([copy.length, copy.capacity, copy.bytes], [12, 40, session.bytes]);
      const apart = [[1, 2, 3], [4]].map((more, i) => logitsOf(model, more, [session, copy][i]));
      [[1, 2, 3], [4]].forEach((more, i) => {
        const own = model.session({ format });
        logitsOf(model, ids, own);
        expectSame(logitsOf(model, more, own), apart[i], 'logit');
        own.dispose();
      });
      session.dispose();
      logitsOf(model, [5], copy);
      assert.equal(copy.length, 14);
      copy.dispose();
    });
  }
});

describe('Session.remove', () => {
  test('a model of one layer says then what it says without the tokens', () => {
    const scaling = { type: 'yarn', factor: 4, originalLength: 10 };
    for (const kind of [
      config,
      { ...config, positions: 'alibi' },
      { ...config, rotary: { scaling } },
    ]) {
      const of = { ...kind, numLayers: 1 };
      const own = made(of, 3);
      const session = own.session();
      own.forward(ids, { session });
      session.remove(2, 7);
      assert.equal(session.length, 7);
      const next = [3, 9, 4];
      const left = [...ids.slice(0, 2), ...ids.slice(7), ...next];
      // The oracle has no YaRN; without a session no key is turned back.
      const { logits } =
        of.rotary.scaling && of.positions === 'rotary'
          ? { logits: own.forward(left).logits.data }
          : modelForward(of, randomWeights(of, 3), left);
      const expected = logits.slice(-3 * of.vocabulary);
      logitsOf(own, next, session).forEach((x, i) => {
        assert.ok(Math.abs(x - expected[i]) < 1e-5, `${i}: ${x}, ${expected[i]}`);
      });
      session.dispose();
    }
  });

  test('of nothing, of the end, and what is refused', () => {
    const session = model.session();
    const refuses = (begin, end, code, ...says) => {
      expectThrows(() => session.remove(begin, end), 'Session.remove', code, ...says);
      assert.equal(session.length, 12);
    };
    logitsOf(model, ids, session);
    session.remove(4, 4);
    refuses(13, 13, range, 'begin is 13', '0 to 12');
    refuses(3, 13, range, 'end is 13', '3 to 12');
    refuses(3, 2, range, 'end is 2', '3 to 12');
    session.remove(9, 12);
    assert.equal(session.length, 9);
    session.dispose();
    const learned = made({ ...kinds.gpt2, maxLength: 40 });
    const other = learned.session();
    learned.forward(ids, { session: other });
    const moves = () => other.remove(2, 4);
    expectThrows(moves, 'Session.remove', 'unsupported', 'adds learned positions');
    assert.equal(other.length, 12);
    other.remove(2, 12);
    assert.equal(other.length, 2);
    other.dispose();
  });
});

describe('LanguageModel.session: shift', () => {
  /** What a session holds: as many tokens, and answers like it. */
  const alike = (one, other, of = model) => {
    assert.equal(one.length, other.length);
    expectSame(logitsOf(of, [7], one), logitsOf(of, [7], other), 'logit');
  };

  test('forward drops the older half of what follows the first tokens', () => {
    const session = model.session({ capacity: 12, shift: { keep: 3 } });
    const own = model.session({ capacity: 12 });
    for (const each of [session, own]) logitsOf(model, ids, each);
    const { logits } = model.forward([5, 6], { session, inspect: { weights: true } });
    // Of 9 tokens that may go 5, the half rounded up.
    own.remove(3, 8);
    expectSame(logitsOf(model, [5, 6], own), logits.data, 'logit');
    assert.equal(session.length, 9);
    alike(session, own);
    // As many as are needed, if those are more.
    logitsOf(model, [1, 2], session);
    logitsOf(model, [1, 2], own);
    own.remove(3, 12);
    expectSame(logitsOf(model, ids.slice(0, 9), session), logitsOf(model, ids.slice(0, 9), own));
    for (const each of [session, own]) each.dispose();
  });

  test('what does not fit beside the first tokens is refused, and drops nothing', () => {
    const session = model.session({ capacity: 10, shift: { keep: 4 } });
    logitsOf(model, ids.slice(0, 9), session);
    const refuses = (tokens, ...says) =>
      expectThrows(
        () => model.forward(tokens, { session }),
        'LanguageModel.forward',
        range,
        ...says,
      );
    refuses(ids.slice(0, 7), 'holds 9 of 10 tokens');
    refuses([1, 2, 19], 'ids[2] is 19');
    assert.equal(session.length, 9);
    logitsOf(model, [1, 2, 3], session);
    assert.equal(session.length, 9 + 3 - 3);
    session.dispose();
  });

  test('generate goes on beyond the capacity, and leaves the session as it was when it is given up', async () => {
    const session = model.session({ capacity: 14, shift: { keep: 2 } });
    const own = model.session({ capacity: 14 });
    const said = [];
    for await (const { id } of model.generate(ids, { session, maxTokens: 30, stopTokens: [] }))
      said.push(id);
    assert.equal(said.length, 30);
    // The same, by hand.
    const expected = [];
    let next = ids;
    for (let count = 0; count < 30; count += 1) {
      const { length } = own;
      if (length + next.length > 14) own.remove(2, 2 + Math.ceil((length - 2) / 2));
      const row = logitsOf(model, next, own).slice(-config.vocabulary);
      next = [row.indexOf(Math.max(...row))];
      expected.push(next[0]);
    }
    assert.deepEqual(said, expected);
    logitsOf(model, next, own);
    alike(session, own);
    for (const each of [session, own]) each.dispose();
    const short = model.session({ capacity: 9, shift: { keep: 2 } });
    const given = () => model.generate(ids, { session: short });
    expectThrows(given, 'LanguageModel.generate', range, 'prompt has 12 tokens', '7');
    short.dispose();
  });

  test('a generation that is given up in its prompt leaves as much as it found, less what was dropped', async () => {
    const session = model.session({ capacity: 14, shift: { keep: 2 } });
    logitsOf(model, ids, session);
    const own = model.session({ capacity: 14 });
    logitsOf(model, ids, own);
    own.remove(2, 2 + 5);
    const controller = new AbortController();
    const tokens = model.generate(rowsOf(config, 5), { session, signal: controller.signal });
    const first = await tokens.next();
    assert.equal(first.done, false);
    await tokens.return();
    session.truncate(7);
    alike(session, own);
    for (const each of [session, own]) each.dispose();
  });

  test('not with positions that are added to the stream', () => {
    const learned = made({ ...kinds.gpt2, maxLength: 40 });
    const asks = () => learned.session({ shift: {} });
    expectThrows(asks, 'LanguageModel.session', 'unsupported', 'shift is given', 'learned');
  });
});

describe('Session.save', () => {
  for (const format of ['f32', 'bf16', 'int8']) {
    test(`a session of the bytes goes on with the same bits: ${format}`, () => {
      const session = model.session({ batch: 2, capacity: 30, format });
      model.forward(ids, { session });
      const bytes = session.save();
      assert.ok(bytes instanceof Uint8Array);
      assert.equal(String.fromCharCode(...bytes.subarray(0, 7)), 'qkvsess');
      const back = model.session({ from: bytes });
      assert.deepEqual([back.length, back.capacity, back.bytes], [6, 30, session.bytes]);
      assert.deepEqual(back.save(), bytes);
      const next = { batch: 2, session };
      expectSame(
        model.forward([1, 2], { ...next, session: back }).logits.data,
        model.forward([1, 2], next).logits.data,
        'logit',
      );
      const roomy = model.session({ from: bytes, capacity: 40, shift: { keep: 1 } });
      assert.equal(roomy.capacity, 40);
      model.forward(rowsOf(config, 2 * 38), { batch: 2, session: roomy, rows: 'last' });
      assert.equal(roomy.length, 40);
      for (const each of [session, back, roomy]) each.dispose();
    });
  }

  test('with the source of a model with an encoder', () => {
    const [[, of]] = Object.entries(pairs);
    const pair = made(of);
    const session = pair.session({ source: [1, 2, 3] });
    pair.forward([of.startToken ?? 0], { session });
    const back = pair.session({ from: session.save() });
    expectSame(logitsOf(pair, [4], back), logitsOf(pair, [4], session), 'logit');
    for (const each of [session, back]) each.dispose();
  });

  test('bytes that are no session of the model are refused by name', () => {
    const session = model.session();
    model.forward(ids, { session });
    const bytes = session.save();
    session.dispose();
    const fn = 'LanguageModel.session';
    const { handles } = engine.memory();
    const refuses = (from, code, ...says) =>
      expectThrows(() => model.session({ from }), fn, code, ...says);
    refuses(new Uint8Array(4), invalid, 'from has 4 bytes', 'at least 96');
    refuses(new Uint8Array(200), invalid, 'from does not begin');
    refuses(bytes.slice(0, -4), 'shape_mismatch', 'from has', 'for 12 tokens');
    // Two words and the tokens stand before what the core has saved.
    const later = bytes.slice();
    later[4 * (2 + 12) + 8] = 2;
    refuses(later, 'unsupported', 'the version of from is 2');
    const changed = (word, value) => {
      const copy = bytes.slice();
      new DataView(copy.buffer).setInt32(4 * word, value, true);
      return copy;
    };
    refuses(changed(3, 19), invalid, 'from has token 19', '0 to 18');
    refuses(changed(3, -1), invalid, 'from has token -1');
    refuses(changed(1, -1), invalid, 'from has -1 tokens');
    refuses(changed(1, 2 ** 30), invalid, `from has ${2 ** 30} tokens`);
    refuses(changed(1, 11), invalid, 'from does not begin');
    const other = made({ ...config, rotary: { base: 900 } });
    expectThrows(() => other.session({ from: bytes }), fn, invalid, 'another config');
    const wider = made({ ...kinds.gpt2, maxLength: 40 });
    expectThrows(() => wider.session({ from: bytes }), fn, invalid, 'from');
    expectThrows(
      () => model.session({ from: bytes, batch: 1 }),
      fn,
      invalid,
      'batch is given with from',
    );
    expectThrows(
      () => model.session({ from: bytes, format: 'f32' }),
      fn,
      invalid,
      'format is given',
    );
    expectThrows(
      () => model.session({ from: bytes, capacity: 5 }),
      fn,
      range,
      'capacity is 5',
      '12',
    );
    const shift = { keep: 12 };
    expectThrows(
      () => model.session({ from: bytes, capacity: 12, shift }),
      fn,
      range,
      'shift.keep',
    );
    assert.equal(engine.memory().handles, handles + 2); // the two models
  });
});
