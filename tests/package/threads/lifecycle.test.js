// The workers of engines with threads: they work, they sleep, and they end.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import { resultOf, runNode } from '../../support/js/node.js';
import { PATIENCE } from '../../support/js/patience.js';
import { sleep } from '../../support/js/shared-calls.js';

const x = randomArray([1, 4, 400, 64], 1);
const expected = (await init({ variant: 'simd' })).attention(x, x, x).output.data;
const expectRight = (engine) => expectSame(engine.attention(x, x, x).output.data, expected);

/** An engine that nobody else has. */
const fresh = (threads) => init({ wasm: wasmFile('simd-threads'), threads });

/** Resolves once `condition()` holds; rejects if it never does. */
async function until(condition, what) {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > PATIENCE.wait) throw new Error(`it never was: ${what()}`);
    await sleep(10);
  }
}

describe('seen from the system', { skip: !existsSync('/proc/self/task') }, () => {
  const running = () => readdirSync('/proc/self/task');
  /** Ticks of 10 ms that a thread has worked; 0 once it is gone. */
  const ticks = (id) => {
    try {
      // utime and stime, the 14th and 15th field; the second one ends with the last parenthesis.
      const fields = readFileSync(`/proc/self/task/${id}/stat`, 'latin1').split(') ').at(-1);
      const [user, system] = fields.split(' ').slice(11, 13).map(Number);
      return user + system;
    } catch {
      return 0;
    }
  };
  /** An engine and the threads it brought. */
  async function withThreads(threads) {
    const before = new Set(running());
    const engine = await fresh(threads);
    const added = running().filter((id) => !before.has(id));
    return { engine, added };
  }

  test('every thread works', async () => {
    const { engine, added } = await withThreads(3);
    assert.equal(added.length, 2);
    const start = added.map(ticks);
    const worked = () => added.map((id, i) => ticks(id) - start[i]);
    await until(
      () => {
        expectRight(engine);
        return worked().every((n) => n >= 5);
      },
      () => `ticks of each: ${worked()}`,
    );
    engine.dispose();
  });

  test('threads without work cost nothing', async () => {
    const { engine, added } = await withThreads(4);
    expectRight(engine);
    await sleep(100);
    const start = added.map(ticks);
    await sleep(500);
    const worked = added.map((id, i) => ticks(id) - start[i]);
    assert.ok(Math.max(...worked) <= 2, `of 50 ticks: ${worked}`);
    expectRight(engine);
    engine.dispose();
  });

  test('dispose() ends them, also right after a call and when called twice', async () => {
    const { engine, added } = await withThreads(3);
    expectRight(engine);
    engine.dispose();
    engine.dispose();
    const left = () => running().filter((id) => added.includes(id));
    await until(
      () => left().length === 0,
      () => `still there: ${left()}`,
    );
    expectThrows(() => engine.attention(x, x, x), 'attention', 'disposed');
  });

  test('dispose() ends them while they sleep', async () => {
    const { engine, added } = await withThreads(3);
    await sleep();
    engine.dispose();
    const left = () => running().filter((id) => added.includes(id));
    await until(
      () => left().length === 0,
      () => `still there: ${left()}`,
    );
  });
});

test('two engines with threads compute in turns, and one goes on when the other has ended', async () => {
  const [one, other] = await Promise.all([fresh(2), fresh(3)]);
  assert.deepEqual([one.info.threads, other.info.threads], [2, 3]);
  for (let i = 0; i < 5; ++i) [one, other].forEach(expectRight);
  one.dispose();
  await sleep();
  expectRight(other);
  other.dispose();
});

test('an engine is kept for each number of threads', async () => {
  const [two, three] = [init({ threads: 2 }), init({ threads: 3 })];
  assert.equal(init({ threads: 2 }), two);
  assert.equal(init({ threads: 2, variant: 'auto', deterministic: false }), two);
  assert.notEqual(three, two);
  assert.equal(init({ threads: 1 }), init());
  assert.notEqual(init(), two);
  assert.notEqual(init({ threads: 'auto' }), init());
  assert.equal(init({ threads: 'auto' }), init({ threads: 'auto' }));
  const engines = await Promise.all([two, three, init(), init({ threads: 'auto' })]);
  assert.equal(new Set(engines).size, 4);
  for (const engine of engines) engine.dispose();
});

test('after dispose() the same options make a new engine, whose threads work', async () => {
  const options = { deterministic: true, threads: 2 };
  const old = await init(options);
  old.dispose();
  const engine = await init(options);
  assert.notEqual(engine, old);
  assert.equal(engine.info.threads, 2);
  expectRight(engine);
  engine.dispose();
});

describe('a program', () => {
  const ends = async (script) => {
    const { code, stdout, stderr } = await runNode([], script, { timeout: PATIENCE.wait });
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'the end', stderr: '' });
  };
  const start = `
    import { init } from 'qkv';
    import { randomArray } from './tests/support/js/arrays.js';
    const x = randomArray([1, 4, 400, 64], 1);
    const engine = await init({ threads: 3 });
    if (engine.info.threads !== 3) throw new Error(String(engine.info.threads));
  `;
  const end = "process.stdout.write('the end');";

  test('ends by itself right after a call, without dispose()', () =>
    ends(`${start} engine.attention(x, x, x); ${end}`));
  test('ends by itself while the threads sleep', () =>
    ends(`${start} await new Promise((resolve) => setTimeout(resolve, 200)); ${end}`));
  test('ends by itself after dispose()', () =>
    ends(`${start} engine.attention(x, x, x); engine.dispose(); ${end}`));
  test('ends by itself if it never waits for init()', () =>
    ends(`import { init } from 'qkv'; void init({ threads: 3 }); ${end}`));

  test('that starts and disposes ten engines is left with nothing, whatever it keeps', async () => {
    const report = await resultOf(
      ['--expose-gc'],
      `import { init } from 'qkv';
      import { randomArray } from './tests/support/js/arrays.js';
      import { readdirSync } from 'node:fs';
      const threads = () => readdirSync('/proc/self/task').length;
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const x = randomArray([1, 4, 200, 64], 1);
      const kept = [];
      const memories = [];
      const before = threads();
      for (let i = 0; i < 10; ++i) {
        const engine = await init({ threads: 3 });
        engine.attention(x, x, x);
        memories.push(new WeakRef(engine.tensor([1]).view().buffer));
        engine.dispose();
        kept.push(engine);
      }
      const left = () => ({
        threads: threads() - before,
        memories: memories.filter((ref) => ref.deref()).length,
        resources: process.getActiveResourcesInfo().filter((name) => /Port|Worker/.test(name)).length,
      });
      const some = () => Object.values(left()).some((count) => count > 0);
      for (let i = 0; i < 1200 && some(); ++i) {
        await pause(50);
        gc();
      }
      console.log(JSON.stringify({ kept: kept.length, ...left() }));`,
    );
    assert.deepEqual(report, { kept: 10, threads: 0, memories: 0, resources: 0 });
  });
});
