// @build any
// qkv/worker: what stands here for a tensor or cache of a worker: which messages it sends, when it sends none, and that the
// length of a cache is that of the cache in the worker, whatever becomes of a call.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv/worker';
import { randomArray, zeros } from '../../support/js/arrays.js';
import { asIfOnPage } from '../../support/js/as-if-on-page.js';
import { expectRejects } from '../../support/js/check.js';
import { collect } from '../../support/js/collect.js';
import { puppetEngine, settled } from '../../support/js/puppet.js';
import { overPort } from '../../support/js/workers.js';

const x = randomArray([1, 1, 2, 4], 1);

/** A tensor with this number in worker 0 of the engine. */
async function tensorOf({ engine, ports }, id, shape = [2]) {
  const making = engine.tensor(shape);
  await settled();
  ports[0].answer({ handle: { id, shape } });
  return making;
}

const disposed = ({ ports }) =>
  ports[0].sent.filter(({ method }) => method === 'dispose').map(({ target }) => target);

describe('worker: a handle', () => {
  test('is sent as the number it has in its worker, and says its shape', async () => {
    const given = await puppetEngine(init, 1);
    const tensor = await tensorOf(given, 41, [3, 5]);
    assert.deepEqual([tensor.shape, tensor.worker], [[3, 5], 0]);
    assert.ok(Object.isFrozen(tensor.shape));
    void given.engine.gelu(tensor).catch(() => undefined);
    void given.engine.attention(x, tensor, x, { mask: tensor }).catch(() => undefined);
    await settled();
    const [gelu, attention] = given.ports[0].sent.slice(-2);
    const mark = { 'qkv/handle': 41 };
    assert.deepEqual(gelu.args, [mark]);
    assert.deepEqual([attention.args[1], attention.args[3]], [mark, { mask: mark }]);
    await given.engine.dispose();
  });

  test('of a model: relative addresses are relative to the page, as its <base> says', async () => {
    const given = await puppetEngine(init, 1);
    const { getBuiltinModule } = process;
    process.getBuiltinModule = undefined;
    try {
      await asIfOnPage(async () => {
        const weights = ['models/a.gguf', '/b.gguf', 'https://elsewhere.org/c.gguf'];
        void given.engine.loadModel({ weights, config: 'c.json' }).catch(() => undefined);
        await settled();
      }, 'http://localhost:3000/shop/');
    } finally {
      process.getBuiltinModule = getBuiltinModule;
    }
    const [{ weights, config }] = given.ports[0].sent.at(-1).args;
    assert.deepEqual(weights, [
      'http://localhost:3000/shop/models/a.gguf',
      'http://localhost:3000/b.gguf',
      'https://elsewhere.org/c.gguf',
    ]);
    assert.equal(config, 'http://localhost:3000/shop/c.json');
    await given.engine.dispose();
  });

  test('is disposed once, however often it is asked, and of no use then', async () => {
    const given = await puppetEngine(init, 1);
    const tensor = await tensorOf(given, 7);
    const gone = [tensor.dispose(), tensor.dispose()];
    await settled();
    assert.deepEqual(disposed(given), [7]);
    const before = given.ports[0].sent.length;
    const { engine } = given;
    await expectRejects(tensor.toNdArray(), 'Tensor.toNdArray', 'disposed', 'a disposed tensor');
    await expectRejects(engine.gelu(tensor), 'gelu', 'disposed', 'x is a disposed tensor');
    assert.equal(given.ports[0].sent.length, before);
    given.ports[0].answer();
    await Promise.all(gone);
    await engine.dispose();
  });

  test('of another engine is refused, and nothing is sent', async () => {
    const [mine, other] = [await puppetEngine(init, 1), await puppetEngine(init, 1)];
    const tensor = await tensorOf(other, 0);
    const before = mine.ports[0].sent.length;
    const says = 'x is a tensor of another engine';
    await expectRejects(mine.engine.gelu(tensor), 'gelu', 'invalid_argument', says);
    assert.equal(mine.ports[0].sent.length, before);
    await Promise.all([mine.engine.dispose(), other.engine.dispose()]);
  });

  test('that is forgotten is disposed when the collector notices', async () => {
    const given = await puppetEngine(init, 1);
    const kept = await tensorOf(given, 1);
    await tensorOf(given, 2);
    for (let i = 0; i < 50 && disposed(given).length === 0; ++i) {
      collect();
      await settled();
    }
    assert.deepEqual(disposed(given), [2]);
    assert.deepEqual(kept.shape, [2]);
    await given.engine.dispose();
  });
});

test('worker: memory() adds up what every worker says', async () => {
  const { engine, ports } = await puppetEngine(init, 3);
  const asked = engine.memory();
  await settled();
  const said = [1, 10, 100].map((part) => ({
    ...{ heapBytes: 3 * part, usedBytes: 2 * part, handles: part },
  }));
  ports.forEach((port, i) => port.answer({ value: said[i] }));
  assert.deepEqual(await asked, { heapBytes: 333, usedBytes: 222, handles: 111 });
  await engine.dispose();
});

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
