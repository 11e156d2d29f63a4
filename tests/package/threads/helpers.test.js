// @build any
// The workers behind init({ threads }): what each is told, and what becomes of it. They are puppets that say they are
// ready when the test wants it and then do nothing, so that the calling thread does all the work.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, mock, test } from 'node:test';
import { init } from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { expectSame } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import { PATIENCE } from '../../support/js/patience.js';
import { settled } from '../../support/js/puppet.js';

const ready = 'qkv thread ready';
const wasm = wasmFile('simd-threads');
const x = randomArray([1, 4, 200, 32], 1);
const expected = (await init({ variant: 'simd' })).attention(x, x, x).output.data;

class PuppetWorker extends EventTarget {
  /** Those of the test that runs. */
  static all = [];
  told = [];
  ended = 0;
  released = 0;
  constructor(url, options) {
    super();
    Object.assign(this, { url: String(url), options });
    PuppetWorker.all.push(this);
  }
  postMessage(message) {
    this.told.push(message);
  }
  say(data) {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
  terminate() {
    this.ended += 1;
  }
  unref() {
    this.released += 1;
  }
}
globalThis.Worker = PuppetWorker;
after(() => delete globalThis.Worker);
beforeEach(() => (PuppetWorker.all = []));

/** The workers that an init() has started, and the engine that it resolves to. */
async function start(threads) {
  // Bytes of its own, so that every test has an engine of its own.
  const loading = init({ wasm: new Uint8Array(wasm), threads });
  const deadline = performance.now() + PATIENCE.wait / 6;
  while (PuppetWorker.all.length < threads - 1 && performance.now() < deadline) await settled();
  await settled();
  return { loading, workers: [...PuppetWorker.all] };
}

/** The engine, once all of its workers have said that they are ready. */
function started(loading, workers) {
  for (const worker of workers) worker.say(ready);
  return loading;
}

/** A field of each. */
const each = (name, list) => list.map((one) => one[name]);

describe('threads: each worker', () => {
  test('is told the module, the memory of the engine, and a stack of its own', async () => {
    const { loading, workers } = await start(4);
    const engine = await started(loading, workers);
    const { buffer } = engine.tensor([1]).view();
    const ranges = workers.map(({ told: [message, ...more] }) => {
      assert.deepEqual(more, []);
      const { module, memory, entry, stack, stackBytes } = message;
      assert.ok(module instanceof WebAssembly.Module);
      assert.equal(memory.buffer.byteLength, buffer.byteLength);
      // Of one memory there may be several views of the buffer; what is written to one is in the other.
      const [here, there] = [new Uint8Array(buffer), new Uint8Array(memory.buffer)];
      const at = stack >>> 0;
      here[at] ^= 255;
      assert.equal(there[at], here[at]);
      assert.ok(Number.isInteger(entry) && entry > 0);
      assert.ok(stackBytes >= 16384, `${stackBytes} bytes`);
      assert.equal(at % 16, 0);
      assert.ok(at > 0 && at + stackBytes <= buffer.byteLength);
      return [at, at + stackBytes];
    });
    ranges.sort(([a], [b]) => a - b);
    for (let i = 1; i < ranges.length; ++i) {
      assert.ok(ranges[i - 1][1] <= ranges[i][0], `stacks ${ranges} overlap`);
    }
    engine.dispose();
  });

  test('has a stack where nothing else will ever be', async () => {
    const { loading, workers } = await start(5);
    const engine = await started(loading, workers);
    const stacks = workers.map(({ told: [{ stack, stackBytes }] }) => [
      stack >>> 0,
      (stack >>> 0) + stackBytes,
    ]);
    // Larger than all stacks together, in blocks that fill what is free: what was too small for them is given away.
    for (let i = 0; i < 64; ++i) {
      const { byteOffset, byteLength } = engine.tensor([4096]).view();
      for (const [from, to] of stacks) {
        const apart = byteOffset + byteLength <= from || byteOffset >= to;
        assert.ok(apart, `a tensor at ${byteOffset} is in the stack from ${from} to ${to}`);
      }
    }
    engine.dispose();
  });

  test('counts once it is ready, and not for any other word', async () => {
    const { loading, workers } = await start(3);
    let loaded = false;
    loading.then(() => (loaded = true));
    for (const word of ['ready', null, { ready: true }]) workers[0].say(word);
    workers[1].say(ready);
    await settled();
    assert.equal(loaded, false);
    workers[0].dispatchEvent(new Event('error'));
    const engine = await loading;
    assert.equal(engine.info.threads, 2);
    assert.deepEqual(each('ended', workers), [1, 0]);
    engine.dispose();
  });

  test('keeps no process alive once it is ready', async () => {
    const { loading, workers } = await start(3);
    assert.deepEqual(each('released', workers), [0, 0]);
    const engine = await started(loading, workers);
    assert.deepEqual(each('released', workers), [1, 1]);
    engine.dispose();
  });

  test('that came in time is not given up later', async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    t.after(() => mock.timers.reset());
    const { loading, workers } = await start(3);
    const engine = await started(loading, workers);
    mock.timers.tick(60_000);
    assert.deepEqual(each('ended', workers), [0, 0]);
    engine.dispose();
  });

  test('whose error is heard is ended, and its error is told nowhere else', async () => {
    const { loading, workers } = await start(2);
    const event = new Event('error', { cancelable: true });
    workers[0].dispatchEvent(event);
    assert.equal(event.defaultPrevented, true);
    const engine = await loading;
    assert.equal(engine.info.threads, 1);
    assert.equal(workers[0].ended, 1);
    engine.dispose();
    assert.equal(workers[0].ended, 1);
  });

  for (const type of ['error', 'messageerror']) {
    test(`that fails later (${type}) is ended and counted no more, and the engine goes on`, async () => {
      const { loading, workers } = await start(3);
      const engine = await started(loading, workers);
      const { info } = engine;
      assert.equal(info.threads, 3);
      const event = new Event(type, { cancelable: true });
      workers[0].dispatchEvent(event);
      assert.equal(event.defaultPrevented, true);
      assert.equal(info.threads, 2);
      expectSame(engine.attention(x, x, x).output.data, expected);
      workers[1].dispatchEvent(new Event(type));
      workers[1].dispatchEvent(new Event(type));
      assert.equal(info.threads, 1);
      expectSame(engine.attention(x, x, x).output.data, expected);
      engine.dispose();
      assert.deepEqual(
        workers.map(({ ended }) => ended > 0),
        [true, true],
      );
      assert.equal(info.threads, 1);
    });
  }
});

test('threads: workers that say they are ready and never come leave the work to the caller', async () => {
  const { loading, workers } = await start(3);
  const engine = await started(loading, workers);
  for (let i = 0; i < 3; ++i) expectSame(engine.attention(x, x, x).output.data, expected);
  engine.dispose();
});

test('threads: one asks for no worker, and no shared memory where the file does without', async () => {
  const engine = await init({ wasm: new Uint8Array(wasmFile('simd')), threads: 3 });
  assert.equal(engine.info.threads, 1);
  assert.deepEqual(PuppetWorker.all, []);
  assert.ok(engine.tensor([1]).view().buffer instanceof ArrayBuffer);
  engine.dispose();
});
