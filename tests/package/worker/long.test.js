// @build any
// qkv/worker: many calls of all kinds leave nothing behind.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { init, QkvError } from 'qkv/worker';
import { problem, randomArray, zeros } from '../../support/js/arrays.js';
import { expectSame } from '../../support/js/check.js';
import { heapAtRest } from '../../support/js/collect.js';

const weights = Object.fromEntries(
  ['wq', 'wk', 'wv', 'wo'].map((name, i) => [name, randomArray([8, 8], i)]),
);
const { q, k, v } = problem();
const config = { dModel: 8, numHeads: 2 };
const longLived = new AbortController();

/** One of the many things a program does; some are mistakes, and some are given up. */
async function call(engine, layer, i) {
  const { signal } = i % 3 ? longLived : {};
  const x = zeros([1 + (i % 9), 8]);
  const expectError = (promise) => assert.rejects(promise, QkvError);
  const right = [
    () => engine.attention(q, k, v, { causal: i % 2 === 0, returnLse: true, signal }),
    () => layer.forward(x, { causal: true, signal }),
    () => engine.sinusoidalEncoding(1 + (i % 40), 16, { offset: i, signal }),
    () => engine.gelu(zeros([i % 50, 4]), { transfer: true, signal }),
    async () => {
      const out = await engine.tensor(q.shape, undefined, { signal });
      await engine.attention(q, k, v, { out, signal });
      await out.dispose();
    },
    async () => {
      const cache = await engine.kvCache({ numKvHeads: 2, capacity: 4, dK: 4, worker: i % 2 });
      await cache.append(zeros([1, 2, 3, 4]), zeros([1, 2, 3, 4]), { signal });
      await expectError(cache.append(zeros([1, 2, 3, 4]), zeros([1, 2, 3, 4])));
      await cache.dispose();
    },
    () => expectError(engine.attention(q, zeros([2, 4, 3, 9]), v, { signal })),
    () => expectError(engine.gelu(x, { approximate: () => 1, signal })),
    () => assert.rejects(engine.gelu(x, { signal: AbortSignal.abort() })),
    async () => {
      const controller = new AbortController();
      const made = engine.tensor([100], undefined, { signal: controller.signal });
      controller.abort();
      await assert.rejects(made);
    },
  ];
  await right[i % right.length]();
}

test('worker: 10,000 mixed calls leave memory, handles and listeners as they were', async () => {
  const engine = await init({ workers: 2, deterministic: true });
  const layer = await engine.multiHeadAttention(config, weights);
  const { output } = await engine.attention(q, k, v);
  const round = async (from, to) => {
    for (let i = from; i < to; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, j) => call(engine, layer, i + j)));
    }
  };
  /** Both engines have seen every size that there is. */
  await round(0, 2000);
  const warm = await engine.memory();
  const heap = await heapAtRest();
  await round(0, 10_000);
  const { heapBytes, handles } = await engine.memory();
  assert.deepEqual([heapBytes, handles], [warm.heapBytes, 1]);
  assert.equal(getEventListeners(longLived.signal, 'abort').length, 0);
  const grown = (await heapAtRest()) - heap;
  assert.ok(grown < 2 ** 20, `the heap of JavaScript grew by ${grown} bytes`);
  expectSame((await engine.attention(q, k, v)).output.data, output.data);
  await layer.dispose();
  assert.equal((await engine.memory()).handles, 0);
  await engine.dispose();
});
