// @build any
// qkv/worker: engines in workers of the user's own, behind ports, and in workers of workers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import * as main from 'qkv';
import { init, serve } from 'qkv/worker';
import { randomArray } from '../../support/js/arrays.js';
import {
  expectRejects,
  expectSame,
  expectSameResult,
  expectThrows,
} from '../../support/js/check.js';
import { everything } from '../../support/js/everything.js';
import { newGate } from '../../support/js/gate.js';
import { resultOf } from '../../support/js/node.js';
import {
  distUrl,
  gatedWorker,
  overPort,
  servingWorker,
  workerOf,
} from '../../support/js/workers.js';

const x = randomArray([1, 1, 2, 4], 1);
const here = await main.init();

describe("worker: a worker of the user's own", () => {
  test('serves every method', async () => {
    const worker = servingWorker();
    const engine = await init({ worker });
    expectSameResult(await everything(engine), await everything(here));
    assert.equal(engine.info.workers, 1);
    await engine.dispose();
    await worker.terminate();
  });

  test('keeps its own messages, in both directions, and lives on after dispose()', async () => {
    const worker = workerOf(`
      import { parentPort } from 'node:worker_threads';
      import { init } from 'index.js';
      import { serve } from 'worker.js';
      serve(parentPort, init);
      serve(parentPort, init);
      let calls = 0;
      parentPort.on('message', (message) => {
        if (message?.ask === 'used') init().then((e) => parentPort.postMessage(e.memory().usedBytes));
        else if (message === 'sum') parentPort.postMessage({ sum: calls });
        else if (!message?.['qkv/worker']) calls += 1;
      });`);
    const heard = [];
    worker.on('message', (message) => {
      if (!message?.['qkv/worker']) heard.push(message);
    });
    worker.postMessage(1);
    worker.postMessage(null);
    worker.postMessage({ id: 0, method: 'gelu', args: [x] });
    const engine = await init({ worker });
    const tensor = await engine.tensor([4096]);
    assert.equal((await engine.gelu(x)).data.length, 8);
    worker.postMessage('sum');
    worker.postMessage({ ask: 'used' });
    await Promise.all([once(worker, 'message'), engine.gelu(x)]);
    await engine.dispose();
    await expectRejects(tensor.toNdArray(), 'Tensor.toNdArray', 'disposed');
    worker.postMessage({ ask: 'used' });
    while (heard.length < 3) await once(worker, 'message');
    const [sum, before, after] = heard;
    assert.deepEqual(sum, { sum: 3 });
    assert.ok(
      after <= before - 4 * 4096,
      `${before} bytes in use before dispose(), ${after} after it`,
    );
    const again = await init({ worker });
    assert.equal((await again.gelu(x)).data.length, 8);
    await again.dispose();
    await worker.terminate();
  });

  test('may begin to serve late', async () => {
    const worker = workerOf(`
      import { parentPort } from 'node:worker_threads';
      import { init } from 'index.js';
      import { serve } from 'worker.js';
      // Nobody answers what comes first.
      parentPort.once('message', () => setImmediate(serve, parentPort, init));`);
    const engine = await init({ worker });
    assert.equal((await engine.gelu(x)).data.length, 8);
    await engine.dispose();
    await worker.terminate();
  });

  test('loads its engine as it likes', async () => {
    const worker = workerOf(`
      import { parentPort } from 'node:worker_threads';
      import { readFileSync } from 'node:fs';
      import { init } from 'index.js';
      import { serve } from 'worker.js';
      const wasm = readFileSync(new URL('${distUrl('qkv-simd.wasm')}'));
      serve(parentPort, (options) => init({ ...options, wasm }));`);
    const engine = await init({ worker, deterministic: true });
    assert.equal(engine.info.variant, 'simd');
    await engine.dispose();
    await worker.terminate();
  });

  test('that is ended rejects what is under way', async () => {
    const gate = newGate();
    const worker = gatedWorker(gate);
    const engine = await init({ worker });
    const call = engine.attention(x, x, x);
    await gate.begun(1);
    await worker.terminate();
    await expectRejects(call, 'attention', 'load_failed', 'has ended');
    await expectRejects(engine.gelu(x), 'gelu', 'load_failed', 'has ended');
  });

  test('that fails keeps its error for its owner', async () => {
    const worker = workerOf("throw new Error('of my own');");
    const error = once(worker, 'error');
    await expectRejects(init({ worker }), 'init', 'load_failed', 'has ended');
    // once(worker, 'error') resolves to it: nobody else has taken it.
    assert.equal((await error)[0].message, 'of my own');
  });
});

