// @run full, or after changes in core/src/base wasm/src/load wasm/src/memory
// @build any
// @alone
// Threads under stress: many engines, engines that are ended in the middle of their work, threads that die. Each in
// a process of its own that is ended if it hangs, because a caller that waits for a dead thread waits forever.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { resultOf } from '../../support/js/node.js';
import { PATIENCE } from '../../support/js/patience.js';

const proc = { skip: !existsSync('/proc/self/task') && 'there is no /proc' };

const setup = `
  import { readdirSync, readFileSync } from 'node:fs';
  import { Worker as NodeWorker } from 'node:worker_threads';
  import { init } from 'qkv';
  import { init as initWorkers } from 'qkv/worker';
  import { randomArray } from './tests/support/js/arrays.js';
  import { pause, until } from './tests/support/js/patience.js';
  import { initBehindGate } from './tests/support/js/workers.js';
  const ids = () => readdirSync('/proc/self/task');
  const tasks = () => ids().length;
  /** Once every thread of this process but this one sleeps, which has no work to do meanwhile. */
  const sleeps = (id) => {
    try {
      return readFileSync('/proc/self/task/' + id + '/stat', 'latin1').split(') ').at(-1).startsWith('S');
    } catch {
      return true; // it has ended
    }
  };
  const asleep = () => until(() => ids().every((id) => Number(id) === process.pid || sleeps(id)));
  /** Workers that are started from now on. */
  const started = [];
  const module = process.getBuiltinModule('node:worker_threads');
  module.Worker = class extends NodeWorker {
    constructor(...args) {
      super(...args);
      started.push(this);
    }
  };
  const x = randomArray([1, 4, 300, 64], 1);
  const expected = (await init({ deterministic: true })).attention(x, x, x).output.data;
  const isRight = ({ output }) => Buffer.compare(Buffer.from(output.data.buffer), Buffer.from(expected.buffer)) === 0;
  const codeOf = (promise) => promise.then(() => 'answered', (error) => error.code);
  /** The threads of Node itself come and go; those before anything is started. */
  const before = tasks();
  const settled = () => until(() => tasks() <= before + 1, () => tasks() - before + ' threads are gone').then(() => true);
  /** Engines in workers that are in the middle of a call from which they never come back. */
  const endless = async (options) => {
    const { engine, made, gate } = await initBehindGate({ deterministic: true, ...options });
    gate.neverEnd();
    return { engine, made, gate };
  };
`;
/** What the script has found, as the fields of an object, once all threads that it started are gone. */
async function run(script, fields) {
  const report = `{ ${fields}, gone: await settled(), left: tasks() - before }`;
  const program = `${setup}${script} console.log(JSON.stringify(${report})); process.exit();`;
  const { gone, left, ...found } = await resultOf([], program, { timeout: PATIENCE.wait });
  assert.ok(gone, `${left} threads are left`);
  return found;
}

describe('threads: engines in workers, each with threads', proc, () => {
  test('sixteen compute at once, and leave nothing', async () => {
    const found = await run(
      `
      const engines = [];
      // Four at a time: a thread that is not there after ten seconds is done without.
      while (engines.length < 16) {
        engines.push(...(await Promise.all([0, 1, 2, 3].map((i) =>
          initWorkers({ deterministic: true, threads: 2, timeout: ${PATIENCE.wait / 2} + engines.length + i })))));
      }
      const threads = engines.map(({ info }) => info.threads);
      const workers = started.length;
      const rights = [];
      for (let round = 0; round < 2; ++round) {
        const results = await Promise.all(engines.map((engine) => engine.attention(x, x, x)));
        rights.push(...results.map(isRight));
      }
      for (const engine of engines) await engine.dispose();
`,
      'threads, workers, right: rights.every(Boolean), calls: rights.length',
    );
    assert.deepEqual(found.threads, Array(16).fill(2));
    assert.equal(found.workers, 16);
    assert.deepEqual([found.right, found.calls], [true, 32]);
  });

  test('ended in the middle of a call: calls are rejected, threads end, others go on', async () => {
    const found = await run(
      `
      const { engine: one, gate } = await endless({ threads: 2 });
      const other = await initWorkers({ deterministic: true, threads: 3 });
      const codes = [1, 2, 3].map(() => codeOf(one.attention(x, x, x)));
      await gate.begun(1);
      await one.dispose();
      const outcome = await Promise.all(codes);
      const right = isRight(await other.attention(x, x, x));
      await other.dispose();`,
      'outcome, right',
    );
    assert.deepEqual(found.outcome, ['disposed', 'disposed', 'disposed']);
    assert.ok(found.right);
  });

  test('killed in the middle of a call: calls are rejected, its threads end with it', async () => {
    const found = await run(
      `
      const { engine, made, gate } = await endless({ threads: 3, workers: 2 });
      const codes = [1, 2, 3, 4].map(() => codeOf(engine.attention(x, x, x)));
      await gate.begun(2);
      await made[0].terminate();
      gate.open();
      const outcome = await Promise.all(codes);
      const right = isRight(await engine.attention(x, x, x));
      await engine.dispose();`,
      'outcome, right',
    );
    assert.ok(found.outcome.includes('load_failed'), String(found.outcome));
    assert.ok(found.outcome.includes('answered'), String(found.outcome));
    assert.ok(found.right, 'the other worker computes');
  });

  test('started and ended over and over, in the middle of loading too', async () => {
    const found = await run(
      `
      let loaded = 0;
      for (let i = 0; i < 12; ++i) {
        const controller = new AbortController();
        const loading = initWorkers({ deterministic: true, threads: 1 + (i % 3), signal: controller.signal, timeout: ${PATIENCE.wait / 2} + i });
        loading.catch(() => undefined);
        if (i % 2 === 0) {
          await pause(i * 4);
          controller.abort();
          // It may have loaded before.
          await loading.then((engine) => engine.dispose(), () => undefined);
        } else {
          const engine = await loading;
          loaded += 1;
          void codeOf(engine.attention(x, x, x));
          await engine.dispose();
        }
      }`,
      'loaded',
    );
    assert.equal(found.loaded, 6);
  });
});

describe('threads: those that die', proc, () => {
  test('while they sleep: the others do their work, to the same bits', async () => {
    const found = await run(
      `
      const engine = await init({ deterministic: true, threads: 4 });
      const rights = [isRight(engine.attention(x, x, x))];
      await asleep();
      for (const worker of started.splice(0)) {
        await worker.terminate();
        rights.push(isRight(engine.attention(x, x, x)));
        await asleep();
        rights.push(isRight(engine.attention(x, x, x)));
      }
      engine.dispose();`,
      'rights',
    );
    assert.deepEqual(found.rights, Array(7).fill(true));
  });

  test('right after a call, while they look for work', async () => {
    const found = await run(
      `
      const rights = [];
      for (let i = 0; i < 10; ++i) {
        started.length = 0;
        const engine = await init({ deterministic: true, threads: 3 });
        rights.push(isRight(engine.attention(x, x, x)));
        // Gone before the next call: one that has claimed work of it and dies leaves its caller waiting.
        await Promise.all(started.map((worker) => worker.terminate()));
        rights.push(isRight(engine.attention(x, x, x)));
        await asleep();
        rights.push(isRight(engine.attention(x, x, x)));
        engine.dispose();
      }`,
      'rights',
    );
    assert.deepEqual(found.rights, Array(30).fill(true));
  });
});
