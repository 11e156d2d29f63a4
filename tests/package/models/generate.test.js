// @build each
// Generation: which tokens come, what they say of themselves, when they end, and what a session holds then.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { expectRejects, expectSame, expectThrows } from '../../support/js/check.js';
import { kinds, pairs, rowsOf } from '../../support/js/model-kinds.js';
import { logProbabilities, modelForward, randomWeights } from '../../support/js/model-oracle.js';
import { settled } from '../../support/js/puppet.js';

const fn = 'LanguageModel.generate';
// A seed gives the same tokens on every machine with these kernels alone.
const engine = await init({ deterministic: true });
after(() => engine.dispose());

const config = { ...kinds.llama, maxLength: 40 };
const weights = randomWeights(config, 11);
const letters = Array.from('abcdefghijklmnopqrs');
const tokenizer = charactersTokenizer(letters);
const model = create(engine, config, weights, { tokenizer });
after(() => model.dispose());
const prompt = rowsOf(config, 5);

/** Everything that comes. */
async function all(iterable) {
  const tokens = [];
  for await (const token of iterable) tokens.push(token);
  return tokens;
}
const idsOf = async (options, of = model, from = prompt) =>
  (await all(of.generate(from, options))).map(({ id }) => id);
const textOf = (tokens) => tokens.map(({ text }) => text).join('');

const greedy = await idsOf({ maxTokens: 20 });
/** Where a token comes that did not come before. */
const firstNew = greedy.findIndex((id, i) => i > 4 && !greedy.slice(0, i).includes(id));

/** Words with a space before them, which the first word of a text is without, as SentencePiece decodes them. */
const words = {
  encode: () => [],
  decode: (ids) =>
    ids
      .map((id) => ` w${id}`)
      .join('')
      .slice(1),
};

test('generate: a text after an encoder begins without the token that the decoder begins with', async () => {
  const pair = pairs['t5 pair'];
  const translator = create(engine, pair, randomWeights(pair, 3), { tokenizer: words });
  const session = translator.session({ source: [1, 2, 3] });
  const tokens = await all(translator.generate([pair.startToken], { session, maxTokens: 3, stopTokens: [] })); // prettier-ignore
  const [first, ...others] = tokens.map(({ id, text }) => [id, text]);
  assert.deepEqual(first, [first[0], `w${first[0]}`]);
  for (const [id, text] of others) assert.equal(text, ` w${id}`);
  translator.dispose();
});

