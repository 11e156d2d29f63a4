// @build any
// Generations that are ended in the middle, after any number of tokens and within a prompt: by their reader, a signal, dispose() or
// what a tokenizer throws. What was wrong is told by name, a session holds what was told, and nothing else is kept.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { expectThrows } from '../../support/js/check.js';
import { collect } from '../../support/js/collect.js';
import { wasmFile } from '../../support/js/files.js';
import { kinds, rowsOf } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { inTime, until } from '../../support/js/patience.js';
import { abortedAtLook } from './support/interrupt.js';

const wasm = await WebAssembly.compile(wasmFile('simd'));
const alone = () => init({ wasm, shared: false });
const engine = await alone();
after(() => engine.dispose());

const config = { ...kinds.llama, maxLength: 620 };
const weights = randomWeights(config, 11);
const model = create(engine, config, weights);
after(() => model.dispose());
const reason = new Error('enough');

async function all(iterable) {
  const ids = [];
  for await (const { id } of iterable) ids.push(id);
  return ids;
}
const rest = () => {
  const { usedBytes, handles } = engine.memory();
  return { usedBytes, handles };
};
const iteratorOf = (iterable) => iterable[Symbol.asyncIterator]();
const isDisposed = ({ code, message }) =>
  code === 'disposed' && /^LanguageModel\.generate: the (model|session|engine) is/.test(message);

/** The tokens that follow a prompt of one piece, and one of three. */
const prompts = { short: rowsOf(config, 5), long: rowsOf(config, 600) };
const most = 6;
const { handles: before } = engine.memory();
const told = {};
for (const [name, prompt] of Object.entries(prompts)) {
  told[name] = await all(model.generate(prompt, { maxTokens: most }));
}
{
  const session = model.session({ format: 'bf16' });
  await all(model.generate(prompts.long, { session, maxTokens: most }));
  session.dispose();
}
// What calls share has its size by now.
const kept = rest();
assert.equal(kept.handles, before, 'a generation that is done has given its session back');

/** A session goes on from what it holds as if nothing had been. */
async function goesOn(session, name) {
  const row = [...prompts[name], ...told[name]];
  const from = session.length;
  const to = Math.max(from + 1, prompts[name].length);
  if (to >= row.length) return;
  const maxTokens = row.length - to;
  const next = await all(model.generate(row.slice(from, to), { session, maxTokens }));
  assert.deepEqual(next, row.slice(to));
}

/** How a reader or somebody else ends it, and what next() says then. */
const ends = {
  'return()': {
    end: (it) => it.return(),
    check: async (it) => assert.equal((await it.next()).done, true),
  },
  'throw()': {
    end: (it) => assert.rejects(it.throw(reason), (error) => error === reason),
    check: async (it) => assert.equal((await it.next()).done, true),
  },
  'a signal': {
    end: (_, { stop }) => stop.abort(reason),
    check: (it) => assert.rejects(it.next(), (error) => error === reason),
  },
  'dispose() of the model': {
    end: (_, { own }) => own.dispose(),
    check: (it) => assert.rejects(it.next(), isDisposed),
  },
  'dispose() of the engine': {
    end: (_, { lent }) => lent.dispose(),
    check: (it) => assert.rejects(it.next(), isDisposed),
  },
};

