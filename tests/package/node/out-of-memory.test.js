// @build any
// When memory runs out: a typed error, and an engine that still computes. A memory that may not grow
// beyond a few megabytes makes that cheap.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { filled, problem, randomArray, zeros } from '../../support/js/arrays.js';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import { initWithin, takeAll } from '../../support/js/small-memory.js';

const limited = (pages = 128, options = {}) =>
  initWithin(pages, { wasm: wasmFile('simd'), ...options });
const { q, k, v } = problem();
const square = (seed) => randomArray([8, 8], seed);
const layerOf = (engine, size = 8) => {
  const w = size === 8 ? square(1) : zeros([size, size]);
  return engine.multiHeadAttention({ dModel: size, numHeads: 2 }, { wq: w, wk: w, wv: w, wo: w });
};

const engine = await init();
const reference = async () => (await init({ deterministic: true })).attention(q, k, v).output;

describe('out of memory: in a memory of 4 GB', () => {
  const expected = engine.attention(q, k, v).output.data;

  test('a tensor beyond it is refused, and the engine computes on', () => {
    const before = engine.memory();
    for (const length of [2 ** 30, 2 ** 30 - 1000]) {
      expectThrows(() => engine.tensor([length]), 'tensor', 'out_of_memory', `${4 * length} bytes`);
    }
    assert.deepEqual(engine.memory(), before);
    expectSame(engine.attention(q, k, v).output.data, expected);
  });

  test('a call whose arrays are beyond it is refused, and tells their size', () => {
    const x = zeros([2 ** 15 + 1, 1]);
    const options = { numHeads: 1, returnWeights: true };
    const before = engine.memory();
    expectThrows(
      () => engine.attention(x, x, x, options),
      ...['attention', 'out_of_memory', 'bytes', 'expected at most 4 GB'],
    );
    assert.deepEqual(engine.memory(), before);
    expectSame(engine.attention(q, k, v).output.data, expected);
  });

  test('a layer whose projections are beyond it is refused, however far beyond', () => {
    const dK = 65_536;
    const wide = filled([1, dK], () => 0.5);
    const one = filled([1, 1], () => 1);
    const weights = { wq: wide, wk: wide, wv: one, wo: one };
    const layer = engine.multiHeadAttention({ dModel: 1, numHeads: 1, dK, dV: 1 }, weights);
    const run = (tokens) => layer.forward(filled([tokens, 1], () => 1));
    const few = run(3).output.data;
    // 2^30, 2^31 and 2^32 elements in Q and in K: 32 bits do not hold their bytes, sum or number.
    for (const tokens of [2 ** 14, 2 ** 15, 2 ** 16]) {
      expectThrows(() => run(tokens), 'forward', 'out_of_memory', 'bytes');
    }
    expectSame(run(3).output.data, few);
    layer.dispose();
    expectSame(engine.attention(q, k, v).output.data, expected);
  });

  test('a call whose scratch is beyond it is refused, however small its arrays', () => {
    // Values are packed in panels, so a width of 1 takes the room of a panel for each of 2^27 keys.
    const keys = engine.tensor([1, 1, 2 ** 27, 1]);
    const call = () => engine.attention(zeros([1, 1, 1, 1]), keys, keys);
    expectThrows(call, 'attention', 'out_of_memory', 'bytes');
    keys.dispose();
    expectSame(engine.attention(q, k, v).output.data, expected);
  });
});

describe('out of memory: in a memory of 8 MB', () => {
  for (const largest of [2 ** 20, 2 ** 14, 2 ** 10]) {
    test(`full of tensors of up to ${largest}, errors are still typed, and room can be made`, async () => {
      const expected = (await reference()).data;
      // Where the last byte goes differs with the size of the memory.
      for (const pages of [64, 100, 128, 200]) {
        const engine = await limited(pages);
        const tensors = takeAll(engine, largest);
        expectThrows(() => engine.tensor([1]), 'tensor', 'out_of_memory', 'bytes');
        expectThrows(() => engine.attention(q, k, v), 'attention', 'out_of_memory', 'bytes');
        expectThrows(() => layerOf(engine), 'multiHeadAttention', 'out_of_memory');
        assert.deepEqual(engine.memory().handles, tensors.length);
        for (const tensor of tensors) tensor.dispose();
        assert.deepEqual(engine.memory().handles, 0);
        expectSame(engine.attention(q, k, v).output.data, expected);
        engine.dispose();
      }
    });
  }
});

describe('out of memory: in a shared memory of 8 MB', () => {
  const wasm = wasmFile('simd-threads');

  test('errors are typed, and the threads go on', async () => {
    const engine = await limited(128, { wasm, threads: 3 });
    assert.equal(engine.info.threads, 3);
    const x = randomArray([1, 2, 600, 32], 1);
    const expected = (await init({ deterministic: true })).attention(x, x, x).output.data;
    for (let i = 0; i < 3; ++i) {
      const large = zeros([300_000, 8]);
      const call = () => engine.attention(large, large, large, { numHeads: 1 });
      expectThrows(call, 'attention', 'out_of_memory', 'bytes');
      expectSame(engine.attention(x, x, x).output.data, expected);
    }
    engine.dispose();
  });

  test('where the stacks of the threads have no room, one thread does all', async () => {
    const engine = await limited(32, { wasm, threads: 64 });
    assert.deepEqual([engine.info.variant, engine.info.threads], ['simd-threads', 1]);
    expectSame(engine.attention(q, k, v).output.data, (await reference()).data);
    engine.dispose();
  });
});