describe('which tokens', () => {
  test('generate: each is the likeliest, and says how likely it was', async () => {
    const tokens = await all(model.generate(prompt, { maxTokens: 8 }));
    const ids = [...prompt];
    for (const { id, logProbability } of tokens) {
      const { logits } = modelForward(config, weights, ids);
      const row = logProbabilities(logits.slice(-config.vocabulary));
      const [first, second] = [...row].sort((a, b) => b - a);
      assert.ok(first - second > 1e-4, 'nobody doubts which is the likeliest');
      assert.equal(id, row.indexOf(first));
      assert.ok(Math.abs(logProbability - first) < 1e-4, `${logProbability}, ${first}`);
      ids.push(id);
    }
  });

  for (const options of [{ topK: 1 }, { topP: 1e-6 }, { minP: 1 }]) {
    test(`generate: ${JSON.stringify(options)} leaves the likeliest token alone`, async () => {
      const drawn = await idsOf({ ...options, maxTokens: 20, temperature: 2, seed: 7 });
      assert.deepEqual(drawn, greedy);
    });
  }

  test('generate: a seed draws the same tokens, another seed others', async () => {
    const draw = (seed) => idsOf({ maxTokens: 20, temperature: 1.5, seed });
    const [one, again, other] = [await draw(1), await draw(1), await draw(2)];
    assert.deepEqual(one, again);
    assert.notDeepEqual(one, other);
    assert.notDeepEqual(one, greedy);
  });

  test('generate: tokens that were kept, which every machine draws again', async () => {
    const kept = {
      greedy: { maxTokens: 12 },
      warm: { maxTokens: 12, temperature: 0.8, seed: 3 },
      'of few': {
        maxTokens: 12,
        temperature: 1,
        topK: 5,
        topP: 0.9,
        minP: 0.02,
        seed: 2 ** 53 - 1,
      },
    };
    const drawn = {};
    for (const [name, options] of Object.entries(kept)) drawn[name] = await idsOf(options);
    assert.deepEqual(drawn, {
      greedy: [13, 7, 9, 9, 13, 7, 8, 9, 8, 9, 13, 10],
      warm: [13, 9, 3, 0, 8, 8, 1, 15, 13, 10, 10, 10],
      'of few': [15, 16, 16, 13, 13, 7, 9, 6, 13, 7, 16, 13],
    });
  });

  for (const repetitionPenalty of [1.5, 0.5]) {
    test(`generate: a penalty of ${repetitionPenalty} is for tokens of the prompt and those that came`, async () => {
      const ids = await idsOf({ maxTokens: 8, repetitionPenalty });
      const row = [...prompt];
      for (const id of ids) {
        const logits = modelForward(config, weights, row).logits.slice(-config.vocabulary);
        const judged = logits.map((x, token) => {
          if (!row.includes(token)) return x;
          return x > 0 ? x / repetitionPenalty : x * repetitionPenalty;
        });
        assert.equal(id, judged.indexOf(Math.max(...judged)));
        row.push(id);
      }
      assert.notDeepEqual(ids, greedy.slice(0, 8));
    });
  }

  test('generate: the penalty is for every token of a prompt that has many of them, often', async () => {
    const many = { ...config, vocabulary: 700, maxLength: 900 };
    const own = create(engine, many, randomWeights(many, 4));
    const row = Array.from({ length: 850 }, (_, i) => (7 * i) % 600);
    const repetitionPenalty = 4;
    const ids = await idsOf({ maxTokens: 12, repetitionPenalty, stopTokens: [] }, own, row);
    /** How often the penalty decided. */
    let decided = 0;
    for (const id of ids) {
      const logits = own.forward(row, { rows: 'last' }).logits.data;
      const judged = Array.from(logits, (x, token) => {
        if (!row.includes(token)) return x;
        return x > 0 ? x / repetitionPenalty : x * repetitionPenalty;
      });
      const order = [...judged].sort((x, y) => y - x);
      assert.ok(order[0] - order[1] > 1e-4, 'nobody doubts which is the likeliest');
      assert.equal(id, judged.indexOf(order[0]));
      decided += Number(id !== logits.indexOf(Math.max(...logits)));
      row.push(id);
    }
    assert.ok(decided >= 3, `${decided} of 12`);
    own.dispose();
  });

  test('generate: a prompt of several pieces, and readings on the way, change nothing', async () => {
    const long = { ...config, maxLength: 620 };
    const own = create(engine, long, weights);
    const from = rowsOf(long, 600);
    const plain = await idsOf({ maxTokens: 6 }, own, from);
    assert.deepEqual(await idsOf({ maxTokens: 6, inspect: { weights: true } }, own, from), plain);
    const { logits } = own.forward([...from, ...plain.slice(0, 5)]);
    plain.forEach((id, i) => {
      const at = (599 + i) * config.vocabulary;
      const row = logits.data.subarray(at, at + config.vocabulary);
      assert.equal(id, row.indexOf(Math.max(...row)));
    });
    own.dispose();
  });
});

