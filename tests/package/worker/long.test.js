// @build any
// qkv/worker: many calls of all kinds leave nothing behind.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { init, QkvError } from 'qkv/worker';
import { problem, zeros } from '../../support/js/arrays.js';
import { expectSame } from '../../support/js/check.js';
import { heapAtRest } from '../../support/js/collect.js';
import { operatorCalls } from '../../support/js/everything.js';

const { q, k, v } = problem();
const longLived = new AbortController();

/** One of the many things a program does; some are mistakes, and some are given up. */
async function call(engine, i) {
  const { signal } = i % 3 ? longLived : {};
  const x = zeros([1 + (i % 9), 8]);
  const [method, ...args] = operatorCalls[Math.floor(i / 10) % operatorCalls.length];
  const abort = (made) => {
    const controller = new AbortController();
    const promise = made(controller.signal);
    controller.abort();
    return assert.rejects(promise);
  };
  const kinds = [
    () => engine[method](...args),
    () => engine.attention(q, k, v, { causal: i % 2 === 0, returnLse: true, signal }),
    () => engine.gelu(zeros([i % 50, 4]), { transfer: true, signal }),
    async () => {
      const out = await engine.tensor(q.shape, undefined, { signal });
      await engine.attention(q, k, v, { out, signal });
      await out.dispose();
    },
    async () => {
      const cache = await engine.kvCache({ numKvHeads: 2, capacity: 4, dK: 4, worker: i % 2 });
      await cache.append(zeros([1, 2, 3, 4]), zeros([1, 2, 3, 4]), { signal });
      await assert.rejects(cache.append(zeros([1, 2, 3, 4]), zeros([1, 2, 3, 4])), QkvError);
      await cache.dispose();
    },
    () => assert.rejects(engine.attention(q, zeros([2, 4, 3, 9]), v, { signal }), QkvError),
    () => assert.rejects(engine.gelu(x, { approximate: () => 1, signal }), QkvError),
    () => assert.rejects(engine.gelu(x, { signal: AbortSignal.abort() })),
    () => abort((given) => engine.tensor([100], undefined, { signal: given })),
    () => abort((given) => engine.gelu(x, { signal: given })),
  ];
  await kinds[i % kinds.length]();
}

test('worker: 10,000 mixed calls leave memory, handles and listeners as they were', async () => {
  const engine = await init({ workers: 2, deterministic: true });
  const { output } = await engine.attention(q, k, v);
  const round = async (from, to) => {
    for (let i = from; i < to; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, j) => call(engine, i + j)));
    }
  };
  /** Both engines have seen every size that there is. */
  await round(0, 2000);
  const warm = await engine.memory();
  const heap = await heapAtRest();
  await round(0, 10_000);
  const { heapBytes, handles } = await engine.memory();
  assert.deepEqual([heapBytes, handles], [warm.heapBytes, 0]);
  assert.equal(getEventListeners(longLived.signal, 'abort').length, 0);
  const grown = (await heapAtRest()) - heap;
  assert.ok(grown < 2 ** 20, `the heap of JavaScript grew by ${grown} bytes`);
  expectSame((await engine.attention(q, k, v)).output.data, output.data);
  await engine.dispose();
});
