// @build each
// attention(): tensors in, tensors out, and whose memory is whose.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { init } from 'qkv';
import { booleanMask, problem, randomArray, toRank, zeros } from '../../support/js/arrays.js';
import { expectSame, expectSameResult } from '../../support/js/check.js';
import { allExtras } from '../../support/js/expect-results.js';
import { wasmFile } from '../../support/js/files.js';

const { q, k, v } = problem({ tk: 9, dV: 5 });
const engine = await init();
const expected = engine.attention(q, k, v, allExtras);

/** An engine whose memory is still small. */
const fresh = () => init({ wasm: wasmFile('simd') });

/** A call that needs more memory than the engine has. */
function grow(target, floats = 300_000) {
  const before = target.memory().heapBytes;
  const array = zeros([1, 1, floats, 1]);
  target.attention(zeros([1, 1, 1, 1]), array, array);
  assert.ok(target.memory().heapBytes > before, 'memory grew');
}

test('attention: tensors as inputs give the bits of arrays', () => {
  const [tq, tk, tv] = [q, k, v].map(({ shape, data }) => engine.tensor(shape, data));
  for (const inputs of [
    [tq, tk, tv],
    [tq, k, v],
    [q, tk, v],
    [q, k, tv],
  ]) {
    expectSameResult(engine.attention(...inputs, allExtras), expected);
  }
  for (const tensor of [tq, tk, tv]) tensor.dispose();
});

test('attention: out receives the same bits, and the result then has no output', () => {
  const out = engine.tensor(expected.output.shape);
  assert.deepEqual(engine.attention(q, k, v, { out }), {});
  expectSame(out.view(), expected.output.data);
  out.view().fill(NaN);
  const { output, ...extras } = expected;
  expectSameResult(engine.attention(q, k, v, { ...allExtras, out }), extras);
  expectSame(out.view(), output.data);
  out.dispose();
});

test('attention: out has the rank of the query', () => {
  const split = [toRank(q, 3), toRank(k, 3), toRank(v, 3)];
  const out = engine.tensor([2, 7, 20]);
  engine.attention(...split, { numHeads: 4, out });
  expectSame(out.view(), toRank(expected.output, 3).data);
  out.dispose();
});

test('attention: an out tensor may be the input of the next call', () => {
  const x = engine.tensor([2, 4, 7, 9], randomArray([2, 4, 7, 9], 5).data);
  const y = engine.tensor([2, 4, 7, 9]);
  engine.attention(x, x, x, { out: y });
  const copy = y.toNdArray();
  expectSame(engine.attention(y, y, y).output.data, engine.attention(copy, copy, copy).output.data);
  x.dispose();
  y.dispose();
});

test('attention: inputs are never modified', () => {
  const mask = booleanMask([7, 9], (i) => i % 2 === 0);
  const before = [q, k, v, mask].map(({ data, shape }) => [data.slice(), [...shape]]);
  const tensor = engine.tensor(q.shape, q.data);
  const options = Object.freeze({ ...allExtras, mask, rows: Object.freeze([1, 3]) });
  engine.attention(tensor, k, v, options);
  engine.attention(q, k, v, options);
  expectSame(tensor.view(), before[0][0]);
  [q, k, v, mask].forEach(({ data, shape }, i) => assert.deepEqual([data, shape], before[i]));
  tensor.dispose();
});

test('attention: the same array may be given as q, k and v', () => {
  const x = randomArray([1, 2, 5, 4], 3);
  const copies = [0, 1, 2].map(() => ({ data: x.data.slice(), shape: [...x.shape] }));
  expectSameResult(engine.attention(x, x, x), engine.attention(...copies));
});

test('attention: results are plain objects of their own, which later calls leave alone', () => {
  const first = engine.attention(q, k, v, allExtras);
  const kept = structuredClone(first);
  const other = problem({ tk: 9, dV: 5, seed: 50 });
  engine.attention(other.q, other.k, other.v, allExtras);
  expectSameResult(first, kept);
  for (const [name, { data, shape }] of Object.entries(first)) {
    assert.equal(Object.getPrototypeOf(first[name]), Object.prototype);
    assert.equal(data.byteLength, data.buffer.byteLength, `${name} owns its buffer`);
    assert.notEqual(shape, q.shape);
  }
});

