// @build any
// qkv/worker: calls that are given up, before they are sent, while they wait and while they run, and calls whose worker goes.
// The worker is often a puppet that answers when the test says so, so that a call waits or runs for certain.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv/worker';
import { randomArray, zeros } from '../../support/js/arrays.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { puppetEngine, settled, soon } from '../../support/js/puppet.js';
import { initBehindGate, overPort, workerOf } from '../../support/js/workers.js';

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

/** An engine of one puppet whose first call runs and never ends by itself, and what gives up others. */
async function busyEngine() {
  const { engine, ports } = await puppetEngine(init, 1);
  const running = engine.attention(x, x, x);
  await settled();
  const controller = new AbortController();
  return { engine, port: ports[0], running, controller, signal: controller.signal };
}

describe('worker: a call that is given up', () => {
  test('while it waits is never sent, and those behind it are', async () => {
    const { engine, port, running, controller, signal } = await busyEngine();
    const given = [engine.gelu(x, { signal }), engine.softmax(x, { signal })];
    const kept = engine.rmsNorm(x);
    await settled();
    assert.equal(listeners(signal), 2);
    controller.abort(reason);
    for (const call of given) await assert.rejects(call, reason);
    assert.equal(listeners(signal), 0);
    port.answer();
    await settled();
    assert.deepEqual(port.methods, ['attention', 'rmsNorm']);
    port.answer();
    await Promise.all([running, kept]);
    await engine.dispose();
  });

  test('while it runs is rejected at once, and its answer changes nothing', async () => {
    const { engine, port, running, controller, signal } = await busyEngine();
    port.answer();
    await running;
    const given = engine.gelu(x, { signal });
    await settled();
    assert.deepEqual(port.methods, ['attention', 'gelu']);
    controller.abort(reason);
    await assert.rejects(given, reason);
    assert.equal(listeners(signal), 0);
    port.answer({ value: 'too late' });
    const next = engine.rmsNorm(x);
    await settled();
    port.answer({ value: 'next' });
    assert.equal(await next, 'next');
    await engine.dispose();
  });

  test('while it makes a handle has that disposed in the worker', async () => {
    const { engine, port, running, controller, signal } = await busyEngine();
    port.answer();
    await running;
    const given = engine.tensor([2], undefined, { signal });
    await settled();
    controller.abort(reason);
    await assert.rejects(given, reason);
    port.answer({ handle: { id: 7, shape: [2] } });
    await settled();
    const { method, target } = port.sent.at(-1);
    assert.deepEqual([method, target], ['dispose', 7]);
    await engine.dispose();
  });

  test('while it fills a cache leaves the cache with the length that it has now', async () => {
    const { engine, port, running, controller, signal } = await busyEngine();
    port.answer();
    await running;
    const making = engine.kvCache({ numKvHeads: 1, capacity: 9, dK: 4 });
    await settled();
    port.answer({ handle: { id: 0, capacity: 9 } });
    const cache = await making;
    const given = cache.append(x, x, { signal });
    await settled();
    controller.abort(reason);
    await assert.rejects(given, reason);
    port.answer({ lengths: [2] });
    assert.equal(cache.length, 2);
    await engine.dispose();
  });
});

describe('worker: when it goes', () => {
  const ends = {
    'is disposed': ({ engine }) => engine.dispose(),
    'closes its port': ({ port }) => port.dispatchEvent(new Event('close')),
    'could not read a message': ({ port }) => port.say({ 'qkv/worker': '*', unreadable: true }),
    'has sent a message that cannot be read': ({ port }) =>
      port.dispatchEvent(new Event('messageerror')),
  };
  for (const [what, end] of Object.entries(ends)) {
    test(`because it ${what}: what runs, what waits and what comes is rejected, once`, async () => {
      const given = await busyEngine();
      const { engine, port, running, signal } = given;
      const waiting = engine.gelu(x, { signal });
      await settled();
      end(given);
      const code = what === 'is disposed' ? 'disposed' : 'load_failed';
      await expectRejects(running, 'attention', code);
      await expectRejects(waiting, 'gelu', code);
      assert.equal(listeners(signal), 0);
      await expectRejects(engine.rmsNorm(x), 'rmsNorm', code);
      assert.deepEqual(port.methods, ['attention']);
      assert.equal(
        port.sent.filter((message) => message.end).length,
        what === 'is disposed' ? 1 : 0,
      );
      await engine.dispose();
    });
  }

  test('init() with the same options makes another engine', async () => {
    const { engine, port, running } = await busyEngine();
    running.catch(() => undefined);
    port.dispatchEvent(new Event('close'));
    // A list of one port: the very options that puppetEngine() has used.
    const loading = init({ worker: [port], timeout: soon });
    await settled();
    port.asked.splice(0, port.asked.length - 1);
    port.ready();
    assert.notEqual(await loading, engine);
    await (await loading).dispose();
  });
});
