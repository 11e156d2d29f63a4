// tensor() and what tensors do: every argument that does not fit is named, and nothing changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { init } from 'qkv';
import { expectThrows } from './support/check.js';
import { wasmFile } from './support/files.js';
import { expectLooks, nothingChanges } from './support/refusals.js';

const engine = await init();
const out = engine.tensor([4]);
nothingChanges(engine, out, () => engine.sinusoidalEncoding(3, 4).data);

const refuses = (shape, data, code, ...says) =>
  expectThrows(() => engine.tensor(shape, data), 'tensor', code, ...says);

for (const [value, was] of [
  [undefined, 'undefined'],
  [null, 'null'],
  [4, '4'],
  ['4', '"4"'],
  [{}, 'Object'],
  [Int32Array.of(4), 'Int32Array'],
  [[-1], '[-1]'],
  [[1.5], '[1.5]'],
  [[NaN], '[NaN]'],
  [['2'], '[2]'],
  [[2 ** 53], '[9007199254740992]'],
]) {
  test(`a shape of ${was} is refused`, () =>
    refuses(value, undefined, 'invalid_argument', `is ${was}`, 'whole numbers'));
}

test('more elements than memory can have are refused', () => {
  refuses([2 ** 30 + 1], undefined, 'out_of_range', '1073741825', '1073741824');
  refuses([2 ** 20, 2 ** 20], undefined, 'out_of_range', '1099511627776');
});

test('data of another length is refused', () => {
  refuses([2, 3], [1, 2], 'shape_mismatch', 'data has 2 elements', '6 for shape [2,3]');
  refuses([2], new Float32Array(3), 'shape_mismatch', 'data has 3 elements', '2 for shape [2]');
});

const notData = [
  [null, 'null'],
  [5, '5'],
  [true, 'true'],
  ['12', '"12"'],
  [{}, 'Object'],
  [() => 1, 'a function'],
];
for (const [value, was] of [...notData, [new BigInt64Array(2), 'BigInt64Array']]) {
  test(`data that is ${was} is refused`, () =>
    refuses([2], value, 'invalid_argument', `data is ${was}`, 'numbers'));

  test(`set() of ${was} is refused`, () => {
    const tensor = engine.tensor([2], [1, 2]);
    expectThrows(
      () => tensor.set(value),
      'Tensor.set',
      'invalid_argument',
      `data is ${was}`,
      'numbers',
    );
    assert.deepEqual([...tensor.view()], [1, 2]);
    tensor.dispose();
  });
}

test('set() of another length is refused', () => {
  const tensor = engine.tensor([2], [1, 2]);
  for (const data of [[], [1], [1, 2, 3], new Float32Array(4)]) {
    const says = [`data has ${data.length} elements`, 'expected 2'];
    expectThrows(() => tensor.set(data), 'Tensor.set', 'shape_mismatch', ...says);
  }
  assert.deepEqual([...tensor.view()], [1, 2]);
  tensor.dispose();
});

test('data may be anything with numbers', () => {
  const foreign = runInNewContext('[1, 2]');
  for (const data of [
    [1, 2],
    Float64Array.of(1, 2),
    Int8Array.of(1, 2),
    foreign,
    { length: 2, 0: 1, 1: 2 },
  ]) {
    const tensor = engine.tensor([2], data);
    assert.deepEqual([...tensor.view()], [1, 2]);
    tensor.set(data);
    tensor.dispose();
  }
});

for (const method of ['view', 'toNdArray', 'set']) {
  test(`${method}() of a disposed tensor, or of one whose engine is, is refused`, async () => {
    const gone = await init({ wasm: wasmFile('simd') });
    const [one, other] = [engine.tensor([2]), gone.tensor([2])];
    one.dispose();
    gone.dispose();
    for (const tensor of [one, other]) {
      expectThrows(
        () => tensor[method]([1, 2]),
        `Tensor.${method}`,
        'disposed',
        'a disposed tensor',
      );
    }
  });
}

test('nothing was changed by any of these', () => expectLooks(30));