describe('readings', () => {
  test('generate: they are of the row that chose each token', async () => {
    const inspect = {
      ...{ layers: [1], weights: true, entropy: true, residuals: true, logitLens: true },
      projections: true,
    };
    const tokens = await all(model.generate(prompt, { maxTokens: 3, inspect }));
    const row = [...prompt, ...tokens.map(({ id }) => id)];
    for (const [i, { layers }] of tokens.entries()) {
      const { weights: read, entropy, residual, logits, q, k } = layers.get(1);
      const keys = prompt.length + i;
      assert.deepEqual(
        [read.shape, entropy.shape, residual.shape, logits.shape],
        [[1, 4, 1, keys], [1, 4, 1], [1, 1, 16], [1, 1, 19]], // prettier-ignore
      );
      assert.deepEqual([q.shape[2], k.shape[2]], [1, 1]);
      const whole = model.forward(row.slice(0, keys), {
        inspect: { layers: [1], weights: true, rows: [keys - 1, keys] },
      });
      const expected = whole.layers.get(1).weights.data;
      read.data.forEach((w, at) => assert.ok(Math.abs(w - expected[at]) < 1e-5, `weight ${at}`));
    }
    const [{ layers }] = await all(model.generate(prompt, { maxTokens: 1 }));
    assert.equal(layers, undefined);
  });

  test('generate: heads are taken out of every pass, also of the prompt', async () => {
    const ablate = [[0, 0], [0, 1], [1, 2]]; // prettier-ignore
    const ids = await idsOf({ maxTokens: 6, inspect: { ablate } });
    const row = [...prompt];
    for (const id of ids) {
      const { logits } = modelForward(config, weights, row, { ablate });
      const last = logits.slice(-config.vocabulary);
      assert.equal(id, last.indexOf(Math.max(...last)));
      row.push(id);
    }
    assert.notDeepEqual(ids, greedy.slice(0, 6));
  });
});

describe('places', () => {
  const read = [{ site: 'z' }, { site: 'final' }];
  const bits = ({ activations }) => [['z', 0], ['z', 1], ['final']].map((place) => activations.get(...place)); // prettier-ignore

  test('generate: what is read is of the pass that chose the token, of one row', async () => {
    const tokens = await all(model.generate(prompt, { maxTokens: 4, read }));
    assert.deepEqual(tokens.map(({ id }) => id), greedy.slice(0, 4)); // prettier-ignore
    const ids = [...prompt];
    for (const token of tokens) {
      const { sites } = modelForward(config, weights, ids);
      const [z, , final] = bits(token);
      assert.deepEqual([z.shape, final.shape], [[1, 4, 1, 4], [1, 1, 16]]); // prettier-ignore
      const expected = sites.arrays.get('final 0').slice(-16);
      final.data.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) < 1e-4));
      ids.push(token.id);
    }
  });

  test('generate: edits act in every pass, their rows and keys counted from the first token on', async () => {
    const vector = Float32Array.from({ length: 16 }, (_, i) => Math.sin(i));
    const edits = [
      [{ site: 'residual', layer: 0, add: vector }],
      [{ site: 'z', layer: 1, head: 2, value: 0 }],
      // Of the prompt, of both, of what is said, and of nothing.
      [{ site: 'residual', layer: 1, rows: [2, 4], scale: 0.5 }],
      [{ site: 'residual', layer: 0, rows: [3, 8], add: vector }],
      [{ site: 'attention', layer: 0, rows: [6, 7], value: 0.5 }],
      [{ site: 'scores', layer: 0, rows: [4, 9], keys: [3, 7], add: Float32Array.of(1, -2, 3, -4) }],
      [{ site: 'embed', rows: [100, 101], value: 0 }],
    ]; // prettier-ignore
    for (const edit of edits) {
      const tokens = await all(model.generate(prompt, { maxTokens: 6, edit, stopTokens: [] }));
      const ids = [...prompt, ...tokens.map(({ id }) => id)];
      const { length } = ids;
      // What one pass over all tokens says, with what of an edit there is of them.
      const own = edit
        .filter(({ rows = [0] }) => rows[0] < length)
        .map(({ rows = [0, length], ...rest }) => {
          return { ...rest, rows: [rows[0], Math.min(rows[1], length)] };
        });
      const { logits } = modelForward(config, weights, ids, { edit: own });
      tokens.forEach(({ id, logProbability }, n) => {
        const at = (prompt.length - 1 + n) * config.vocabulary;
        const row = logProbabilities(logits.slice(at, at + config.vocabulary));
        assert.ok(Math.abs(row[id] - logProbability) < 1e-4, `${JSON.stringify(edit)} ${n}`);
        assert.ok(Math.max(...row) - row[id] < 1e-4);
      });
    }
  });

  test('generate: in a session rows are those of this generation, and keys those of the session', async () => {
    const session = model.session();
    model.forward(prompt.slice(0, 3), { session });
    const edit = [{ site: 'scores', layer: 0, rows: [0, 1], keys: [1, 2], value: -Infinity }];
    const [token] = await all(model.generate(prompt.slice(3), { maxTokens: 1, session, edit }));
    const own = [{ ...edit[0], rows: [3, 4] }];
    const { logits } = modelForward(config, weights, prompt, { edit: own });
    const row = logProbabilities(logits.slice(-config.vocabulary));
    assert.ok(Math.abs(row[token.id] - token.logProbability) < 1e-4);
    session.dispose();
  });

  test('generate: what the caller changes after the call changes nothing', async () => {
    const add = new Float32Array(16).fill(0.5);
    const edit = [{ site: 'residual', layer: 0, add }];
    const expected = await all(model.generate(prompt, { maxTokens: 4, edit }));
    const tokens = model.generate(prompt, { maxTokens: 4, edit });
    add.fill(-3);
    edit.length = 0;
    assert.deepEqual(await all(tokens), expected);
  });
});

