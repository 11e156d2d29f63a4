// @build any
// qkv/worker: the length that a cache tells here is that of the cache in the worker, whatever becomes of a call.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv/worker';
import { zeros } from '../../support/js/arrays.js';
import { expectRejects } from '../../support/js/check.js';
import { puppetEngine, settled } from '../../support/js/puppet.js';
import { overPort } from '../../support/js/workers.js';

describe('worker: the length of a cache', () => {
  let over;
  let cache;
  before(async () => {
    over = await overPort();
    cache = await over.engine.kvCache({ numKvHeads: 1, capacity: 9, dK: 4 });
  });
  after(() => over.close());
  const tokens = (count) => zeros([1, 1, count, 4]);

  test('follows append, truncate and attention', async () => {
    assert.equal(cache.length, 0);
    await cache.append(tokens(5), tokens(5));
    assert.equal(cache.length, 5);
    await cache.truncate(3);
    assert.equal(cache.length, 3);
    await over.engine.attention(tokens(1), tokens(1), tokens(1), { cache });
    assert.equal(cache.length, 4);
  });

  test('is what it was after a call that was refused', async () => {
    await expectRejects(cache.append(tokens(9), tokens(9)), 'KvCache.append', 'out_of_range');
    assert.equal(cache.length, 4);
    const refused = over.engine.attention(tokens(1), tokens(1), tokens(1), { cache, softcap: -1 });
    await expectRejects(refused, 'attention', 'out_of_range', 'softcap');
    assert.equal(cache.length, 4);
    assert.equal((await cache.keys()).shape[2], 4);
  });

  test('is its own, beside another cache of the same worker', async () => {
    const other = await over.engine.kvCache({ numKvHeads: 1, capacity: 9, dK: 4 });
    await Promise.all([other.append(tokens(2), tokens(2)), cache.append(tokens(1), tokens(1))]);
    assert.deepEqual([other.length, cache.length], [2, 5]);
    await other.dispose();
  });
});

test('worker: an answer that says nothing of a cache leaves its length as it was', async () => {
  const { engine, ports } = await puppetEngine(init, 1);
  const [port] = ports;
  const tokens = zeros([1, 1, 1, 4]);
  const making = engine.kvCache({ numKvHeads: 1, capacity: 9, dK: 4 });
  await settled();
  port.answer({ handle: { id: 0, capacity: 9 } });
  const cache = await making;
  for (const [lengths, length] of [
    [[3], 3],
    [[], 3],
    [[4], 4],
    [[], 4],
  ]) {
    // prettier-ignore
    const appending = cache.append(tokens, tokens);
    await settled();
    port.answer({ lengths });
    await appending;
    assert.equal(cache.length, length);
  }
  await engine.dispose();
});

test('worker: a handle is made where it was asked to be, also beside those it is made of', async () => {
  const engine = await init({ workers: 2 });
  const data = await engine.tensor([4], [1, 2, 3, 4], { worker: 1 });
  const call = engine.tensor([4], data, { worker: 0 });
  await expectRejects(call, 'tensor', 'invalid_argument', 'data is in worker 1', 'in worker 0');
  await engine.dispose();
});
