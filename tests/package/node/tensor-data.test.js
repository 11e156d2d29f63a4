// @build any
// What tensor() and set() take for data.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { init } from 'qkv';

const engine = await init();

test('tensor: data may be anything with numbers', () => {
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
