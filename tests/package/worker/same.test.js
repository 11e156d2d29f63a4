// @build each
// qkv/worker: every method gives the bits that the engine of the main thread gives.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as main from 'qkv';
import { init, QkvError } from 'qkv/worker';
import { declared } from '../node/bad-input/declarations.js';
import { zeros } from '../../support/js/arrays.js';
import { expectRejects, expectSame, expectSameResult } from '../../support/js/check.js';
import { everything, operatorCalls } from '../../support/js/everything.js';
import { expectedVariant, packageJson, wasmSources } from '../../support/js/files.js';

const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

test('worker: every operator that is declared is compared', () => {
  const called = new Set(operatorCalls.map(([method]) => `Qkv.${method}`));
  const handles = ['tensor', 'kvCache', 'multiHeadAttention', 'transformerBlock', 'linearLayer', 'memory']; // prettier-ignore
  const missing = [...declared().keys()].filter(
    (name) => name.startsWith('Qkv.') && !called.has(name) && !handles.includes(name.slice(4)),
  );
  assert.deepEqual(missing, []);
  assert.equal(called.size, 17);
});

for (const options of [{}, { deterministic: true }, { workers: 3 }]) {
  test(`worker: init(${JSON.stringify(options)}) gives the bits of the main thread`, async () => {
    const { workers, ...rest } = options;
    const engine = await init(options);
    const expected = await everything(await main.init(rest));
    assert.ok(Object.keys(expected).length > 35);
    expectSameResult(await everything(engine), expected);
    assert.equal((await engine.memory()).handles, 0);
    assert.equal(engine.info.workers, workers ?? 1);
    await engine.dispose();
  });
}

/** The methods and fields of an object and of what it inherits from. */
const names = (object) => {
  const found = new Set();
  for (let at = object; at !== Object.prototype && at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) if (name !== 'constructor') found.add(name);
  }
  return [...found].sort();
};

test('worker: an engine has the methods of one of qkv, loadModel, those of trainers, info, and no others, and they need no `this`', async () => {
  const [engine, here] = [await init(), await main.init()];
  assert.deepEqual(names(engine), [...names(here), 'languageModel', 'loadModel', 'seq2seq'].sort());
  assert.equal(Object.prototype.toString.call(engine), '[object AsyncQkv]');
  assert.equal(typeof engine[asyncDispose], 'function');
  const taken = Object.fromEntries(names(engine).map((name) => [name, engine[name]]));
  expectSameResult(await everything(taken), await everything(here));
  await taken.dispose();
  await expectRejects(taken.gelu(zeros([2])), 'gelu', 'disposed', 'the engine is disposed');
});

test('worker: options that are inherited count as they do on the main thread', async () => {
  const inherited = (options) => Object.create(Object.create(options));
  const engine = await init(inherited({ workers: 2 }));
  assert.equal(engine.info.workers, 2);
  const expected = await main.init();
  const [gelu] = operatorCalls.filter(([name]) => name === 'gelu');
  const x = gelu[1];
  for (const [name, options] of Object.entries({
    gelu: { approximate: 'tanh' },
    softmax: { axis: 1, temperature: 3 },
    rotaryEmbedding: { scaling: inherited({ type: 'linear', factor: 2 }) },
  })) {
    const { data } = await engine[name](x, inherited(options));
    expectSame(data, expected[name](x, options).data, name);
  }
  await engine.dispose();
});

test('worker: info is that of the engines, and says how many there are', async () => {
  const engine = await init({ workers: 2 });
  assert.deepEqual(engine.info, { ...(await main.init()).info, workers: 2 });
  assert.equal(engine.info.version, packageJson.version);
  assert.equal(engine.info.variant, expectedVariant);
  assert.ok(Object.isFrozen(engine.info));
  await engine.dispose();
});

