// @build any
// The workers of engines with threads: they work, they sleep, and they end.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { expectSame, expectThrows, shareMemory } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import { resultOf, runNode } from '../../support/js/node.js';
import { PATIENCE, until } from '../../support/js/patience.js';

const x = randomArray([1, 4, 400, 64], 1);
const expected = (await init({ variant: 'simd' })).attention(x, x, x).output.data;
const expectRight = (engine) => expectSame(engine.attention(x, x, x).output.data, expected);

/** An engine that nobody else has. */
const fresh = (threads) => init({ wasm: wasmFile('simd-threads'), threads });

describe('threads: seen from the system', { skip: !existsSync('/proc/self/task') }, () => {
  const running = () => readdirSync('/proc/self/task');
  /** The letter of a thread's state, and the ticks of 10 ms that it has worked; none once it is gone. */
  const look = (id) => {
    try {
      // utime and stime, the 14th and 15th field; the second one ends with the last parenthesis.
      const fields = readFileSync(`/proc/self/task/${id}/stat`, 'latin1')
        .split(') ')
        .at(-1)
        .split(' ');
      return { state: fields[0], ticks: Number(fields[11]) + Number(fields[12]) };
    } catch {
      return { state: 'gone', ticks: 0 };
    }
  };
  const ticks = (id) => look(id).ticks;
  const asleep = (ids) =>
    until(
      () => ids.every((id) => look(id).state === 'S'),
      () => `asleep: ${ids.map((id) => look(id).state)}`,
    );
  const gone = (ids) =>
    until(
      () => !running().some((id) => ids.includes(id)),
      () => `gone: ${ids.map((id) => look(id).state)}`,
    );
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

  test('threads without work cost nothing while another engine computes', async () => {
    const other = await init({ variant: 'simd' });
    const { engine, added } = await withThreads(4);
    expectRight(engine);
    await asleep(added);
    const main = String(process.pid);
    const [before, from] = [added.map(ticks), ticks(main)];
    while (ticks(main) - from < 50) expectRight(other);
    const worked = added.map((id, i) => ticks(id) - before[i]);
    assert.ok(Math.max(...worked) <= 2, `of 50 ticks: ${worked}`);
    expectRight(engine);
    engine.dispose();
  });

  test('dispose() ends them, also right after a call and when called twice', async () => {
    const { engine, added } = await withThreads(3);
    expectRight(engine);
    engine.dispose();
    engine.dispose();
    await gone(added);
    expectThrows(() => engine.attention(x, x, x), 'attention', 'disposed');
  });

  test('dispose() ends them while they sleep', async () => {
    const { engine, added } = await withThreads(3);
    await asleep(added);
    engine.dispose();
    await gone(added);
  });
});

test('threads: two engines with threads compute in turns, and one goes on when the other has ended', async () => {
  const [one, other] = await Promise.all([fresh(2), fresh(3)]);
  assert.deepEqual([one.info.threads, other.info.threads], [2, 3]);
  for (let i = 0; i < 5; ++i) [one, other].forEach(expectRight);
  one.dispose();
  expectRight(other);
  other.dispose();
});

test('threads: a memory is kept for each number of threads', async () => {
  const asked = [1, 2, 3, 'auto'];
  const engines = await Promise.all(asked.map((threads) => init({ threads })));
  const others = await Promise.all(
    asked.map((threads) => init({ threads, variant: 'auto', deterministic: false })),
  );
  for (const [i, engine] of engines.entries()) {
    for (const [j, other] of others.entries()) {
      assert.equal(shareMemory(engine, other), i === j, `${asked[i]} and ${asked[j]}`);
    }
  }
  assert.ok(shareMemory(engines[0], await init()));
  for (const engine of [...engines, ...others]) engine.dispose();
});

describe('threads: a program', () => {
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
      import { until } from './tests/support/js/patience.js';
      import { randomArray } from './tests/support/js/arrays.js';
      import { readdirSync } from 'node:fs';
      const threads = () => readdirSync('/proc/self/task').length;
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
      await until(() => {
        gc();
        return Object.values(left()).every((count) => count === 0);
      }, () => JSON.stringify(left()));
      console.log(JSON.stringify({ kept: kept.length, ...left() }));`,
    );
    assert.deepEqual(report, { kept: 10, threads: 0, memories: 0, resources: 0 });
  });
});
