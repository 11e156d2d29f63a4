// @build any
// Tensors, layers and engines: what is given back, and when.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { wasmFile } from '../../support/js/files.js';

const config = { dModel: 8, numHeads: 2 };
const weights = Object.fromEntries(
  ['wq', 'wk', 'wv', 'wo'].map((name, i) => [name, randomArray([8, 8], i)]),
);
const fresh = () => init({ wasm: wasmFile('simd') });
const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

test('dispose: a new engine holds nothing', async () => {
  const engine = await fresh();
  const { heapBytes, ...rest } = engine.memory();
  assert.deepEqual(rest, { usedBytes: 0, handles: 0 });
  assert.ok(heapBytes > 0 && heapBytes <= 2 ** 21, `heapBytes is ${heapBytes}`);
  engine.dispose();
});

test('dispose: tensors and layers count while they live, and give back what they took', async () => {
  const engine = await fresh();
  const x = randomArray([3, 8], 9);
  const warm = engine.multiHeadAttention(config, weights);
  warm.forward(x);
  warm.dispose();
  const start = engine.memory();
  const tensor = engine.tensor([1000]);
  assert.equal(engine.memory().handles, start.handles + 1);
  assert.ok(engine.memory().usedBytes >= start.usedBytes + 4000);
  const layer = engine.multiHeadAttention(config, weights);
  assert.equal(engine.memory().handles, start.handles + 2);
  layer.forward(x);
  layer.dispose();
  tensor.dispose();
  assert.deepEqual(engine.memory(), start);
  engine.dispose();
});

test('dispose: dispose() may be called again, by either name', async () => {
  const engine = await fresh();
  const keep = engine.tensor([2], [1, 2]);
  for (const held of [engine.tensor([100]), engine.multiHeadAttention(config, weights)]) {
    held.dispose();
    const after = engine.memory();
    held.dispose();
    held[dispose]();
    assert.deepEqual(engine.memory(), after);
  }
  assert.deepEqual([...keep.view()], [1, 2]);
  engine.dispose();
  engine.dispose();
  keep.dispose();
  keep[dispose]();
});

test('dispose: Symbol.dispose disposes, as `using` does', async () => {
  const engine = await fresh();
  for (const make of [
    () => engine.tensor([100]),
    () => engine.multiHeadAttention(config, weights),
  ]) {
    const start = engine.memory();
    const held = make();
    assert.equal(typeof held[dispose], 'function');
    assert.notDeepEqual(engine.memory(), start);
    held[dispose]();
    assert.deepEqual(engine.memory(), start);
  }
  engine.dispose();
});

test('dispose: a new tensor is zero even where an old one was', async () => {
  const engine = await fresh();
  const old = engine.tensor([5000]);
  old.view().fill(NaN);
  old.dispose();
  const tensor = engine.tensor([5000]);
  assert.ok(tensor.view().every((x) => x === 0));
  engine.dispose();
});

test('dispose: a tensor has the shape it was given, whatever becomes of that array', async () => {
  const engine = await fresh();
  const shape = [2, 3];
  const tensor = engine.tensor(shape, [1, 2, 3, 4, 5, 6]);
  shape[0] = 100;
  assert.deepEqual([...tensor.shape], [2, 3]);
  assert.throws(() => (tensor.shape[0] = 4), TypeError);
  const copy = tensor.toNdArray();
  tensor.view()[0] = 9;
  assert.deepEqual([...copy.data], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual([...tensor.view()], [9, 2, 3, 4, 5, 6]);
  engine.dispose();
});

test('dispose: tensors of no elements and of rank 0 are tensors', async () => {
  const engine = await fresh();
  const [empty, scalar] = [engine.tensor([3, 0]), engine.tensor([], [7])];
  assert.deepEqual([empty.view().length, [...scalar.view()]], [0, [7]]);
  empty.set([]);
  assert.deepEqual(empty.toNdArray(), { data: new Float32Array(0), shape: [3, 0] });
  empty.dispose();
  scalar.dispose();
  assert.equal(engine.memory().handles, 0);
  engine.dispose();
});

test('dispose: what the core refuses to make leaves no memory behind', async () => {
  const engine = await fresh();
  const odd = { ...config, rotary: { rotaryDim: 3 } };
  const { heapBytes } = engine.memory();
  // A layer and a block are some hundred bytes: as many as these, kept, would be megabytes.
  for (let i = 0; i < 20_000; i += 1) {
    assert.throws(() => engine.multiHeadAttention(odd, weights), { code: 'out_of_range' });
  }
  assert.deepEqual(engine.memory(), { heapBytes, usedBytes: 0, handles: 0 });
  engine.dispose();
});

test('dispose: a disposed engine says so before it finds fault with anything else', async () => {
  const engine = await fresh();
  engine.dispose();
  const makers = ['tensor', 'kvCache', 'multiHeadAttention', 'transformerBlock', 'linearLayer'];
  for (const name of [...makers, 'attention', 'rotaryEmbedding', 'softmax', 'embedding']) {
    assert.throws(
      () => engine[name]({ nonsense: 1 }, { nonsense: 2 }, { nonsense: 3 }),
      { code: 'disposed', message: `${name}: the engine is disposed, expected a live one` },
      name,
    );
  }
});