describe('worker: a port', () => {
  test('is as good as a worker, and engines with other options share it', async () => {
    const { engine, close, port2 } = await overPort();
    const other = await init({ worker: port2, deterministic: true });
    const [one, two] = await Promise.all([engine.tensor([1], [1]), other.tensor([1], [2])]);
    assert.equal((await one.toNdArray()).data[0], 1);
    assert.equal((await two.toNdArray()).data[0], 2);
    await other.dispose();
    assert.equal((await one.toNdArray()).data[0], 1);
    await close();
  });

  test('that closes rejects what comes', async () => {
    const { engine, close, port1, port2 } = await overPort();
    const closed = once(port2, 'close');
    port1.close();
    const call = engine.gelu(x);
    await expectRejects(call, 'gelu', 'load_failed', 'closed its port');
    await closed;
    await expectRejects(engine.gelu(x), 'gelu', 'load_failed', 'closed its port');
    await close();
  });

  test('over which a message could not be read rejects what is under way', async () => {
    const { engine, close, port1 } = await overPort();
    const { signal } = new AbortController();
    const calls = [engine.gelu(x, { signal }), engine.gelu(x, { signal })];
    port1.dispatchEvent(new Event('messageerror'));
    await assert.rejects(calls[1], { name: 'QkvError', code: 'load_failed' });
    await expectRejects(engine.gelu(x), 'gelu', 'load_failed', 'could not read a message');
    await Promise.allSettled(calls);
    await close();
  });

  test('given twice is refused', async () => {
    const { port1, port2 } = new MessageChannel();
    const promise = init({ worker: [port1, port1] });
    await expectRejects(promise, 'init', 'invalid_argument', 'one port twice');
    port1.close();
    port2.close();
  });
});

test('worker: a worker may start workers', async () => {
  const worker = workerOf(`
    import { parentPort } from 'node:worker_threads';
    import { init } from 'worker.js';
    const engine = await init({ workers: 2 });
    const x = ${JSON.stringify({ data: [...x.data], shape: x.shape })};
    const { data } = await engine.gelu({ data: Float32Array.from(x.data), shape: x.shape });
    parentPort.postMessage([engine.info.workers, data]);
    await engine.dispose();`);
  // Asked for together: a thread that is busy hears of the message and of the end in one turn.
  const [[[workers, data]], [code]] = await Promise.all([
    once(worker, 'message'),
    once(worker, 'exit'),
  ]);
  assert.equal(workers, 2);
  expectSame(data, here.gelu(x).data);
  assert.equal(code, 0);
});

/** What Node has for a page: a global object with the methods of a window, which say what they were called with. */
const page = `
  const heard = [];
  class Window {}
  Object.setPrototypeOf(globalThis, Window.prototype);
  Object.defineProperty(globalThis, Symbol.toStringTag, { value: 'Window' });
  Object.assign(globalThis, {
    ...{ Window, window: globalThis, document: {} },
    addEventListener: (type) => heard.push(type),
    postMessage: () => heard.push('postMessage'),
  });
`;
const report = 'process.stdout.write(JSON.stringify(heard));';

for (const script of ['worker-host', 'thread']) {
  test(`worker: qkv/${script} on a page listens to nobody`, async () => {
    assert.deepEqual(await resultOf([], `${page} await import('qkv/${script}'); ${report}`), []);
  });
}

test('worker: serve() and init() refuse a window, to which any page may speak', async () => {
  const heard = await resultOf(
    [],
    `${page}
    const { init, serve } = await import('qkv/worker');
    const messages = [];
    try { serve(window, init); } catch ({ code, message }) { messages.push([code, message]); }
    await init({ worker: window }).catch(({ code, message }) => messages.push([code, message]));
    process.stdout.write(JSON.stringify({ heard, messages }));`,
  );
  assert.deepEqual(heard, {
    heard: [],
    messages: [
      ['invalid_argument', 'serve: port is Window, expected self of a worker or a MessagePort'],
      [
        'invalid_argument',
        'init: worker is Window, expected a Worker, a MessagePort or an array of them',
      ],
    ],
  });
});

test('worker: serve() refuses what is no port and what loads no engine', () => {
  const { port1, port2 } = new MessageChannel();
  for (const port of [undefined, null, 1, {}, { postMessage() {} }]) {
    expectThrows(() => serve(port, main.init), 'serve', 'invalid_argument', 'port is');
  }
  for (const load of [undefined, null, here, {}]) {
    expectThrows(() => serve(port1, load), 'serve', 'invalid_argument', 'load is');
  }
  port1.close();
  port2.close();
});