describe('the end', () => {
  test('generate: after maxTokens, or when there is no more room', async () => {
    assert.equal((await idsOf({ maxTokens: 3 })).length, 3);
    // The last token need not be read.
    assert.equal((await idsOf({})).length, config.maxLength - prompt.length + 1);
    const session = model.session({ capacity: 9 });
    assert.equal((await idsOf({ session })).length, 5);
    assert.equal(session.length, 9);
    session.dispose();
  });

  test('generate: at a token that ends it, which is told without a text', async () => {
    const tokens = await all(model.generate(prompt, { stopTokens: [greedy[firstNew]] }));
    assert.deepEqual(
      tokens.map(({ id }) => id),
      greedy.slice(0, firstNew + 1),
    );
    assert.equal(textOf(tokens), tokenizer.decode(greedy.slice(0, firstNew)));
  });

  test('generate: at a text across tokens, of which nothing is told', async () => {
    const whole = tokenizer.decode(greedy);
    const stop = whole.slice(6, 9);
    assert.ok(whole.indexOf(stop) === 6, 'the text does not come before');
    const tokens = await all(model.generate(prompt, { stop: ['zz', stop], maxTokens: 20 }));
    assert.equal(tokens.length, 9);
    assert.equal(textOf(tokens), whole.slice(0, 6));
    // Neither first letter was told before it was clear what it belongs to.
    assert.equal(tokens[6].text + tokens[7].text, '');
  });

  test('generate: the beginning of a stop that does not come is told later, or at the end', async () => {
    const whole = tokenizer.decode(greedy.slice(0, 8));
    const stop = [`${whole.slice(2, 4)}z`, `${whole.slice(7)}z`];
    const tokens = await all(model.generate(prompt, { stop, maxTokens: 8 }));
    assert.equal(textOf(tokens), whole);
    assert.equal(tokens[2].text, '');
    assert.ok(tokens[4].text.length >= 2);
    const last = tokenizer.decode([greedy[firstNew - 1]]);
    const ended = await all(
      model.generate(prompt, { stop: [`${last}z`], stopTokens: [greedy[firstNew]] }),
    );
    assert.equal(textOf(ended), tokenizer.decode(greedy.slice(0, firstNew)));
    assert.equal(ended.at(-1).text, last);
  });

  test('generate: letters of several tokens come once they are whole', async () => {
    // Two tokens make a letter, in the order of their numbers.
    const pairs = { encode: () => [1], decode: (ids) => {
      const text = ids.map((id) => id.toString(36)).join('');
      return text.length % 2 === 0 ? text : `${text.slice(0, -1)}\uFFFD`;
    } }; // prettier-ignore
    const own = create(engine, config, weights, { tokenizer: pairs });
    const tokens = await all(own.generate(prompt.slice(0, 4), { maxTokens: 5 }));
    assert.deepEqual(
      tokens.map(({ text }) => text.length),
      [0, 2, 0, 2, 1],
    );
    own.dispose();
  });
});

