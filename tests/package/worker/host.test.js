// @build any
// qkv/worker: the worker's side of the conversation, with the messages of the other side written out.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { serve } from 'qkv/worker';
import { collect } from '../../support/js/collect.js';
import { packageJson } from '../../support/js/files.js';
import { PuppetPort, settled } from '../../support/js/puppet.js';

const key = 'qkv/worker';
const info = { version: packageJson.version };

/** A host of engines that only count their tensors; each has loaded when `gate` has. */
function hosted(gate) {
  const port = new PuppetPort();
  const made = [];
  const engines = [];
  const engineOf = () => ({
    info,
    disposed: 0,
    dispose() {
      this.disposed += 1;
    },
    memory() {
      return { handles: this.disposed };
    },
    tensor: (shape) => {
      const tensor = { shape, disposed: 0, dispose: () => (tensor.disposed += 1) };
      made.push(tensor);
      return tensor;
    },
    gelu: ({ shape }) => shape,
    softmax: (value) => value,
    entropy: () => () => 'what no message can hold',
  });
  const load = async () => {
    await gate;
    engines.push(engineOf());
    return engines.at(-1);
  };
  serve(port, load);
  serve(port, load); // a second time does nothing
  const ask = async (message) => {
    port.say({ [key]: 'one', ...message });
    await settled();
    return port.sent.at(-1);
  };
  return { port, made, engines, ask };
}

const init = { init: {}, watched: false };

