// @build any
// qkv/worker: several workers, and how they end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { init, serve } from 'qkv/worker';
import { randomArray } from '../../support/js/arrays.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { root } from '../../support/js/files.js';
import { inTime } from '../../support/js/patience.js';
import {
  distUrl,
  initBehindGate,
  longProblem,
  workerOf,
  workersOf,
} from '../../support/js/workers.js';

const x = randomArray([1, 1, 2, 4], 1);
const temporary = mkdtempSync(join(tmpdir(), 'qkv-worker-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

/** When each promise has settled, in the order in which they do. */
async function orderOf(promises) {
  const order = [];
  const noted = Object.entries(promises).map(async ([name, promise]) => {
    await promise.catch(() => undefined);
    order.push(name);
  });
  await Promise.all(noted);
  return order;
}

describe('worker: a pool', () => {
  test('has an engine in each worker, and they run at the same time', async () => {
    const { engine: pool, made, gate } = await initBehindGate({ workers: 2 });
    assert.equal(made.length, 2);
    const held = pool.attention(x, x, x);
    await gate.begun(1);
    // With one worker these would come after the one that is held.
    await inTime(Promise.all([pool.gelu(x), pool.gelu(x), pool.gelu(x)]), 'a short call');
    gate.open();
    assert.equal((await held).output.data.length, 8);
    await pool.dispose();
    const { engine: single, gate: other } = await initBehindGate();
    const [first, second] = [single.attention(x, x, x), single.gelu(x)];
    const order = orderOf({ second, first });
    await other.begun(1);
    other.open();
    assert.deepEqual(await order, ['first', 'second']);
    await single.dispose();
  });

  test('memory() is the sum of its engines, whose memory is their own', async () => {
    const [one, pool] = await Promise.all([init(), init({ workers: 2 })]);
    const { heapBytes } = await one.memory();
    assert.equal((await pool.memory()).heapBytes, 2 * heapBytes);
    const before = await pool.memory();
    const made = await Promise.all(
      [0, 1].map((worker) => pool.tensor([1000], undefined, { worker })),
    );
    const { usedBytes, handles } = await pool.memory();
    assert.ok(usedBytes >= before.usedBytes + 8000);
    assert.equal(handles, 2);
    await Promise.all(made.map((tensor) => tensor.dispose()));
    assert.deepEqual(await pool.memory(), before);
    await Promise.all([one.dispose(), pool.dispose()]);
  });

  for (const [options, code, ...says] of [
    [{ workers: 0 }, 'out_of_range', 'workers is 0', '1 to 256'],
    [{ workers: 257 }, 'out_of_range', 'workers is 257'],
    [{ workers: 1.5 }, 'invalid_argument', 'workers is 1.5', 'whole number'],
    [{ workers: '2' }, 'invalid_argument', 'workers is "2"'],
    [{ worker: {} }, 'invalid_argument', 'worker is Object', 'a Worker, a MessagePort'],
    [{ worker: null }, 'invalid_argument', 'worker is null'],
    [{ worker: [] }, 'invalid_argument', 'worker is an empty array'],
    [{ worker: [undefined] }, 'invalid_argument', 'worker is undefined'],
    [{ worker: process, workers: 2 }, 'invalid_argument', 'both', 'one of them'],
    [{ timeout: 0 }, 'invalid_argument', 'timeout is 0', 'above 0'],
    [{ timeout: NaN }, 'invalid_argument', 'timeout is NaN'],
    [{ timeout: '1' }, 'invalid_argument', 'timeout is "1"'],
    [3, 'invalid_argument', 'options is 3', 'an object'],
    [null, 'invalid_argument', 'options is null', 'an object'],
    [[], 'invalid_argument', 'options is an array', 'an object'],
    [{ treads: 2 }, 'invalid_argument', "unknown key 'treads'"],
    [{ variant: 'fast' }, 'invalid_argument', 'variant is "fast"'],
    [{ wasm: () => 1 }, 'invalid_argument', 'cannot be sent'],
    [
      { wasm: 'file:///nowhere/qkv.wasm' },
      'load_failed',
      'file:///nowhere/qkv.wasm could not be read',
    ],
  ]) {
    test(`init(${Object.keys(options ?? {})} ${says[0]}) is refused`, () =>
      expectRejects(init(options), 'init', code, ...says));
  }

  test('what has no text can be the reason of a promise that is rejected', async () => {
    const wasm = Promise.reject(Object.create(null));
    await expectRejects(
      init({ wasm }),
      'init',
      'load_failed',
      'rejected (an object without a text)',
    );
  });

  test('a worker that there is not is refused', async () => {
    const pool = await init({ workers: 2 });
    for (const [worker, code] of [
      [2, 'out_of_range'],
      [-1, 'out_of_range'],
      ['0', 'invalid_argument'],
    ]) {
      await expectRejects(pool.tensor([1], [1], { worker }), 'tensor', code, 'worker is');
    }
    await pool.dispose();
  });
});

describe('worker: dispose()', () => {
  test('ends the workers, and rejects what runs, what waits and what comes', async () => {
    const { engine, made, gate } = await initBehindGate();
    const tensor = await engine.tensor([2]);
    const { signal } = new AbortController();
    const calls = [engine.attention(x, x, x), engine.gelu(x), engine.gelu(x, { signal })];
    await gate.begun(1);
    const exits = made.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    const disposed = engine.dispose();
    for (const [i, fn] of ['attention', 'gelu', 'gelu'].entries()) {
      await expectRejects(calls[i], fn, 'disposed', 'the engine is disposed');
    }
    await disposed;
    await Promise.all([engine.dispose(), ...exits]);
    await expectRejects(engine.gelu(x), 'gelu', 'disposed', 'the engine is disposed');
    await expectRejects(engine.memory(), 'memory', 'disposed', 'the engine is disposed');
    await expectRejects(tensor.toNdArray(), 'Tensor.toNdArray', 'disposed', 'the engine');
    await tensor.dispose();
    assert.equal(engine.info.workers, 1);
  });

  test('is not disturbed by what a worker fails of on its way out', async () => {
    const { made, value: engine } = await workersOf(() => init());
    await engine.dispose();
    assert.ok(made[0].emit('error', new Error('too late')));
  });
});

describe('worker: a worker that dies', () => {
  test('rejects all its calls, and init() starts another', async () => {
    const { engine, made, gate } = await initBehindGate();
    const tensor = await engine.tensor([2]);
    const calls = [engine.attention(x, x, x), engine.gelu(x), tensor.toNdArray()];
    await gate.begun(1);
    await made[0].terminate();
    const url = distUrl('worker-host.js').href;
    for (const [i, fn] of ['attention', 'gelu', 'Tensor.toNdArray'].entries()) {
      await expectRejects(calls[i], fn, 'load_failed', url, 'has ended', 'init() again');
    }
    await expectRejects(engine.gelu(x), 'gelu', 'load_failed', 'has ended');
    const kept = randomArray([1, 1, 2, 4], 1);
    await expectRejects(engine.gelu(kept, { transfer: true }), 'gelu', 'load_failed');
    assert.equal(kept.data.length, 8);
    await expectRejects(engine.memory(), 'memory', 'load_failed', 'has ended');
    await tensor.dispose();
    const next = await init();
    assert.notEqual(next, engine);
    assert.equal((await next.gelu(x)).data.length, 8);
    await Promise.all([engine.dispose(), next.dispose()]);
    await expectRejects(engine.gelu(x), 'gelu', 'disposed');
  });

  test('leaves what waits to the others of its pool', async () => {
    const { engine: pool, made, gate } = await initBehindGate({ workers: 2 });
    const calls = [1, 2].map(() => pool.attention(x, x, x));
    const waiting = pool.gelu(x);
    await gate.begun(2);
    await made[0].terminate();
    await expectRejects(calls[0], 'attention', 'load_failed', 'has ended');
    gate.open();
    assert.equal((await waiting).data.length, 8);
    assert.equal((await calls[1]).output.data.length, 8);
    gate.close();
    const rest = [pool.attention(x, x, x), pool.gelu(x)];
    await gate.begun(3);
    await made[1].terminate();
    for (const [i, fn] of ['attention', 'gelu'].entries()) {
      await expectRejects(rest[i], fn, 'load_failed', 'has ended');
    }
    await pool.dispose();
  });

  test('leaves the others of its pool', async () => {
    const { made, value: pool } = await workersOf(() => init({ workers: 2 }));
    const expected = await pool.gelu(x);
    const tensor = await pool.tensor([2], [1, 2], { worker: 1 });
    await made[0].terminate();
    for (let i = 0; i < 4; ++i) expectSame((await pool.gelu(x)).data, expected.data);
    await expectRejects(pool.tensor([2]), 'tensor', 'load_failed', 'has ended');
    assert.equal((await tensor.toNdArray()).data[1], 2);
    assert.equal((await pool.memory()).handles, 1);
    await pool.dispose();
  });

  test('by its own doing says with what', async () => {
    const program = `
      import { parentPort } from 'node:worker_threads';
      import { init } from 'index.js';
      import { serve } from 'worker.js';
      serve(parentPort, init);
      parentPort.on('message', (m) => { if (m === 'burst') process.exit(7); });`;
    const worker = workerOf(program);
    const engine = await init({ worker });
    const { q, k, v } = longProblem();
    const call = engine.attention(q, k, v);
    worker.postMessage('burst');
    const next = engine.gelu(x);
    assert.equal((await call).output.shape[2], 300);
    await expectRejects(next, 'gelu', 'load_failed', 'has ended with 7');
  });
});

describe('worker: a worker that does not start', () => {
  /** A copy of the package's script, beside what stands in for its worker. */
  async function copyBeside(name, host) {
    const folder = join(temporary, name);
    for (const file of ['worker.js', 'errors.js']) {
      cpSync(join(root, 'dist', file), join(folder, file));
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    if (host !== undefined) writeFileSync(join(folder, 'worker-host.js'), host);
    const url = pathToFileURL(folder).href;
    return { url, init: (await import(`${url}/worker.js`)).init };
  }

  for (const [what, host, ...says] of [
    ['that is not there', undefined, 'could not be loaded', 'Cannot find module'],
    ['that is a page', '<!doctype html><title>App</title>', 'could not be loaded'],
    ['that throws', "throw new Error('not today');", 'could not be loaded', 'not today'],
    ['that ends', 'process.exit(3);', 'has ended with 3'],
  ]) {
    test(`a script ${what} is named, and what to do, every time`, async () => {
      const copy = await copyBeside(what.replaceAll(' ', '-'), host);
      for (let i = 0; i < 2; ++i) {
        const promise = copy.init({ workers: 2 });
        const told = [`${copy.url}/worker-host.js`, ...says, 'init({ worker })'];
        await expectRejects(promise, 'init', 'load_failed', ...told);
      }
    });
  }

  test('one that never answers is given up after the timeout', async () => {
    const worker = workerOf('setInterval(() => {}, 1000);');
    const promise = init({ worker, timeout: 100 });
    await expectRejects(promise, 'init', 'load_failed', 'within 100 ms', 'serve(self, init)');
    await worker.terminate();
  });

  test('one that never finishes to load is given up after the timeout', async (t) => {
    const { port1, port2 } = new MessageChannel();
    const loading = new Promise((begin) => serve(port1, () => new Promise(() => begin())));
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const heard = once(port2, 'message');
    const promise = init({ worker: port2, timeout: 4000 });
    await Promise.all([loading, heard]);
    t.mock.timers.tick(4000);
    await expectRejects(promise, 'init', 'load_failed', 'not loaded the engine within 4000 ms');
    port1.close();
  });

  test('where there are no workers at all, that is said', async () => {
    const { getBuiltinModule } = process;
    process.getBuiltinModule = undefined;
    try {
      const says = ['could not be started', 'this environment has no Worker'];
      await expectRejects(init({ workers: 3 }), 'init', 'load_failed', ...says);
    } finally {
      process.getBuiltinModule = getBuiltinModule;
    }
  });
});