describe('tokenizers of callers', () => {
  const withDecode = (decode) =>
    create(engine, config, weights, { tokenizer: { encode: () => [1], decode } });
  for (const [what, decode, ...says] of [
    ['says no text', () => undefined, 'tokenizer.decode() is undefined', 'a text'],
    ['says a list', () => ['a'], 'tokenizer.decode() is an array'],
    [
      'throws',
      () => {
        throw new Error('of the caller');
      },
      'of the caller',
    ],
  ]) {
    test(`generate: one whose decode() ${what} is told of by name`, async () => {
      const own = withDecode(decode);
      const before = engine.memory().handles;
      await expectRejects(all(own.generate(prompt)), fn, 'invalid_argument', ...says);
      assert.equal(engine.memory().handles, before);
      expectThrows(() => own.lens(prompt), 'LanguageModel.lens', 'invalid_argument', ...says);
      own.dispose();
    });
  }

  test('generate: what is read of it later is what was checked', async () => {
    const inspect = { layers: [1], ablate: [[0, 0]] }; // prettier-ignore
    const expected = await idsOf({ maxTokens: 4, inspect: { ablate: [[0, 0]] } }); // prettier-ignore
    const tokens = [];
    for await (const { id } of model.generate(prompt, { maxTokens: 4, inspect })) {
      tokens.push(id);
      inspect.layers = 3;
      inspect.ablate[0][1] = 99;
    }
    assert.deepEqual(tokens, expected);
  });
});