describe('ended between tokens', () => {
  for (const [how, { end, check }] of Object.entries(ends)) {
    test(`generate: ${how} after any number of tokens`, async () => {
      for (let n = 0; n < most; ++n) {
        const lent = await alone();
        const own = create(lent, config, weights);
        const stop = new AbortController();
        const { handles } = lent.memory();
        const it = iteratorOf(own.generate(prompts.short, { signal: stop.signal }));
        for (let i = 0; i < n; ++i) assert.equal((await it.next()).value.id, told.short[i]);
        await end(it, { stop, own, lent });
        await check(it);
        assert.equal((await it.next()).done, true);
        if (!/engine/.test(how)) {
          own.dispose();
          assert.equal(lent.memory().handles, handles - 1);
          lent.dispose();
        }
      }
    });
  }

  for (const how of ['return()', 'throw()', 'a signal']) {
    test(`generate: ${how} leaves in a session what was told, and it goes on from there`, async () => {
      const { end, check } = ends[how];
      for (let n = 0; n < most; ++n) {
        const session = model.session();
        const stop = new AbortController();
        const options = { session, signal: stop.signal };
        const it = iteratorOf(model.generate(prompts.short, options));
        for (let i = 0; i < n; ++i) await it.next();
        await end(it, { stop });
        await check(it);
        assert.equal(session.length, n === 0 ? 0 : prompts.short.length + n);
        await goesOn(session, 'short');
        session.dispose();
      }
      assert.deepEqual(rest(), kept);
    });
  }

  test('generate: a session that is disposed after any number of tokens', async () => {
    for (let n = 0; n < most; ++n) {
      const session = model.session();
      const it = iteratorOf(model.generate(prompts.short, { session }));
      for (let i = 0; i < n; ++i) await it.next();
      session.dispose();
      await assert.rejects(it.next(), isDisposed);
      const gone = () => model.generate(prompts.short, { session });
      expectThrows(gone, 'LanguageModel.generate', 'disposed', 'the session');
    }
    assert.deepEqual(rest(), kept);
  });

  test('generate: two sessions of one model, in turns, of which one is ended', async () => {
    const [one, other] = [model.session(), model.session({ format: 'bf16' })];
    const [it, ended] = [one, other].map((session) =>
      iteratorOf(model.generate(prompts.short, { session, maxTokens: most })),
    );
    const ids = [];
    for (let n = 0; n < most; ++n) {
      ids.push((await it.next()).value.id);
      if (n < 3) await ended.next();
      if (n === 3) await ended.return();
      if (n === 4) other.dispose();
    }
    assert.deepEqual(ids, told.short);
    await it.return();
    one.dispose();
    assert.deepEqual(rest(), kept);
  });
});

describe('ended within a prompt of several pieces', () => {
  test('generate: a signal at any look at it', async () => {
    const options = { maxTokens: most };
    const counted = abortedAtLook(Infinity);
    await all(model.generate(prompts.long, { ...options, signal: counted.signal }));
    assert.ok(counted.looks() > most + 2, `${counted.looks()} looks`);
    const lengths = new Set();
    // The first is the check of what it is.
    for (let n = 1; n < counted.looks(); ++n) {
      const session = model.session();
      const { signal } = abortedAtLook(n, reason);
      const ids = [];
      const iterate = async () => {
        for await (const { id } of model.generate(prompts.long, { ...options, session, signal }))
          ids.push(id);
      };
      await assert.rejects(iterate(), (error) => error === reason);
      assert.deepEqual(ids, told.long.slice(0, ids.length));
      lengths.add(session.length);
      await goesOn(session, 'long');
      session.dispose();
    }
    const after = Array.from({ length: most - 1 }, (_, i) => 601 + i);
    // Of a prompt that was given up nothing stays.
    assert.deepEqual([...lengths], [0, ...after]);
    assert.deepEqual(rest(), kept);
  });

  for (const what of ['model', 'session', 'engine']) {
    test(`generate: a ${what} that is disposed meanwhile`, async () => {
      const lent = await alone();
      const own = create(lent, config, weights);
      const session = own.session();
      const it = iteratorOf(own.generate(prompts.long, { session }));
      const pending = it.next();
      ({ model: own, session, engine: lent })[what].dispose();
      await assert.rejects(inTime(pending), isDisposed);
      assert.equal((await it.next()).done, true);
      if (what !== 'engine') {
        for (const one of [own, session]) one.dispose();
        assert.equal(lent.memory().handles, 0);
        lent.dispose();
      }
    });
  }

  test('generate: return() meanwhile comes after the token that is under way', async () => {
    const session = model.session();
    const it = iteratorOf(model.generate(prompts.long, { session }));
    const [first, over, none] = await inTime(Promise.all([it.next(), it.return(), it.next()]));
    assert.equal(first.value.id, told.long[0]);
    assert.deepEqual([over.done, none.done], [true, true]);
    assert.equal(session.length, 601);
    await goesOn(session, 'long');
    session.dispose();
    assert.deepEqual(rest(), kept);
  });
});

