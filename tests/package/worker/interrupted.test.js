// @build any
// Models in workers whose loads and generations are ended in the middle, after any message: by a signal, by dispose() of the
// model, a session or the engine, by a reader who leaves. Nothing is kept in the worker, and what comes later is right.
import assert from 'node:assert/strict';
import { MessageChannel } from 'node:worker_threads';
import { after, describe, test } from 'node:test';
import { init as initHere } from 'qkv';
import * as models from 'qkv/models';
import { init, serve } from 'qkv/worker';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { checkpoint, checkpointConfig } from '../../support/js/checkpoints.js';
import { collect } from '../../support/js/collect.js';
import { wasmFile } from '../../support/js/files.js';
import { rowsOf } from '../../support/js/model-kinds.js';
import { inTime, until } from '../../support/js/patience.js';
import { settled } from '../../support/js/puppet.js';
import { initWithin } from '../../support/js/small-memory.js';

const options = { variant: 'simd' };
const away = await init({ ...options, models: true });
after(() => away.dispose());

const config = checkpointConfig({
  ...{ vocabulary: 19, numLayers: 2, dModel: 16, numHeads: 4, dFeedForward: 24, maxLength: 600 },
});
const weights = checkpoint(config);
const ids = rowsOf(config, 8);
const fn = 'LanguageModel.generate';
const reason = new Error('enough');
const isReason = (error) => error === reason;

const model = await away.loadModel({ weights });
const expected = (await model.forward(ids)).logits.data;
const goesOn = async (of = model) => {
  expectSame((await of.forward(ids)).logits.data, expected, 'logit');
};
const told = [];
for await (const { id } of model.generate(ids, { maxTokens: 6 })) told.push(id);
const handlesOf = async (of = away) => (await of.memory()).handles;
const kept = await handlesOf();
/** What was given up is given back once the worker has come to it. */
const isAsBefore = async () => {
  let handles = -1;
  await until(
    async () => (handles = await handlesOf()) === kept,
    () => `${handles} handles, expected ${kept}`,
  );
};

describe('loads', () => {
  test('loadModel: a signal after any message of its progress', async () => {
    let messages = 0;
    const first = await away.loadModel({ weights }, { onProgress: () => (messages += 1) });
    await first.dispose();
    assert.ok(messages >= 10, `${messages}`);
    for (let n = 0; n < messages; ++n) {
      const stop = new AbortController();
      let seen = 0;
      const onProgress = () => {
        if (seen === n) stop.abort(reason);
        seen += 1;
      };
      const loading = away.loadModel({ weights }, { signal: stop.signal, onProgress });
      await assert.rejects(inTime(loading), isReason);
      assert.equal(seen, n + 1, 'nothing is told any more');
    }
    await isAsBefore();
    await goesOn();
  });

  test('loadModel: several that are given up at once, beside one that is not', async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const onProgress = () => stop.abort(reason);
    const running = away.loadModel({ weights }, { signal, onProgress });
    const other = away.loadModel({ weights });
    // They wait until the worker has nothing else to do.
    const waiting = [1, 2].map(() => away.loadModel({ weights }, { signal }));
    for (const loading of [running, ...waiting]) await assert.rejects(inTime(loading), isReason);
    await goesOn(await other);
    await (await other).dispose();
    await isAsBefore();
  });

  test('loadModel: an engine that is disposed after any message', async () => {
    for (let n = 0; n < 3; ++n) {
      const own = await init({ ...options, models: true, shared: false });
      let seen = 0;
      const onProgress = () => {
        if (seen === 4 * n) void own.dispose();
        seen += 1;
      };
      const loading = own.loadModel({ weights }, { onProgress });
      await expectRejects(inTime(loading), 'loadModel', 'disposed', 'the engine');
      await expectRejects(own.loadModel({ weights }), 'loadModel', 'disposed');
    }
  });
});

/** An engine here that is served over a port, so that a test sees what is left in it. */
async function servedHere(own, load = models.load) {
  const { port1, port2 } = new MessageChannel();
  serve(port1, () => own, { load });
  return { engine: await init({ worker: port2, timeout: 100_000 }), close: () => port1.close() };
}

