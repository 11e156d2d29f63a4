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

test('threads: a thread that fails in a task is told, and the next call is right', async () => {
  const program = `
    const { init, random } = await import(${JSON.stringify(copy)});
    const x = random([1, 8, 300, 64], 1);
    const expected = (await init({ variant: 'simd' })).attention(x, x, x).output.data;
    const answers = new Set();
    for (let part = 0; part < 16; ++part) {
      process.env.QKV_EMPTIED = part;
      const engine = await init({ variant: 'simd-threads', threads: 2, shared: false });
      const before = engine.info.threads;
      let told;
      // The caller may have done all tasks before the thread has claimed one.
      for (let i = 0; i < 40 && !told; ++i) {
        try {
          engine.attention(x, x, x);
        } catch ({ code, message }) {
          told = { code, message };
        }
      }
      const { data } = engine.attention(x, x, x).output;
      const right = data.every((y, i) => y === expected[i]);
      while (told && engine.info.threads === before) await new Promise((next) => setTimeout(next, 10));
      if (told) answers.add(JSON.stringify({ ...told, right, threads: [before, engine.info.threads] }));
      engine.dispose();
    }
    console.log(JSON.stringify([...answers].map((answer) => JSON.parse(answer))));
  `;
  const told = {
    code: 'thread_lost',
    message:
      'attention: a thread ended during the call, expected it to run until dispose(); the output is ' +
      'incomplete',
    right: true,
    threads: [2, 1],
  };
  assert.deepEqual(await resultOf([], program, { timeout: PATIENCE.wait }), [told]);
});

test('threads: a session forgets the tokens of a pass that lost a thread', async () => {
  const models = copy.replace('index.js', 'models.js');
  const oracle = new URL('../../support/js/model-oracle.js', import.meta.url).href;
  const program = `
    const { init } = await import(${JSON.stringify(copy)});
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
    const seen = new Set();
    for (let part = 0; part < 16; ++part) {
      process.env.QKV_EMPTIED = part;
      const engine = await init({ variant: 'simd-threads', threads: 2, shared: false });
      const model = create(engine, config, weights);
      // A pass has its thread lost in it, or is over before the thread has claimed a task.
      for (let i = 0; i < 10; ++i) {
        const talk = model.session();
        const passes = [first, second].map((ids) => {
          const { length } = talk;
          try {
            return { data: read(model, talk, ids) };
          } catch ({ code }) {
            const kept = talk.length === length;
            return { code, kept, data: read(model, talk, ids) };
          }
        });
        const [, last] = passes;
        const right = last.data.every((y, j) => y === expected[j]) && talk.length === 400;
        for (const { code, kept } of passes) if (code) seen.add(JSON.stringify({ code, kept, right }));
        talk.dispose();
      }
      model.dispose();
      engine.dispose();
    }
    console.log(JSON.stringify([...seen].map((answer) => JSON.parse(answer))));
  `;
  const found = await resultOf([], program, { timeout: PATIENCE.wait });
  assert.deepEqual(found, [{ code: 'thread_lost', kept: true, right: true }]);
});

test('threads: a cache forgets the tokens of a call that lost a thread', async () => {
  const program = `
    const { init, random } = await import(${JSON.stringify(copy)});
    const x = random([1, 8, 300, 64], 1);
    const [tokens, w] = [random([1, 300, 512], 2), random([512, 512], 3)];
    const weights = { wq: w, wk: w, wv: w, wo: w };
    const of = (engine) => {
      const layer = engine.multiHeadAttention({ dModel: 512, numHeads: 8 }, weights);
      return {
        attention: (cache) => engine.attention(x, x, x, { cache }).output.data,
        forward: (cache) => layer.forward(tokens, { cache }).output.data,
      };
    };
    const same = (a, b) => a.length === b.length && a.every((y, i) => y === b[i]);
    const sizes = { numKvHeads: 8, capacity: 600, dK: 64 };
    const one = await init({ variant: 'simd' });
    const expected = Object.entries(of(one)).map(([name, call]) => {
      const cache = one.kvCache(sizes);
      return [name, { output: call(cache), keys: cache.keys().data }];
    });
    const answers = [];
    for (const [name, { output, keys }] of expected) {
      for (let part = 0, told; part < 16 && !told; ++part) {
        process.env.QKV_EMPTIED = part;
        const engine = await init({ variant: 'simd-threads', threads: 2, shared: false });
        const call = of(engine)[name];
        for (let i = 0; i < 20 && !told; ++i) {
          const cache = engine.kvCache(sizes);
          try {
            call(cache);
          } catch ({ code }) {
            const kept = cache.length === 0;
            // The call is made again, as the documentation says that it may be.
            const right = same(call(cache), output) && same(cache.keys().data, keys);
            told = { name, code, kept, right, length: cache.length };
          }
          cache.dispose();
        }
        if (told) answers.push(told);
        engine.dispose();
      }
    }
    console.log(JSON.stringify(answers));
  `;
  const found = await resultOf([], program, { timeout: PATIENCE.wait });
  const told = { code: 'thread_lost', kept: true, right: true, length: 300 };
  assert.deepEqual(found, [
    { name: 'attention', ...told },
    { name: 'forward', ...told },
  ]);
});

test('threads: a step that lost a thread counts, in the trainer and in its file', async () => {
  const train = copy.replace('index.js', 'train.js');
  const program = `
    const { init } = await import(${JSON.stringify(train)});
    const config = { vocabulary: 64, numLayers: 1, dModel: 64, numHeads: 8, dFeedForward: 256, maxLength: 64 };
    const ids = Array.from({ length: 512 }, (_, i) => (i * 7) % 64);
    const batch = { ids, targets: ids, batch: 8 };
    const stepsOf = (file) => {
      const length = Number(new DataView(file.buffer).getBigUint64(0, true));
      return JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length))).__metadata__.steps;
    };
    let told;
    for (let part = 0; part < 16 && !told; ++part) {
      process.env.QKV_EMPTIED = part;
      const engine = await init({ variant: 'simd-threads', threads: 2, shared: false });
      const trainer = engine.languageModel(config);
      for (let i = 0; i < 10 && !told; ++i) {
        const before = trainer.steps;
        try {
          trainer.step(batch);
        } catch ({ code }) {
          const [steps, saved] = [trainer.steps - before, stepsOf(trainer.save({ optimizer: true })) - before];
          told = { code, steps, saved, next: trainer.step(batch).step - before };
        }
      }
      engine.dispose();
    }
    console.log(JSON.stringify(told));
  `;
  const told = await resultOf([], program, { timeout: PATIENCE.wait });
  assert.deepEqual(told, { code: 'thread_lost', steps: 1, saved: 1, next: 2 });
});