describe('sessions', () => {
  test('generate: a session holds the prompt and all that was told, and goes on as if nothing was', async () => {
    const session = model.session();
    const first = await idsOf({ session, maxTokens: 6 });
    assert.equal(session.length, prompt.length + 6);
    const more = [2, 9];
    const rest = await idsOf({ session, maxTokens: 4 }, model, more);
    assert.equal(session.length, prompt.length + 12);
    const whole = await idsOf({ maxTokens: 4 }, model, [...prompt, ...first, ...more]);
    assert.deepEqual(rest, whole);
    session.dispose();
  });

  test('generate: a text that goes on has no token that begins one in its middle', async () => {
    const begins = {
      ...tokenizer,
      encode: (text) => [7, ...tokenizer.encode(text)],
    };
    for (const [begin, added] of [[7, 0], [undefined, 1], [3, 1]]) {
      const own = create(engine, config, weights, { tokenizer: { ...begins, begin } });
      const session = own.session();
      const said = [];
      for (const text of ['abc', 'hde']) {
        const before = session.length;
        await idsOf({ session, maxTokens: 1, stopTokens: [] }, own, text);
        said.push(session.length - before);
      }
      assert.deepEqual(said, [5, 4 + added], `${begin}`);
      // Tokens are what they are.
      await idsOf({ session, maxTokens: 1, stopTokens: [] }, own, [7, 1]);
      assert.equal(session.length, said[0] + said[1] + 3);
      session.truncate(0);
      await idsOf({ session, maxTokens: 1, stopTokens: [] }, own, 'abc');
      assert.equal(session.length, 5);
      own.dispose();
    }
  }); // prettier-ignore

  test('generate: who breaks off finds all that was told in the session', async () => {
    const session = model.session();
    const seen = [];
    for await (const { id } of model.generate(prompt, { session })) {
      seen.push(id);
      if (seen.length === 3) break;
    }
    assert.equal(session.length, prompt.length + 3);
    const { logits } = model.forward([1], { session });
    const expected = model.forward([...prompt, ...seen, 1], { rows: 'last' });
    logits.data.forEach((x, i) => assert.ok(Math.abs(x - expected.logits.data[i]) < 1e-4));
    session.dispose();
  });

  test('generate: without a session it leaves no memory behind, also who breaks off', async () => {
    const before = engine.memory();
    await all(model.generate(prompt, { maxTokens: 4 }));
    for await (const { id } of model.generate(prompt)) if (id >= 0) break;
    // Nobody has asked for the first token.
    model.generate(prompt);
    const { usedBytes, handles } = engine.memory();
    assert.deepEqual([usedBytes, handles], [before.usedBytes, before.handles]);
  });

  test('generate: an abort is told with its reason, and the session holds what was told', async () => {
    const stop = new AbortController();
    const session = model.session();
    const reason = new Error('enough');
    const seen = [];
    const iterate = async () => {
      for await (const { id } of model.generate(prompt, { session, signal: stop.signal })) {
        seen.push(id);
        if (seen.length === 2) stop.abort(reason);
      }
    };
    await assert.rejects(iterate(), (error) => error === reason);
    assert.equal(seen.length, 2);
    assert.equal(session.length, prompt.length + 2);
    const late = model.generate(prompt, { session, signal: stop.signal });
    await assert.rejects(all(late), (error) => error === reason);
    assert.equal(session.length, prompt.length + 2);
    session.dispose();
  });

  test('generate: what is refused, or given up, in the middle of a prompt leaves a session as it was', async () => {
    const session = model.session();
    model.forward([1, 2], { session });
    const inspect = { layers: [0, 0], weights: true };
    expectThrows(
      () => model.generate(prompt, { session, inspect }),
      ...[fn, 'invalid_argument', 'inspect.layers has 0 twice'],
    );
    assert.equal(session.length, 2);
    const long = { ...config, maxLength: 620 };
    const own = create(engine, long, weights);
    const far = own.session();
    const stop = new AbortController();
    const begun = all(own.generate(rowsOf(long, 600), { session: far, signal: stop.signal }));
    stop.abort(new Error('enough'));
    await assert.rejects(begun, /enough/);
    assert.equal(far.length, 0);
    for (const one of [session, far, own]) one.dispose();
  });

  for (const what of ['model', 'session', 'engine']) {
    test(`generate: a ${what} that is disposed meanwhile ends it by name`, async () => {
      const lent = await init({ deterministic: true, shared: false });
      const own = create(lent, config, weights);
      const session = own.session();
      const disposable = { model: own, session, engine: lent }[what];
      let count = 0;
      const iterate = async () => {
        for await (const { id } of own.generate(prompt, { session })) {
          count += Number(id >= 0);
          if (count === 2) disposable.dispose();
        }
      };
      await assert.rejects(iterate(), ({ code, message }) => {
        assert.equal(code, 'disposed');
        assert.match(message, new RegExp(`^${fn}: the (model|session|engine) is disposed`));
        return true;
      });
      assert.equal(count, 2);
      lent.dispose();
    });
  }
});