describe('never ended', () => {
  test('generate: the engine can be disposed, and the iterator is over', async () => {
    const lent = await alone();
    const own = create(lent, config, weights);
    const its = [{}, { session: own.session() }].map((options) =>
      iteratorOf(own.generate(prompts.short, options)),
    );
    for (const it of its) await it.next();
    lent.dispose();
    assert.deepEqual(await its[0].return(), { done: true, value: undefined });
    await assert.rejects(its[1].next(), isDisposed);
  });

  test('generate: what nobody holds any more is given back', async () => {
    const begin = async () => {
      const it = iteratorOf(model.generate(prompts.short));
      await it.next();
    };
    for (let i = 0; i < 5; ++i) await begin();
    await until(
      () => {
        collect();
        return engine.memory().handles === kept.handles;
      },
      () => `${engine.memory().handles} handles, ${kept.handles} were there`,
    );
    assert.deepEqual(rest(), kept);
  });
});

describe('ended by a pass that fails', () => {
  /** Without room for so many numbers in JavaScript's memory. */
  async function without(name, fails, work) {
    const Real = globalThis[name];
    globalThis[name] = class extends Real {
      constructor(...given) {
        if (fails(given)) throw new RangeError('Array buffer allocation failed');
        super(...given);
      }
    };
    try {
      return await work();
    } finally {
      globalThis[name] = Real;
    }
  }
  /** What is found of a chosen token. */
  const isChoice = ([length]) => length === 4;

  test('generate: after any number of tokens a session holds all that were told', async () => {
    for (let n = 1; n < most; ++n) {
      const session = model.session();
      const it = iteratorOf(model.generate(prompts.short, { session }));
      for (let i = 0; i < n; ++i) await it.next();
      const refused = () =>
        assert.rejects(it.next(), { code: 'out_of_memory', message: /16 bytes/ });
      await without('Float32Array', isChoice, refused);
      assert.equal(session.length, prompts.short.length + n);
      await goesOn(session, 'short');
      session.dispose();
    }
    assert.deepEqual(rest(), kept);
  });

  test('generate: what ended it is told, also if the last token cannot be read either', async () => {
    const session = model.session();
    const stop = new AbortController();
    const it = iteratorOf(model.generate(prompts.short, { session, signal: stop.signal }));
    await it.next();
    stop.abort(reason);
    const refused = () => assert.rejects(it.next(), (error) => error === reason);
    // The copy of the token on its way into WebAssembly memory.
    await without('Int32Array', ([, , length]) => length === 1, refused);
    assert.equal(session.length, prompts.short.length);
    await goesOn(session, 'short');
    session.dispose();
    assert.deepEqual(rest(), kept);
  });
});

describe('ended by a tokenizer', () => {
  const letters = charactersTokenizer(Array.from('abcdefghijklmnopqrs'));

  test('generate: what decode() throws after any number of tokens', async () => {
    for (let n = 0; n < most; ++n) {
      const before = rest();
      let isBroken = n === 0;
      const throwing = {
        encode: letters.encode,
        decode(ids) {
          if (isBroken) throw reason;
          return letters.decode(ids);
        },
      };
      const own = create(engine, config, weights, { tokenizer: throwing });
      const session = own.session();
      const ids = [];
      const iterate = async () => {
        for await (const { id } of own.generate(prompts.short, { session, maxTokens: most })) {
          ids.push(id);
          isBroken = ids.length === n;
        }
      };
      await assert.rejects(iterate(), ({ code, cause }) => {
        assert.equal(code, 'invalid_argument');
        return cause === reason;
      });
      assert.deepEqual(ids, told.short.slice(0, n));
      // Without the token that could not be told.
      assert.equal(session.length, prompts.short.length + n);
      for (const one of [session, own]) one.dispose();
      assert.deepEqual(rest(), before);
    }
  });

  test('generate: decode() that disposes the model, or the engine', async () => {
    for (const what of ['model', 'engine']) {
      const lent = await alone();
      const ending = {
        encode: letters.encode,
        decode(ids) {
          ({ model: own, engine: lent })[what].dispose();
          return letters.decode(ids);
        },
      };
      const own = create(lent, config, weights, { tokenizer: ending });
      await assert.rejects(all(own.generate(prompts.short)), isDisposed);
      lent.dispose();
    }
    assert.deepEqual(rest(), kept);
  });
});
