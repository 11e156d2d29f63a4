// @build any
// qkv/worker: AbortSignals, before a call, while it waits and while it runs.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv/worker';
import { randomArray, zeros } from '../../support/js/arrays.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { inTime } from '../../support/js/patience.js';
import {
  initBehindGate,
  longProblem,
  overPort,
  workerOf,
  workersOf,
} from '../../support/js/workers.js';

const x = randomArray([1, 1, 2, 4], 1);
const reason = new Error('no longer wanted');
const listeners = (signal) => getEventListeners(signal, 'abort').length;

describe('worker: a call', () => {
  let engine;
  before(async () => {
    engine = await init();
  });
  after(() => engine.dispose());

  test('with a signal that is aborted already is not even sent', async () => {
    const { engine: watched, sent, close } = await overPort();
    const input = zeros([4, 4]);
    const signal = AbortSignal.abort(reason);
    await assert.rejects(watched.gelu(input, { signal, transfer: true }), reason);
    await assert.rejects(watched.memory({ signal }), reason);
    assert.deepEqual(sent, []);
    assert.equal(input.data.length, 16);
    await watched.gelu(input, { signal: new AbortController().signal });
    assert.equal(sent.length, 1);
    await close();
  });

  test('that is aborted while it waits never runs', async () => {
    const { q, k, v } = longProblem();
    const cache = await engine.kvCache({ numKvHeads: 1, capacity: 9, dK: 4 });
    const controller = new AbortController();
    const { signal } = controller;
    const first = engine.attention(q, k, v);
    const second = cache.append(x, x, { signal });
    const third = cache.append(x, x);
    controller.abort(reason);
    await assert.rejects(second, reason);
    await Promise.all([first, third]);
    assert.equal(cache.length, 2);
    assert.equal((await cache.keys()).shape[2], 2);
    assert.equal(listeners(signal), 0);
    await cache.dispose();
  });

  test('that is aborted while it runs is rejected at once, and its result is dropped', async () => {
    const { engine: held, gate } = await initBehindGate();
    const cache = await held.kvCache({ numKvHeads: 1, capacity: 2, dK: 4 });
    const controller = new AbortController();
    const { signal } = controller;
    const order = [];
    const call = held.attention(x, x, x, { cache, causal: true, signal });
    const next = held.gelu(x).then(() => order.push('next'));
    await gate.begun(1);
    controller.abort(reason);
    // The worker still holds the call: nothing that it says can have settled it.
    await assert.rejects(inTime(call, 'the call'), reason);
    assert.deepEqual(order, []);
    gate.open();
    await next;
    // What it does to a cache happens, and is known of.
    assert.equal(cache.length, 2);
    assert.equal(listeners(signal), 0);
    await held.dispose();
  });

  test('that would make a handle and is aborted leaves none behind', async () => {
    const { handles } = await engine.memory();
    const controller = new AbortController();
    const made = engine.tensor([1000], undefined, { signal: controller.signal });
    controller.abort(reason);
    await assert.rejects(made, reason);
    await engine.gelu(x);
    assert.equal((await engine.memory()).handles, handles);
  });

  test('that waits for any of several workers and is aborted never runs', async () => {
    const { q, k, v } = longProblem();
    const { made, value: pool } = await workersOf(() => init({ workers: 2 }));
    const sent = [];
    for (const worker of made) {
      const { postMessage } = worker;
      worker.postMessage = (message, transfer) => {
        sent.push(message.method);
        postMessage.call(worker, message, transfer);
      };
    }
    const controller = new AbortController();
    const { signal } = controller;
    const running = [pool.attention(q, k, v), pool.attention(q, k, v)];
    const [given, kept] = [pool.gelu(x, { signal }), pool.rmsNorm(x, { signal: undefined })];
    const late = pool.entropy(x, { signal: new AbortController().signal });
    assert.equal(listeners(signal), 1);
    controller.abort(reason);
    await assert.rejects(given, reason);
    await Promise.all([...running, kept, late]);
    assert.equal(listeners(signal), 0);
    assert.deepEqual(sent.sort(), ['attention', 'attention', 'entropy', 'rmsNorm']);
    await pool.dispose();
  });

  test('with a signal gives its result, and its listener goes', async () => {
    const { signal } = new AbortController();
    const expected = await engine.gelu(x);
    expectSame((await engine.gelu(x, { signal })).data, expected.data);
    await assert.rejects(engine.alibiSlopes(-1, { signal }));
    assert.equal(listeners(signal), 0);
    const calls = Array.from({ length: 50 }, () => engine.gelu(x, { signal }));
    assert.equal(listeners(signal), 50);
    await Promise.all(calls);
    assert.equal(listeners(signal), 0);
  });

  test('the reason may be anything, and a timeout is one', async () => {
    const { engine: held } = await initBehindGate();
    await assert.rejects(
      held.attention(x, x, x, { signal: AbortSignal.timeout(1) }),
      ({ name }) => name === 'TimeoutError',
    );
    await held.dispose();
    const odd = await engine.gelu(x, { signal: AbortSignal.abort('why not') }).catch((e) => e);
    assert.equal(odd, 'why not');
    expectSame((await engine.gelu(x)).data, (await engine.gelu(x)).data);
  });

  for (const signal of [1, {}, 'abort', new AbortController(), null]) {
    test(`refuses ${JSON.stringify(signal)} as a signal`, async () => {
      const says = ['signal is', 'expected an AbortSignal'];
      await expectRejects(engine.gelu(x, { signal }), 'gelu', 'invalid_argument', ...says);
      await expectRejects(init({ signal }), 'init', 'invalid_argument', ...says);
    });
  }
});

describe('worker: init()', () => {
  test('with a signal that is aborted already starts nothing', async () => {
    const signal = AbortSignal.abort(reason);
    await assert.rejects(init({ signal, workers: 7 }), reason);
    assert.equal(listeners(signal), 0);
  });

  test('can be given up while the worker does not answer', async () => {
    const worker = workerOf('setInterval(() => {}, 1000);');
    const controller = new AbortController();
    const promise = init({ worker, signal: controller.signal });
    controller.abort(reason);
    await assert.rejects(promise, reason);
    assert.equal(listeners(controller.signal), 0);
    await worker.terminate();
  });

  test('goes on for those who still wait', async () => {
    const controller = new AbortController();
    const given = init({ workers: 2, signal: controller.signal });
    const kept = init({ workers: 2 });
    controller.abort(reason);
    await assert.rejects(given, reason);
    const engine = await kept;
    assert.equal((await engine.gelu(x)).data.length, 8);
    await engine.dispose();
  });

  test('that was given up can be called again', async () => {
    const controller = new AbortController();
    const given = init({ workers: 2, signal: controller.signal });
    controller.abort(reason);
    await assert.rejects(given, reason);
    const engine = await init({ workers: 2 });
    assert.equal(engine.info.workers, 2);
    await engine.dispose();
  });

  test('the signal of init() is not that of the calls', async () => {
    const controller = new AbortController();
    const engine = await init({ signal: controller.signal });
    assert.equal(listeners(controller.signal), 0);
    controller.abort(reason);
    assert.equal((await engine.gelu(x)).data.length, 8);
    await engine.dispose();
  });
});