describe('in use', () => {
  const isBusy = (call, where, ...says) => expectThrows(call, where, 'busy', ...says);
  const inUse = 'generate() still uses the session';

  test("generate: a session in which it goes on is nobody else's until the loop ends", async () => {
    const session = model.session();
    const it = model.generate(prompt, { session, maxTokens: 5 })[Symbol.asyncIterator]();
    // Nothing is in use before a token is asked for.
    model.forward([1], { session });
    session.truncate(0);
    const ids = [(await it.next()).value.id];
    const { length } = session;
    isBusy(() => model.generate([1], { session }), fn, inUse, 'end the loop');
    isBusy(() => model.forward([1], { session }), 'LanguageModel.forward', inUse);
    isBusy(() => session.truncate(0), 'Session.truncate', inUse);
    assert.equal(session.length, length);
    // The model itself is.
    model.forward([1, 2]);
    model.loss([1, 2]);
    assert.deepEqual(await idsOf({ maxTokens: 5 }), greedy.slice(0, 5));
    for (let n = 1; n < 5; ++n) ids.push((await it.next()).value.id);
    assert.deepEqual(ids, greedy.slice(0, 5));
    isBusy(() => session.truncate(0), 'Session.truncate', inUse);
    assert.equal((await it.next()).done, true);
    model.forward([1], { session });
    session.truncate(0);
    session.dispose();
  });

  for (const [what, end] of [
    ['return()', (it) => it.return()],
    ['throw()', (it) => assert.rejects(it.throw(new Error('enough')))],
    ['a signal', (it, stop) => (stop.abort(), assert.rejects(it.next()))],
  ]) {
    test(`generate: a session is free after ${what}`, async () => {
      const [session, stop] = [model.session(), new AbortController()];
      const it = model.generate(prompt, { session, signal: stop.signal })[Symbol.asyncIterator]();
      await it.next();
      await end(it, stop);
      session.truncate(0);
      assert.deepEqual(await idsOf({ session, maxTokens: 5 }), greedy.slice(0, 5));
      session.dispose();
    });
  } // prettier-ignore

  test('generate: of two that were asked for at once, the second is refused, and takes nothing of the first', async () => {
    const session = model.session();
    const [one, two] = [0, 1].map(() =>
      model.generate(prompt, { session, maxTokens: 5 })[Symbol.asyncIterator](),
    );
    const ids = [(await one.next()).value.id];
    await expectRejects(two.next(), fn, 'busy', inUse);
    assert.equal((await two.next()).done, true);
    for (let next = await one.next(); !next.done; next = await one.next()) ids.push(next.value.id);
    assert.deepEqual(ids, greedy.slice(0, 5));
    assert.equal(session.length, prompt.length + 5);
    session.dispose();
  });

  test('generate: what was asked for before another had its loop goes on where that has ended', async () => {
    const begins = { ...tokenizer, begin: 7, encode: (text) => [7, ...tokenizer.encode(text)] };
    const own = create(engine, config, weights, { tokenizer: begins });
    const session = own.session({ capacity: 12 });
    const options = { session, stopTokens: [] };
    const first = own.generate('abc', { ...options, maxTokens: 2 });
    const second = own.generate('hde', options);
    const third = own.generate([1, 2, 3], options);
    const a = await all(first);
    assert.equal(session.length, 6);
    // Without its begin, and no more than there is room for.
    const b = await all(second);
    assert.deepEqual([b.length, session.length], [12 - 6 - 3 + 1, 12]);
    const row = [7, 0, 1, 2, ...a.map(({ id }) => id), 7, 3, 4];
    assert.deepEqual(b.map(({ id }) => id), await idsOf({ maxTokens: 4, stopTokens: [] }, own, row)); // prettier-ignore
    await expectRejects(all(third), fn, 'out_of_range', 'prompt has 3 tokens', '0');
    assert.equal(session.length, 12);
    own.dispose();
  });

  test('generate: its tokens are for one loop', async () => {
    const says = ['another loop reads these tokens', 'one loop for each call'];
    const tokens = model.generate(prompt, { maxTokens: 5 });
    const ids = [];
    for await (const { id } of tokens) {
      ids.push(id);
      if (ids.length === 2) await expectRejects(all(tokens), fn, 'busy', ...says);
    }
    assert.deepEqual(ids, greedy.slice(0, 5));
    await expectRejects(all(tokens), fn, 'busy', ...says);
    // Of one loop, in two parts.
    const it = model.generate(prompt, { maxTokens: 5 })[Symbol.asyncIterator]();
    const first = await it.next();
    assert.deepEqual([first.value.id, ...(await all(it)).map(({ id }) => id)], greedy.slice(0, 5));
  });
});