test('attention: results survive growth of the memory, and may be transferred', async () => {
  const small = await fresh();
  const result = small.attention(q, k, v, allExtras);
  const kept = structuredClone(result);
  grow(small);
  expectSameResult(result, kept);
  const moved = structuredClone(result, { transfer: [result.output.data.buffer] });
  expectSame(moved.output.data, kept.output.data);
  expectSame(small.attention(q, k, v).output.data, kept.output.data);
  small.dispose();
});

test('attention: growth detaches a stored view, and a fresh view() has the numbers', async () => {
  const small = await fresh();
  const tensor = small.tensor([3], [1, 2, 3]);
  const stale = tensor.view();
  grow(small);
  assert.equal(stale.length, 0);
  assert.notEqual(tensor.view(), tensor.view());
  assert.deepEqual([...tensor.view()], [1, 2, 3]);
  assert.deepEqual([...tensor.toNdArray().data], [1, 2, 3]);
  tensor.set([4, 5, 6]);
  assert.deepEqual([...tensor.view()], [4, 5, 6]);
  small.dispose();
});

test('attention: growth during a call reaches the out tensor and the tensors that are read', async () => {
  const small = await fresh();
  const tokens = 200_000;
  const keys = randomArray([1, 1, tokens, 1], 4);
  const query = small.tensor([1, 1, 1, 1], [0.5]);
  const out = small.tensor([1, 1, 1, 1]);
  const before = small.memory().heapBytes;
  small.attention(query, keys, keys, { out });
  assert.ok(small.memory().heapBytes > before, 'memory grew');
  const { output } = small.attention(query, keys, keys);
  expectSame(out.view(), output.data);
  small.dispose();
});

test('attention: the view of a tensor is an input like any other, also when the call grows the memory', async () => {
  const small = await fresh();
  const x = randomArray([1, 1, 1, 4], 6);
  const tensor = small.tensor(x.shape, x.data);
  const keys = randomArray([1, 1, 100_000, 4], 7);
  const before = small.memory().heapBytes;
  const { output } = small.attention({ data: tensor.view(), shape: x.shape }, keys, keys);
  assert.ok(small.memory().heapBytes > before, 'memory grew');
  expectSame(output.data, small.attention(x, keys, keys).output.data);
  small.dispose();
});

test('attention: a tensor may be made from the view of another, also when that grows the memory', async () => {
  const small = await fresh();
  const one = small.tensor([300_000]);
  one.view().fill(0.5);
  const before = small.memory().heapBytes;
  const other = small.tensor([300_000], one.view());
  assert.ok(small.memory().heapBytes > before, 'memory grew');
  assert.ok(other.view().every((x) => x === 0.5));
  small.dispose();
});

test('attention: arrays of another realm are arrays', () => {
  const foreign = ({ data, shape }) => {
    const array = runInNewContext('({ data: new Float32Array(n), shape: [] })', { n: data.length });
    array.data.set(data);
    array.shape.push(...shape);
    assert.ok(!(array.data instanceof Float32Array));
    return array;
  };
  const mask = booleanMask([7, 9], (i) => i % 2 === 0);
  const options = runInNewContext('({ mask: { data: new Uint8Array(63), shape: [7, 9] } })');
  options.mask.data.set(mask.data);
  expectSameResult(
    engine.attention(foreign(q), foreign(k), foreign(v), options),
    engine.attention(q, k, v, { mask }),
  );
});

test('attention: arrays may be parts of larger buffers, and shared ones', () => {
  const inside = ({ data, shape }, Buffer) => {
    const larger = new Float32Array(new Buffer((data.length + 7) * 4), 12, data.length);
    larger.set(data);
    return { data: larger, shape };
  };
  for (const Buffer of [ArrayBuffer, SharedArrayBuffer]) {
    const arrays = [q, k, v].map((array) => inside(array, Buffer));
    expectSameResult(engine.attention(...arrays, allExtras), expected);
  }
});

test('attention: a boolean mask may start at any byte', () => {
  const data = new Uint8Array(70).subarray(5, 68);
  data.forEach((_, i) => (data[i] = Number(i % 2 === 0)));
  expectSameResult(
    engine.attention(q, k, v, { mask: { data, shape: [7, 9] } }),
    engine.attention(q, k, v, { mask: booleanMask([7, 9], (i) => i % 2 === 0) }),
  );
});