describe('worker: init()', () => {
  test('calls with the same options share the workers, until they are disposed', async () => {
    const [one, same, other] = await Promise.all([
      init(),
      init({ variant: 'auto', workers: 1 }),
      init({ workers: 2 }),
    ]);
    const tensor = await one.tensor([2], [1, 2]);
    const { data } = await same.softmax(tensor);
    assert.equal(data.length, 2);
    await expectRejects(other.softmax(tensor), 'softmax', 'invalid_argument', 'another engine');
    await Promise.all([one.dispose(), same.dispose(), other.dispose()]);
    const next = await init();
    assert.ok((await next.memory()).heapBytes > 0);
    await next.dispose();
  });

  test('the end of one engine leaves those that share its workers alive, and gives back what it made', async () => {
    const [one, other] = await Promise.all([init(), init()]);
    const [mine, kept] = [await one.tensor([2], [1, 2]), await other.tensor([2], [3, 4])];
    const layer = await one.linearLayer({ data: new Float32Array(4), shape: [2, 2] });
    const running = one.softmax(kept);
    await Promise.all([one.dispose(), one.dispose()]);
    await expectRejects(running, 'softmax', 'disposed', 'the engine is disposed');
    await expectRejects(one.softmax(kept), 'softmax', 'disposed', 'the engine is disposed');
    await expectRejects(other.softmax(mine), 'softmax', 'disposed', 'x is a disposed tensor');
    await expectRejects(layer.forward(kept), 'forward', 'disposed');
    assert.deepEqual(Array.from((await kept.toNdArray()).data), [3, 4]);
    assert.equal((await other.memory()).handles, 1);
    await mine.dispose();
    assert.equal((await other.memory()).handles, 1);
    await other.dispose();
  });

  test('an engine that somebody else is promised outlives the one that is disposed at once', async () => {
    // As React's StrictMode mounts a component twice, with an effect that disposes at the end of each.
    const first = init().then((engine) => engine.dispose());
    const second = init();
    await first;
    const engine = await second;
    assert.equal((await engine.alibiSlopes(2)).length, 2);
    const given = new AbortController();
    const third = init({ signal: given.signal });
    given.abort(new Error('unmounted'));
    await assert.rejects(third, /unmounted/);
    assert.equal((await engine.alibiSlopes(2)).length, 2);
    await engine.dispose();
  });

  const headers = { 'content-type': 'application/wasm' };
  for (const [what, source] of Object.entries(wasmSources('simd'))) {
    test(`takes ${what} as wasm, for each of its workers`, async () => {
      const wasm = source();
      const engine = await init({ wasm, workers: 2 });
      assert.equal(engine.info.isa, 'wasm-simd128');
      if (wasm.byteLength !== undefined) assert.ok(wasm.byteLength > 1000);
      await engine.dispose();
    });
  }

  test('a response that says no is reported as the main thread reports it', async () => {
    const response = () => Promise.resolve(new Response('gone', { status: 404, headers }));
    const said = await main.init({ wasm: response() }).catch(({ message }) => message);
    const promise = init({ wasm: response() });
    await expectRejects(promise, 'init', 'load_failed', said.slice(6));
  });
});

describe('worker: handles', () => {
  let engine;
  before(async () => {
    engine = await init({ workers: 2 });
  });
  after(() => engine.dispose());

  test('are made in worker 0, or where they are asked to be', async () => {
    const made = await Promise.all([
      engine.tensor([2]),
      engine.tensor([2], undefined, { worker: 1 }),
      engine.kvCache({ numKvHeads: 1, capacity: 2, dK: 4, worker: 1 }),
    ]);
    assert.deepEqual(
      made.map(({ worker }) => worker),
      [0, 1, 1],
    );
    await Promise.all(made.map((handle) => handle.dispose()));
  });

  test('of different workers do not go together, and nothing is done', async () => {
    const x = zeros([1, 1, 2, 4]);
    const cache = await engine.kvCache({ numKvHeads: 1, capacity: 2, dK: 4, worker: 1 });
    const tensor = await engine.tensor(x.shape);
    const says = ['q is in worker 0 and cache in worker 1'];
    const call = engine.attention(tensor, x, x, { cache });
    await expectRejects(call, 'attention', 'invalid_argument', ...says);
    const append = cache.append(x, tensor);
    await expectRejects(append, 'KvCache.append', 'invalid_argument', 'values in worker 0');
    assert.equal((await cache.keys()).shape[2], 0);
    await Promise.all([cache.dispose(), tensor.dispose()]);
  });

  test('asyncDispose disposes, as `await using` does, and once is enough', async () => {
    const tensor = await engine.tensor([4]);
    assert.equal((await engine.memory()).handles, 1);
    await tensor[asyncDispose]();
    assert.equal((await engine.memory()).handles, 0);
    await tensor.dispose();
    const says = ['is a disposed tensor', 'expected a live one'];
    await expectRejects(tensor.toNdArray(), 'Tensor.toNdArray', 'disposed', ...says);
    await expectRejects(engine.gelu(tensor), 'gelu', 'disposed', 'x is a disposed tensor');
  });
});

test('worker: the error class is that of qkv, and a class of its own stays one', async () => {
  const other = new main.QkvError('disposed', 'why');
  assert.ok(other instanceof QkvError);
  assert.ok(new QkvError('disposed', 'why') instanceof main.QkvError);
  assert.ok(!(new Error('why') instanceof QkvError));
  for (const value of [null, undefined, 1, 'QkvError', {}]) assert.ok(!(value instanceof QkvError));
  class Own extends QkvError {}
  assert.ok(!(other instanceof Own));
  assert.ok(new Own('disposed', 'why') instanceof Own);
  assert.ok(new Own('disposed', 'why') instanceof main.QkvError);
});