describe('control texts', () => {
  const asked = [];
  const withPlain = {
    ...tokenizer,
    encode: (text) => (asked.push('encode'), tokenizer.encode(text)),
    encodePlain: (text) => (asked.push('plain'), [3, ...tokenizer.encode(text)]),
  };
  const own = create(engine, config, weights, { tokenizer: withPlain });
  after(() => own.dispose());

  test('generate: with plain a text is read by encodePlain(), and tokens as they are', async () => {
    assert.deepEqual(await idsOf({ maxTokens: 3, plain: true }, own, 'abc'), await idsOf({ maxTokens: 3 }, own, [3, 0, 1, 2])); // prettier-ignore
    assert.deepEqual(await idsOf({ maxTokens: 3, plain: false }, own, 'abc'), await idsOf({ maxTokens: 3, plain: true }, own, [0, 1, 2])); // prettier-ignore
    assert.deepEqual(asked, ['plain', 'encode']);
  });

  test('a tokenizer that cannot is refused, and not taken for one that has', async () => {
    const cannot = { encode: tokenizer.encode, decode: tokenizer.decode };
    const without = create(engine, config, weights, { tokenizer: cannot });
    const says = ['invalid_argument', 'plain is true and the tokenizer has no encodePlain()', 'token ids'];
    for (const [method, where] of [
      [() => without.generate('abc', { plain: true }), fn],
      [() => without.forward('abc', { plain: true }), 'LanguageModel.forward'],
      [() => without.loss('abc', { plain: true }), 'LanguageModel.loss'],
    ]) expectThrows(method, where, ...says);
    without.dispose();
  }); // prettier-ignore
});

test('generate: others have turns meanwhile', async () => {
  const large = { ...config, dModel: 128, dFeedForward: 512, numLayers: 6, maxLength: 400 };
  const own = create(engine, large, randomWeights(large, 1));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const begin = performance.now();
  await idsOf({}, own);
  clearInterval(timer);
  const took = performance.now() - begin;
  // One in every 8 ms, and some that are late.
  assert.ok(turns >= took / 100, `${turns} turns in ${took} ms`);
  own.dispose();
  await settled();
});

test('generate: what does not go together is refused at once', () => {
  const range = 'out_of_range';
  const invalid = 'invalid_argument';
  // Also where the tokens before it would be read first.
  const far = [...prompt, config.vocabulary];
  expectThrows(() => model.generate(far), fn, range, 'prompt[5] is 19', '0 to 18');
  const long = rowsOf(config, 41);
  expectThrows(() => model.generate(long), fn, range, 'prompt has 41 tokens', '40');
  const session = model.session({ capacity: 4 });
  expectThrows(() => model.generate(prompt, { session }), fn, range, 'prompt has 5 tokens', '4');
  session.dispose();
  expectThrows(() => model.generate(prompt, { session }), fn, 'disposed', 'the session');
  const two = model.session({ batch: 2 });
  expectThrows(() => model.generate(prompt, { session: two }), fn, range, 'the batch of session');
  two.dispose();
  const bare = create(engine, config, weights);
  expectThrows(() => bare.generate('abc'), fn, invalid, 'has no tokenizer');
  expectThrows(() => bare.generate(prompt, { stop: ['x'] }), fn, invalid, 'stopTokens');
  bare.dispose();
  expectThrows(() => bare.generate(prompt).next, fn, 'disposed', 'the model');
});

test('generate: a text is what its tokens are', async () => {
  const text = tokenizer.decode(prompt);
  assert.deepEqual(await idsOf({ maxTokens: 5 }, model, text), greedy.slice(0, 5));
  const tokens = await all(model.generate(text, { maxTokens: 5 }));
  assert.equal(textOf(tokens), tokenizer.decode(greedy.slice(0, 5)));
  expectSame(Float32Array.from([tokens.length]), Float32Array.of(5));
});
