// @build any
// The room that arrays of a call take is given back after a large call, and growing calls leave no gaps.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { wasmFile } from '../../support/js/files.js';

const megabyte = 2 ** 20;

test('staging: a call of T 1500 with weights and logits leaves a few megabytes', async (t) => {
  const engine = await init({ wasm: wasmFile('simd') });
  const x = randomArray([1, 1, 1500, 64], 1);
  engine.attention(x, x, x, { returnWeights: true, returnLogits: 'raw' });
  const { usedBytes, handles, heapBytes } = engine.memory();
  t.diagnostic(`${usedBytes} bytes in use of ${heapBytes}`);
  assert.equal(handles, 0);
  // The arrays of the call took 20 MB.
  assert.ok(heapBytes > 18 * megabyte, `the heap is ${heapBytes} bytes`);
  assert.ok(usedBytes < 6 * megabyte, `${usedBytes} bytes are in use`);
  engine.dispose();
});

test('staging: calls that grow from T 8 to 1200 end with about the heap of T 1200 alone', async (t) => {
  const heapAfter = async (lengths) => {
    const engine = await init({ wasm: wasmFile('simd') });
    for (const length of lengths) {
      const x = randomArray([1, 1, length, 64], 1);
      engine.attention(x, x, x, { returnWeights: true });
    }
    const { heapBytes } = engine.memory();
    engine.dispose();
    return heapBytes;
  };
  const growing = Array.from({ length: 150 }, (_, i) => 8 * (i + 1));
  const [grown, direct] = [await heapAfter(growing), await heapAfter([1200])];
  t.diagnostic(`${grown} bytes after growing, ${direct} directly`);
  assert.ok(grown < 1.6 * direct, `${grown} bytes after growing, ${direct} directly`);
});

test('staging: a loop of equal calls takes memory once', async () => {
  const engine = await init({ wasm: wasmFile('simd') });
  const x = randomArray([1, 2, 64, 32], 1);
  const call = () => engine.attention(x, x, x, { returnWeights: true });
  call();
  const before = engine.memory();
  for (let i = 0; i < 20; i += 1) call();
  assert.deepEqual(engine.memory(), before);
  engine.dispose();
});
