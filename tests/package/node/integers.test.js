// @build any
// Whole numbers as plain arrays, and tables as tensors, in `qkv` and in a worker: the same bits as with an Int32Array
// and with an array, and nothing copied into the engine that is there already.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { init as initWorker } from 'qkv/worker';
import { problem, randomArray } from '../../support/js/arrays.js';
import { expectRejects, expectSame, expectThrows } from '../../support/js/check.js';

const here = await init();
const away = await initWorker();
after(() => away.dispose());

const { q, k, v } = problem({ tq: 5, tk: 6 });
const x = randomArray([2, 5, 8], 3);
const table = randomArray([6, 4], 2);
const square = (seed) => randomArray([8, 8], seed);
const attention = { wq: square(1), wk: square(2), wv: square(3), wo: square(4) };
const norm = { gamma: randomArray([8], 5).data };
const block = {
  ...{ attention, cross: attention, norm1: norm, norm2: norm, normCross: norm },
  ...{ w1: square(6), w2: square(7) },
};

/** Calls that take whole numbers: what makes these numbers of a list is the argument. */
const calls = {
  'ids of embedding': (engine, of) => engine.embedding(table, of([5, 0, 5])),
  'no ids at all': (engine, of) => engine.embedding(table, of([])),
  keyLengths: (engine, of) => engine.attention(q, k, v, { keyLengths: of([2, 6]) }),
  'causalOffset of each batch row': (engine, of) =>
    engine.attention(q, k, v, { causal: true, causalOffset: of([-2, 1]) }),
  'positions of the tokens': (engine, of) =>
    engine.rotaryEmbedding(q, { positions: of([7, 0, 3, 3, 90]) }),
  'positions of the tokens of each batch row': (engine, of) =>
    engine.rotaryEmbedding(q, { positions: of([7, 0, 3, 3, 90, 1, 2, 3, 4, 5]) }),
  'positions of a layer': async (engine, of) => {
    const rotary = { positions: of([4, 3, 2, 1, 0]) };
    const layer = await engine.multiHeadAttention({ dModel: 8, numHeads: 2, rotary }, attention);
    const result = await layer.forward(x);
    await layer.dispose();
    return result;
  },
  contextKeyLengths: async (engine, of) => {
    const config = { dModel: 8, numHeads: 2, dFeedForward: 8, crossAttention: true };
    const made = await engine.transformerBlock(config, block);
    const result = await made.forward(x, { context: x, contextKeyLengths: of([1, 4]) });
    await made.dispose();
    return result;
  },
};
const numbersOf = (result) => (result.output ?? result).data;

for (const [name, engine] of Object.entries({ qkv: here, 'qkv/worker': away })) {
  describe(`integers: in ${name} a plain array is as good as an Int32Array`, () => {
    for (const [what, call] of Object.entries(calls)) {
      test(what, async () => {
        const expected = await call(here, (list) => Int32Array.from(list));
        const actual = await call(engine, (list) => Object.freeze([...list]));
        expectSame(numbersOf(actual), numbersOf(expected), what, { empty: true });
      });
    }
  });
}

test('integers: a worker refuses what is no whole number in the words of qkv', async () => {
  const says = ['embedding', 'invalid_argument', 'ids[1] is 0.5', 'expected a whole number'];
  expectThrows(() => here.embedding(table, [1, 0.5]), ...says);
  await expectRejects(away.embedding(table, [1, 0.5]), ...says);
});

describe('tensors: tables and biases are read where they are', () => {
  /** A call with an array, which is the argument, and the shape that it has. */
  const reads = {
    embedding: [[6, 4], (engine, array) => engine.embedding(array, [5, 0])],
    learnedEncoding: [[6, 4], (engine, array) => engine.learnedEncoding(array, 3)],
    t5RelativeBias: [[32, 2], (engine, array) => engine.t5RelativeBias(array, 3, 4)],
    'r of transformerXlBias': [
      [10, 32],
      (engine, array) => engine.transformerXlBias(q, array, randomArray([4, 8], 6)),
    ],
    'v of transformerXlBias': [
      [4, 8],
      (engine, array) => engine.transformerXlBias(q, randomArray([10, 32], 6), array),
    ],
    'bias of attention': [[5, 6], (engine, bias) => engine.attention(q, k, v, { bias })],
    'mask of attention': [[4, 1, 6], (engine, mask) => engine.attention(q, k, v, { mask })],
  };
  for (const [what, [shape, call]] of Object.entries(reads)) {
    test(what, async () => {
      const array = randomArray(shape, 9);
      const expected = numbersOf(call(here, array));
      for (const engine of [here, away]) {
        const tensor = await engine.tensor(shape, array.data);
        expectSame(numbersOf(await call(engine, tensor)), expected);
        await tensor.dispose();
      }
    });
  }

  test('a table of 8 MB in a tensor needs no second 8 MB for a row of it', async () => {
    const engine = await init({ variant: 'simd' });
    const shape = [2 ** 18, 8];
    const tensor = engine.tensor(shape);
    const { heapBytes, usedBytes } = engine.memory();
    engine.embedding(tensor, [3]);
    assert.deepEqual(engine.memory().heapBytes, heapBytes);
    assert.ok(engine.memory().usedBytes < usedBytes + 2 ** 16);
    engine.dispose();
  });
});