describe('engines that are served', () => {
  test('what was loading, loaded and talking when the other side went is given back', async () => {
    const own = await initHere({ ...options, shared: false });
    const { handles } = own.memory();
    const { engine, close } = await servedHere(own);
    const remote = await engine.loadModel({ weights });
    const session = await remote.session();
    const talks = [{}, { session }].map((more) => remote.generate(ids, more));
    for (const talk of talks) await talk.next();
    const outcomes = Promise.allSettled([
      talks[0].next(),
      remote.generate(rowsOf(config, 590)).next(),
      engine.loadModel({ weights }),
    ]);
    await settled();
    await engine.dispose();
    for (const { reason: error } of await inTime(outcomes)) {
      if (error) assert.equal(error.code, 'disposed', error.stack);
    }
    await until(
      () => own.memory().handles === handles,
      () => `${own.memory().handles} handles`,
    );
    const here = await models.load(own, { weights });
    expectSame(here.forward(ids).logits.data, expected, 'logit');
    own.dispose();
    close();
  });

  test('what a load of somebody makes after the other side went is given back', async () => {
    const own = await initHere({ ...options, shared: false });
    let open;
    const gate = new Promise((resolve) => (open = resolve));
    const made = [];
    const { engine, close } = await servedHere(own, async (of, source) => {
      made.push(await models.load(of, source));
      await gate;
      return made[0];
    });
    const refused = expectRejects(engine.loadModel({ weights }), 'loadModel', 'disposed');
    await until(() => own.memory().handles === 1);
    await engine.dispose();
    await refused;
    await settled();
    open();
    await until(() => own.memory().handles === 0);
    assert.throws(() => made[0].forward(ids), { code: 'disposed' });
    own.dispose();
    close();
  });

  test('a model that there is no memory for is refused by name, and the engine goes on', async () => {
    const own = await initWithin(64, { wasm: wasmFile('simd') });
    const { engine, close } = await servedHere(own);
    const small = await engine.loadModel({ weights });
    const wide = checkpoint(checkpointConfig({ ...config, vocabulary: 2000, dModel: 512 }));
    const before = own.memory().handles;
    for (let i = 0; i < 3; ++i) {
      const loading = engine.loadModel({ weights: wide });
      await expectRejects(loading, 'load', 'out_of_memory', 'bytes');
      assert.equal(own.memory().handles, before);
      await goesOn(small);
    }
    await engine.dispose();
    own.dispose();
    close();
  });
});

describe('generations', () => {
  /** How it is ended after n tokens; the rest of the messages is the worker's to clear away. */
  const ends = {
    'a signal': async (it, { stop }) => {
      stop.abort(reason);
      await assert.rejects(it.next(), isReason);
    },
    'return()': async (it) => assert.equal((await it.return()).done, true),
    'throw()': (it) => assert.rejects(it.throw(reason), isReason),
    'return() while a token is under way': async (it) => {
      const [, over] = await inTime(Promise.all([it.next(), it.return()]));
      assert.equal(over.done, true);
      return 1;
    },
    'a signal while a token is under way': async (it, { stop }) => {
      const pending = it.next();
      stop.abort(reason);
      // It was asked for, and comes unless the worker heard of the abort before; none follows.
      const [{ value: token, reason: error }] = await inTime(Promise.allSettled([pending]));
      if (error) {
        assert.ok(isReason(error), error.stack);
        return 0;
      }
      assert.equal(token.done, false);
      await assert.rejects(it.next(), isReason);
      return 1;
    },
  };
  for (const [how, end] of Object.entries(ends)) {
    test(`generate: ${how} after any number of tokens`, async () => {
      for (let n = 0; n < told.length - 1; ++n) {
        const session = await model.session();
        const stop = new AbortController();
        const it = model.generate(ids, { session, signal: stop.signal });
        for (let i = 0; i < n; ++i) assert.equal((await it.next()).value.id, told[i]);
        const more = await end(it, { stop });
        assert.equal((await it.next()).done, true);
        // A call later the session is known to hold what was told.
        await model.forward([1], { session });
        const held = session.length - 1;
        const count = n + (more ?? 0);
        assert.equal(held, count === 0 ? 0 : ids.length + count);
        await session.dispose();
      }
      await isAsBefore();
      await goesOn();
    });
  }

  /** The token that is under way comes, or the worker was told first; none follows. */
  async function endsDisposed(it, pending) {
    const isDisposed = ({ code, message }) => code === 'disposed' && message.startsWith(`${fn}: `);
    const [{ value: token, reason: error }] = await inTime(Promise.allSettled([pending]));
    if (error) assert.ok(isDisposed(error), error.stack);
    else {
      assert.equal(token.done, false);
      await assert.rejects(inTime(it.next()), isDisposed);
    }
    assert.equal((await it.next()).done, true);
  }

  test('generate: a model or session that is disposed while a token is under way', async () => {
    for (const what of ['model', 'session']) {
      const own = await away.loadModel({ weights });
      const session = await own.session();
      const it = own.generate(ids, { session });
      await it.next();
      const pending = it.next();
      const gone = { model: own, session }[what].dispose();
      await endsDisposed(it, pending);
      await gone;
      for (const one of [own, session]) await one.dispose();
    }
    await isAsBefore();
  });

  test('generate: a model that is disposed while a prompt of several pieces is read', async () => {
    const own = await away.loadModel({ weights });
    const it = own.generate(rowsOf(config, 590));
    const pending = it.next();
    const gone = own.dispose();
    await endsDisposed(it, pending);
    await gone;
    await isAsBefore();
  });

  test('generate: an engine that is disposed between tokens and meanwhile', async () => {
    for (const isMeanwhile of [false, true]) {
      const own = await init({ ...options, models: true, shared: false });
      const it = (await own.loadModel({ weights })).generate(ids);
      await it.next();
      const refusal = () => expectRejects(inTime(it.next()), fn, 'disposed', 'the engine');
      const refused = isMeanwhile ? refusal() : undefined;
      await own.dispose();
      await (refused ?? refusal());
      assert.equal((await it.next()).done, true);
    }
  });

  test('generate: one that nobody ends is given back when nobody holds it', async () => {
    const begin = async () => {
      const talks = [1, 2, 3].map(() => model.generate(ids));
      for (const talk of talks) await talk.next();
      assert.equal(await handlesOf(), kept + talks.length);
    };
    await begin();
    await until(
      async () => {
        collect();
        return (await handlesOf()) === kept;
      },
      () => `more than ${kept} handles`,
    );
    await goesOn();
  });
});