describe('worker: serve()', () => {
  test('answers an init() that is sent again with what was made before still there', async () => {
    const { made, ask } = hosted();
    assert.deepEqual((await ask({ id: 0, ...init })).ready.info, info);
    const { handle } = await ask({ id: 1, method: 'tensor', args: [[7]] });
    await ask({ id: 0, ...init });
    const args = [{ 'qkv/handle': handle.id }];
    const { value, error } = await ask({ id: 2, method: 'gelu', args });
    assert.equal(error, undefined);
    assert.deepEqual(value, [7]);
    await ask({ id: 3, method: 'dispose', target: handle.id, args: [] });
    assert.equal(made[0].disposed, 1);
  });

  test('disposes what is left when the other side ends, once', async () => {
    const { made, ask } = hosted();
    await ask({ id: 0, ...init });
    const { handle } = await ask({ id: 1, method: 'tensor', args: [[1]] });
    await ask({ id: 2, method: 'tensor', args: [[2]] });
    await ask({ id: 3, method: 'dispose', target: handle.id, args: [] });
    await ask({ end: true });
    assert.deepEqual(
      made.map(({ disposed }) => disposed),
      [1, 1],
    );
  });

  test('disposes an engine that nobody shares when the other side ends, and no other', async () => {
    const { engines, ask } = hosted();
    for (const shared of [false, true, undefined]) {
      await ask({ id: 0, init: { shared }, watched: false });
      await ask({ end: true });
    }
    assert.deepEqual(
      engines.map(({ disposed }) => disposed),
      [1, 0, 0],
    );
    const one = { info, disposed: 0, dispose: () => (one.disposed += 1) };
    const port = new PuppetPort();
    serve(port, async () => one);
    for (const name of ['two', 'three']) {
      port.say({ [key]: name, id: 0, init: { shared: false }, watched: false });
    }
    await settled();
    for (const name of ['two', 'three']) port.say({ [key]: name, end: true });
    assert.equal(one.disposed, 0, 'somebody else has it too');
  });

  for (const late of ['the engine', 'the lock']) {
    test(`keeps nothing when the other side ends before there is ${late}`, async (t) => {
      const held = [];
      let grant;
      const granted = new Promise((resolve) => (grant = resolve));
      const locks = {
        request: async (name, work) => {
          held.push(name);
          if (late === 'the lock') await granted;
          await work();
          held.splice(held.indexOf(name), 1);
        },
      };
      const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
      Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });
      t.after(() => {
        if (before) Object.defineProperty(globalThis, 'navigator', before);
        else delete globalThis.navigator;
      });
      const { engines, ask } = hosted(late === 'the engine' ? granted : undefined);
      await ask({ id: 0, init: { shared: false }, watched: true });
      await ask({ end: true });
      grant();
      await settled();
      assert.deepEqual(held, []);
      assert.deepEqual(
        engines.map(({ disposed }) => disposed),
        [1],
      );
    });
  }

  test('lets go of a handle that is disposed', async () => {
    const { made, ask } = hosted();
    await ask({ id: 0, ...init });
    const { handle } = await ask({ id: 1, method: 'tensor', args: [[1]] });
    await ask({ id: 2, method: 'dispose', target: handle.id, args: [] });
    const gone = new WeakRef(made.pop());
    for (let i = 0; i < 10 && gone.deref(); ++i) {
      await settled();
      collect();
    }
    assert.equal(gone.deref(), undefined);
    const { error } = await ask({ id: 3, method: 'dispose', target: handle.id, args: [] });
    assert.match(error.message, /handle is of another engine/);
  });

  test('makes what it is asked for once, however often it was called for a port', async () => {
    const { port, made, ask } = hosted();
    await ask({ id: 0, ...init });
    await ask({ id: 1, method: 'tensor', args: [[1]] });
    assert.equal(made.length, 1);
    assert.deepEqual(
      port.sent.map(({ id }) => id),
      [undefined, 0, 1],
    );
  });

  test('runs the methods of the package and no others', async () => {
    const { made, ask } = hosted();
    await ask({ id: 0, ...init });
    const { handle } = await ask({ id: 1, method: 'tensor', args: [[1]] });
    const others = ['constructor', 'toString', '__defineGetter__', 'hasOwnProperty', 'raw', ''];
    let id = 1;
    const refused = async (method, target) => {
      const { error, value } = await ask({ id: ++id, method, target, args: ['x', () => 1] });
      assert.equal(value, undefined);
      assert.equal(
        error?.code,
        'invalid_argument',
        `${String(method)} of ${target ?? 'the engine'}`,
      );
      assert.match(error.message, /no method of an? (engine|tensor)/);
    };
    // An engine is let go by { end: true }: others of the worker may have the same.
    for (const method of [...others, 'dispose', 'forward', 'set', 3, undefined, ['gelu']]) {
      await refused(method);
    }
    for (const method of [...others, 'gelu', 'forward', 'append', 'memory']) {
      await refused(method, handle.id);
    }
    assert.deepEqual((await ask({ id: ++id, method: 'memory', args: [] })).value, { handles: 0 });
    assert.equal(made[0].disposed, 0);
    await ask({ id: ++id, method: 'dispose', target: handle.id, args: [] });
    assert.equal(made[0].disposed, 1);
  });

  test('moves results, each buffer once, and copies nothing', async () => {
    const { port, ask } = hosted();
    await ask({ id: 0, ...init });
    const data = Float32Array.of(1, 2, 3);
    const value = { one: { data }, two: { data: data.subarray(1) }, count: 3 };
    await ask({ id: 1, method: 'softmax', args: [value] });
    assert.deepEqual(port.moved.at(-1), [data.buffer]);
    // The readings of a model, by layer.
    const weights = { data: Float32Array.of(4), shape: [1] };
    const layers = new Map([[2, { weights, lens: new Map([[0, value.one]]) }]]);
    await ask({ id: 2, method: 'softmax', args: [{ logits: value.two, layers }] });
    assert.deepEqual(port.moved.at(-1), [data.buffer, weights.data.buffer]);
  });

  test('tells the caller of a result that cannot be sent', async () => {
    const { port, ask } = hosted();
    await ask({ id: 0, ...init });
    const { postMessage } = port;
    port.postMessage = (message, transfer) => {
      structuredClone(message);
      postMessage.call(port, message, transfer);
    };
    const { id, error } = await ask({ id: 1, method: 'entropy', args: [] });
    assert.deepEqual([id, error.code], [1, 'unsupported']);
    assert.match(error.message, /could not be cloned/);
  });

  test('says nothing to messages of others, and nothing for sessions it does not know', async () => {
    const { port, ask } = hosted();
    await ask({ id: 0, ...init });
    const before = port.sent.length;
    for (const data of [undefined, null, 3, 'init', [], {}, { id: 1, method: 'gelu', args: [] }]) {
      port.say(data);
    }
    port.say({ [key]: 'another', id: 1, method: 'gelu', args: [{ shape: [1] }] });
    await settled();
    assert.equal(port.sent.length, before);
  });
});
