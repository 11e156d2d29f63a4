// @build any
// qkv/worker: what init() does beside loading: its time limit, its key, and what is left of a load that failed.
import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { init } from 'qkv/worker';
import { randomArray } from '../../support/js/arrays.js';
import { expectRejects } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import { PuppetPort, puppetEngine, settled, soon } from '../../support/js/puppet.js';

const x = randomArray([1, 1, 2, 4], 1);

/** What a worker says of an engine that it could not load. */
const refusal = { error: { code: 'load_failed', message: 'init: no file, expected one' } };

describe('worker: the time limit of init()', () => {
  for (const timeout of [2 ** 31, Infinity]) {
    test(`may be ${timeout}, which no timer can hold`, async () => {
      const port = new PuppetPort();
      const loading = init({ worker: port, timeout });
      // Timers ring in the order of their times: one that overflowed, to 1 ms, would have rung by then.
      await new Promise((resolve) => setTimeout(resolve, 5));
      port.ready();
      const engine = await loading;
      assert.equal(engine.info.workers, 1);
      await engine.dispose();
    });
  }

  test('ends with the loading: long after it the engine still answers', async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    t.after(() => mock.timers.reset());
    const { engine, ports } = await puppetEngine(init, 2, { timeout: 1000 });
    mock.timers.tick(5000);
    const call = engine.gelu(x);
    await settled();
    ports[0].answer({ value: 'answered' });
    assert.equal(await call, 'answered');
    await engine.dispose();
  });
});

describe('worker: init() that fails', () => {
  test('is forgotten, and may be called again with the same options', async () => {
    const port = new PuppetPort();
    const first = init({ worker: port, timeout: soon });
    await settled();
    port.answer(refusal);
    await expectRejects(first, 'init', 'load_failed', 'no file');
    const second = init({ worker: port, timeout: soon });
    await settled();
    port.ready();
    const engine = await second;
    assert.equal(engine.info.workers, 1);
    await engine.dispose();
  });

  test('in one of several workers lets go of the others', async () => {
    const ports = [new PuppetPort(), new PuppetPort(), new PuppetPort()];
    const loading = init({ worker: ports, timeout: soon });
    await settled();
    ports[0].ready();
    ports[1].answer(refusal);
    await expectRejects(loading, 'init', 'load_failed', 'no file');
    assert.deepEqual(
      ports.map(({ sent }) => sent.filter((message) => message.end).length),
      [1, 1, 1],
    );
  });
});

describe('worker: init()', () => {
  test('is said again to a worker that begins to listen, and to no other', async () => {
    const port = new PuppetPort();
    const loading = init({ worker: port, timeout: soon });
    await settled();
    const hello = { 'qkv/worker': '*', hello: true };
    port.say(hello);
    assert.deepEqual(port.sent[1], port.sent[0]);
    port.asked.pop();
    port.ready();
    const engine = await loading;
    const call = engine.gelu(x);
    await settled();
    port.say(hello);
    assert.equal(port.sent.length, 3, 'a call is not repeated');
    port.answer({ value: 1 });
    assert.equal(await call, 1);
    await engine.dispose();
  });

  test('starts a port, which holds back what it gets until then, and stops listening at the end', async () => {
    const port = new PuppetPort();
    let started = 0;
    port.start = () => (started += 1);
    const listening = new Set();
    for (const [name, change] of [
      ['addEventListener', 'add'],
      ['removeEventListener', 'delete'],
    ]) {
      port[name] = (type, listener) => {
        listening[change](listener);
        EventTarget.prototype[name].call(port, type, listener);
      };
    }
    const loading = init({ worker: port, timeout: soon });
    await settled();
    assert.equal(started, 1);
    port.ready();
    const engine = await loading;
    assert.ok(listening.size > 0);
    await engine.dispose();
    assert.equal(listening.size, 0);
  });

  test('refuses a worker of another version', async () => {
    const port = new PuppetPort();
    const loading = init({ worker: port, timeout: soon });
    await settled();
    port.answer({ ready: { info: { version: '0.0.0' }, lock: false } });
    const says = ['version 0.0.0', 'old copy or cache'];
    await expectRejects(loading, 'init', 'load_failed', ...says);
  });

  test('given up by one goes on for the other, and by both ends', async () => {
    const port = new PuppetPort();
    const [first, second] = [new AbortController(), new AbortController()];
    const loads = [first, second].map(({ signal }) =>
      init({ worker: port, signal, timeout: soon }),
    );
    await settled();
    const ended = () => port.sent.filter((message) => message.end).length;
    first.abort(new Error('not I'));
    await assert.rejects(loads[0], /not I/);
    assert.equal(ended(), 0);
    second.abort(new Error('nor I'));
    await assert.rejects(loads[1], /nor I/);
    assert.equal(ended(), 1);
  });
});

test('worker: options in another order are the same options', async () => {
  const wasm = new Uint8Array(wasmFile('simd'));
  const [one, other] = await Promise.all([init({ threads: 1, wasm }), init({ wasm, threads: 1 })]);
  const tensor = await one.tensor([2], [1, 2]);
  assert.equal((await other.softmax(tensor)).data.length, 2, 'one worker has both');
  await Promise.all([one.dispose(), other.dispose()]);
});
