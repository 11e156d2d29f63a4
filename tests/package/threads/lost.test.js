// @run full, or after changes in core/src/base wasm/src/load wasm/src/memory
// @build any
// A thread that fails in the middle of a task: the call ends with an error, and the engine goes on without the thread.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { text } from '../../support/js/files.js';
import { resultOf } from '../../support/js/node.js';
import { PATIENCE } from '../../support/js/patience.js';
import { copyWithThread } from '../../support/js/thread-copies.js';

const temporary = mkdtempSync(join(tmpdir(), 'qkv-lost-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

/**
 * Empties a sixteenth of the table of a thread, but for the two functions that its script takes: what is called through
 * it traps. Which sixteenth has what tasks need, and nothing that a thread needs to begin, differs by build.
 */
const emptied = `
  const { get } = WebAssembly.Table.prototype;
  const taken = [];
  WebAssembly.Table.prototype.get = function (place) {
    taken.push(place);
    for (let i = Number(process.env.QKV_EMPTIED); i < this.length && taken.length === 2; i += 16) {
      if (!taken.includes(i)) this.set(i, null);
    }
    return get.call(this, place);
  };
`;

const copy = copyWithThread(temporary, emptied + text('dist/thread.js'));

/** Makes an engine of the copy whose thread lacks a part of its table. */
const search = `
  const { init, random } = await import(${JSON.stringify(copy)});
  /**
   * What \`attempt(made, engine)\` says, once, of each engine whose thread is lost in it; \`make(engine)\` is called first. The
   * caller may have done all tasks before the thread has claimed one, so that there are so many \`tries\`.
   */
  async function losses(tries, make, attempt, { start = init, isOneEnough = false } = {}) {
    const seen = new Set();
    for (let part = 0; part < 16 && !(isOneEnough && seen.size > 0); ++part) {
      process.env.QKV_EMPTIED = part;
      const engine = await start({ variant: 'simd-threads', threads: 2, shared: false });
      let told;
      let made;
      try {
        made = make(engine);
      } catch (error) {
        // The thread was quick, and is lost before there is anything to try.
        if (error.code !== 'thread_lost') throw error;
        engine.dispose();
        continue;
      }
      for (let i = 0; i < tries && !told; ++i) told = await attempt(made, engine);
      if (told) seen.add(JSON.stringify(told));
      engine.dispose();
    }
    return [...seen].map((one) => JSON.parse(one));
  }
  const same = (a, b) => a.length === b.length && a.every((y, i) => y === b[i]);
`;
const lossesOf = (program) => resultOf([], `${search}${program}`, { timeout: PATIENCE.wait });

test('threads: a thread that fails in a task is told, and the next call is right', async () => {
  const found = await lossesOf(`
    const x = random([1, 8, 300, 64], 1);
    const expected = (await init({ variant: 'simd' })).attention(x, x, x).output.data;
    const found = await losses(40, (engine) => engine.info.threads, async (before, engine) => {
      try {
        engine.attention(x, x, x);
        return undefined;
      } catch ({ code, message }) {
        const right = same(engine.attention(x, x, x).output.data, expected);
        while (engine.info.threads === before) await new Promise((next) => setTimeout(next, 10));
        return { code, message, right, threads: [before, engine.info.threads] };
      }
    });
    console.log(JSON.stringify(found));
  `);
  const message =
    'attention: a thread ended during the call, expected it to run until dispose(); the output is ' +
    'incomplete';
  assert.deepEqual(found, [{ code: 'thread_lost', message, right: true, threads: [2, 1] }]);
});

test('threads: a session forgets the tokens of a pass that lost a thread', async () => {
  const models = copy.replace('index.js', 'models.js');
  const oracle = new URL('../../support/js/model-oracle.js', import.meta.url).href;
  const found = await lossesOf(`
    const { create } = await import(${JSON.stringify(models)});
    const { randomWeights } = await import(${JSON.stringify(oracle)});
    const config = { vocabulary: 32, numLayers: 1, dModel: 64, numHeads: 8, dFeedForward: 128, maxLength: 600 };
    const weights = randomWeights(config, 1);
    const [first, second] = [1, 2].map((step) => Int32Array.from({ length: 200 }, (_, i) => (i * step) % 32));
    const read = (model, session, ids) => model.forward(ids, { session, rows: 'last' }).logits.data;
    const one = create(await init({ variant: 'simd' }), config, weights);
    const session = one.session();
    read(one, session, first);
    const expected = read(one, session, second);
    const found = await losses(10, (engine) => create(engine, config, weights), (model) => {
      const talk = model.session();
      const lost = [];
      let last;
      for (const ids of [first, second]) {
        const { length } = talk;
        try {
          last = read(model, talk, ids);
        } catch ({ code }) {
          lost.push({ code, kept: talk.length === length });
          last = read(model, talk, ids);
        }
      }
      const right = same(last, expected) && talk.length === 400;
      talk.dispose();
      return lost[0] && { ...lost[0], right };
    });
    console.log(JSON.stringify(found));
  `);
  assert.deepEqual(found, [{ code: 'thread_lost', kept: true, right: true }]);
});

test('threads: a cache forgets the tokens of a call that lost a thread', async () => {
  const found = await lossesOf(`
    const x = random([1, 8, 300, 64], 1);
    const [tokens, w] = [random([1, 300, 512], 2), random([512, 512], 3)];
    const of = (engine) => {
      const layer = engine.multiHeadAttention({ dModel: 512, numHeads: 8 }, { wq: w, wk: w, wv: w, wo: w });
      return {
        attention: (cache) => engine.attention(x, x, x, { cache }).output.data,
        forward: (cache) => layer.forward(tokens, { cache }).output.data,
      };
    };
    const cacheOf = (engine) => engine.kvCache({ numKvHeads: 8, capacity: 600, dK: 64 });
    const one = await init({ variant: 'simd' });
    const found = {};
    for (const [name, right] of Object.entries(of(one))) {
      const whole = cacheOf(one);
      const [output, keys] = [right(whole), whole.keys().data];
      found[name] = await losses(20, (engine) => of(engine)[name], (call, engine) => {
        const cache = cacheOf(engine);
        try {
          call(cache);
          cache.dispose();
          return undefined;
        } catch ({ code }) {
          const kept = cache.length === 0;
          // The call is made again, as the documentation says that it may be.
          const right = same(call(cache), output) && same(cache.keys().data, keys);
          return { code, kept, right, length: cache.length };
        }
      }, { isOneEnough: true });
    }
    console.log(JSON.stringify(found));
  `);
  const told = [{ code: 'thread_lost', kept: true, right: true, length: 300 }];
  assert.deepEqual(found, { attention: told, forward: told });
});

test('threads: a step that lost a thread counts, in the trainer and in its file', async () => {
  const train = copy.replace('index.js', 'train.js');
  const parts = new URL('../../support/js/safetensors.js', import.meta.url).href;
  const found = await lossesOf(`
    const { init: initTraining } = await import(${JSON.stringify(train)});
    const { partsOf } = await import(${JSON.stringify(parts)});
    const config = { vocabulary: 64, numLayers: 1, dModel: 64, numHeads: 8, dFeedForward: 256, maxLength: 64 };
    const ids = Array.from({ length: 512 }, (_, i) => (i * 7) % 64);
    const batch = { ids, targets: ids, batch: 8 };
    const found = await losses(10, (engine) => engine.languageModel(config), (trainer) => {
      const before = trainer.steps;
      try {
        trainer.step(batch);
        return undefined;
      } catch ({ code }) {
        const { steps } = partsOf(trainer.save({ optimizer: true })).header.__metadata__;
        const counted = [trainer.steps - before, steps - before, trainer.step(batch).step - before];
        return { code, counted };
      }
    }, { start: initTraining, isOneEnough: true });
    console.log(JSON.stringify(found));
  `);
  assert.deepEqual(found, [{ code: 'thread_lost', counted: [1, 1, 2] }]);
});
