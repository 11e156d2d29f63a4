// @build any
// qkv/worker: which call a worker gets, and when. The workers are puppets that answer when the test says so.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { init } from 'qkv/worker';
import { randomArray } from '../../support/js/arrays.js';
import { puppetEngine, settled, soon } from '../../support/js/puppet.js';

const x = randomArray([1, 1, 2, 4], 1);
const reason = new Error('no longer wanted');
const listeners = (signal) => getEventListeners(signal, 'abort').length;
const someSignal = () => new AbortController().signal;

/** What a call has come to: its value, the reason it was rejected with, or undefined while it waits. */
function watched(promise) {
  const seen = {};
  promise.then(
    (value) => (seen.value = value),
    (error) => (seen.error = error),
  );
  return seen;
}

describe('worker: the calls of one worker', () => {
  test('are sent in the order in which they were made, with a signal or without', async () => {
    const { engine, ports } = await puppetEngine(init, 1);
    const [port] = ports;
    const calls = [
      engine.gelu(x),
      engine.softmax(x, { signal: someSignal() }),
      engine.rmsNorm(x),
      engine.layerNorm(x, { signal: someSignal() }),
    ];
    await settled();
    assert.deepEqual(port.methods, ['gelu']);
    port.answer();
    await settled();
    assert.deepEqual(port.methods, ['gelu', 'softmax', 'rmsNorm']);
    port.answer();
    await settled();
    assert.deepEqual(port.methods.slice(3), []);
    port.answer();
    await settled();
    assert.deepEqual(port.methods, ['gelu', 'softmax', 'rmsNorm', 'layerNorm']);
    port.answer();
    await Promise.all(calls);
    await engine.dispose();
  });

  test('are each settled by the answer that bears its number, whatever comes first', async () => {
    const { engine, ports } = await puppetEngine(init, 1);
    const [port] = ports;
    const [first, second] = [watched(engine.gelu(x)), watched(engine.rmsNorm(x))];
    await settled();
    port.asked.reverse();
    port.answer({ value: 'of rmsNorm' });
    await settled();
    assert.deepEqual([first, second], [{}, { value: 'of rmsNorm' }]);
    port.answer({ value: 'of gelu' });
    await settled();
    assert.deepEqual(first, { value: 'of gelu' });
    await engine.dispose();
  });
});

describe('worker: engines that share a port', () => {
  test('have conversations of their own: an answer reaches the one that asked', async () => {
    const { engine, ports } = await puppetEngine(init, 1);
    const [port] = ports;
    const loading = init({ worker: ports, deterministic: true, timeout: soon });
    await settled();
    port.ready();
    const other = await loading;
    const [here, there] = [watched(engine.gelu(x)), watched(other.gelu(x))];
    await settled();
    const [one, two] = port.asked;
    assert.notEqual(one['qkv/worker'], two['qkv/worker']);
    assert.equal(one.id, two.id, 'numbers are counted by each for itself');
    port.asked.reverse();
    port.answer({ value: 'there' });
    await settled();
    assert.deepEqual([here, there], [{}, { value: 'there' }]);
    port.answer({ value: 'here' });
    await settled();
    assert.deepEqual(here, { value: 'here' });
    await Promise.all([engine.dispose(), other.dispose()]);
  });
});

describe('worker: calls that any of several workers may run', () => {
  test('begin in the order in which they were made, each with the first idle worker', async () => {
    const { engine, ports } = await puppetEngine(init, 2);
    const [one, other] = ports;
    const names = ['gelu', 'rmsNorm', 'softmax', 'layerNorm', 'entropy'];
    const calls = names.map((name) => engine[name](x));
    await settled();
    assert.deepEqual([one.methods, other.methods], [['gelu'], ['rmsNorm']]);
    other.answer();
    await settled();
    one.answer();
    await settled();
    assert.deepEqual([one.methods[1], other.methods[1]], ['layerNorm', 'softmax']);
    one.answer();
    await settled();
    assert.equal(one.methods[2], 'entropy');
    one.answer();
    other.answer();
    await Promise.all(calls);
    await engine.dispose();
  });

  test('are given up one by one: the others keep their turn', async () => {
    const { engine, ports } = await puppetEngine(init, 2);
    const controller = new AbortController();
    const running = [engine.gelu(x), engine.gelu(x)];
    const before = engine.rmsNorm(x, { signal: someSignal() });
    const given = engine.softmax(x, { signal: controller.signal });
    const after = engine.entropy(x, { signal: someSignal() });
    await settled();
    controller.abort(reason);
    await assert.rejects(given, reason);
    for (const port of ports) port.answer();
    await settled();
    assert.deepEqual(
      ports.map(({ methods }) => methods[1]),
      ['rmsNorm', 'entropy'],
    );
    for (const port of ports) port.answer();
    await Promise.all([...running, before, after]);
    await engine.dispose();
  });

  test('leave the queue when they begin: given up then, they take no other call with them', async () => {
    const { engine, ports } = await puppetEngine(init, 2);
    const controller = new AbortController();
    const { signal } = controller;
    const running = [engine.gelu(x), engine.gelu(x)];
    const given = engine.softmax(x, { signal });
    const waiting = engine.entropy(x);
    await settled();
    ports[0].answer();
    await settled();
    assert.deepEqual(ports[0].methods, ['gelu', 'softmax']);
    assert.equal(listeners(signal), 1);
    controller.abort(reason);
    await assert.rejects(given, reason);
    assert.equal(listeners(signal), 0);
    ports[1].answer();
    await settled();
    assert.deepEqual(ports[1].methods, ['gelu', 'entropy']);
    ports[1].answer();
    ports[0].answer();
    await Promise.all([...running, waiting]);
    await engine.dispose();
  });
});
