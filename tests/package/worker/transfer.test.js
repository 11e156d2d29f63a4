// @build any
// qkv/worker: arrays that are copied, moved and shared.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as main from 'qkv';
import { init } from 'qkv/worker';
import { randomArray } from '../../support/js/arrays.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { longProblem, overPort } from '../../support/js/workers.js';

const shape = [1, 2, 5, 8];
const fresh = (seed) => randomArray(shape, seed);
const isDetached = ({ data }) => data.buffer.byteLength === 0 && data.length === 0;

describe('worker: arrays', () => {
  let engine;
  let here;
  before(async () => {
    engine = await init();
    here = await main.init();
  });
  after(() => engine.dispose());

  const expected = () => here.attention(fresh(1), fresh(2), fresh(3)).output.data;

  test('are copied unless it is said otherwise', async () => {
    const [q, k, v] = [fresh(1), fresh(2), fresh(3)];
    for (const options of [undefined, {}, { transfer: false }]) {
      expectSame((await engine.attention(q, k, v, options)).output.data, expected());
    }
    [q, k, v].forEach(({ data }, i) => expectSame(data, fresh(i + 1).data));
  });

  test('count as they are at the time of the call, however long it waits', async () => {
    const long = longProblem();
    const q = fresh(1);
    const { signal } = new AbortController();
    const first = engine.attention(long.q, long.k, long.v);
    const second = engine.attention(q, fresh(2), fresh(3), { signal });
    const third = engine.attention(q, fresh(2), fresh(3));
    q.data.fill(9);
    expectSame((await second).output.data, expected());
    expectSame((await third).output.data, expected());
    await first;
  });

  test('are moved if it is said so, at once, and are then empty', async () => {
    const [q, k, v] = [fresh(1), fresh(2), fresh(3)];
    const mask = { data: new Uint8Array(25).fill(1), shape: [5, 5] };
    const call = engine.attention(q, k, v, { mask, transfer: true });
    for (const array of [q, k, v, mask]) assert.ok(isDetached(array));
    expectSame((await call).output.data, expected());
  });

  test('of one buffer are moved once', async () => {
    const x = fresh(1);
    const again = { data: new Float32Array(x.data.buffer), shape };
    const call = engine.attention(x, x, again, { transfer: true });
    assert.ok(isDetached(x) && isDetached(again));
    const { output } = here.attention(fresh(1), fresh(1), fresh(1));
    expectSame((await call).output.data, output.data);
  });

  test('that are part of a buffer are copied, and the rest of it stays', async () => {
    const whole = new Float32Array(240);
    const parts = [1, 2, 3].map((seed, i) => {
      whole.set(fresh(seed).data, 80 * i);
      return { data: whole.subarray(80 * i, 80 * (i + 1)), shape };
    });
    const { output } = await engine.attention(...parts, { transfer: true });
    expectSame(output.data, expected());
    assert.equal(whole.length, 240);
    expectSame(whole.slice(80, 160), fresh(2).data);
  });

  test('of which one is all of the buffer and one a part of it arrive whole', async () => {
    const all = randomArray([2, 40], 4);
    const part = { data: all.data.subarray(40), shape: [1, 40] };
    const own = randomArray([2, 40], 4);
    const want = here.transformerXlBias(
      { data: own.data.slice(40), shape: [1, 1, 1, 40] },
      { data: own.data, shape: [2, 40] },
      { data: own.data.slice(40), shape: [1, 40] },
    );
    const call = engine.transformerXlBias({ data: part.data, shape: [1, 1, 1, 40] }, all, part, {
      transfer: true,
    });
    assert.ok(isDetached(all));
    expectSame((await call).data, want.data);
  });

  test('in shared memory are shared, not copied', async () => {
    const { engine: watched, sent, close } = await overPort();
    const data = new Float32Array(new SharedArrayBuffer(320));
    data.set(fresh(1).data);
    const { output } = await watched.attention({ data, shape }, fresh(2), fresh(3), {
      transfer: true,
    });
    expectSame(output.data, expected());
    const [{ message, transfer }] = sent;
    assert.equal(message.args[0].data.buffer, data.buffer);
    assert.equal(transfer.length, 2);
    assert.equal(data.length, 80);
    await close();
  });

  test('in WebAssembly memory, which cannot be moved, are copied', async () => {
    const tensor = here.tensor(shape, fresh(1).data);
    const data = tensor.view();
    const call = engine.attention({ data, shape }, fresh(2), fresh(3), { transfer: true });
    const memory = new WebAssembly.Memory({ initial: 1 });
    const whole = { data: new Float32Array(memory.buffer), shape: [16384] };
    assert.equal((await engine.gelu(whole, { transfer: true })).data.length, 16384);
    assert.equal(whole.data.length, 16384);
    expectSame((await call).output.data, expected());
    expectSame(tensor.view(), fresh(1).data);
    tensor.dispose();
  });

  test('a call that is refused moves nothing', async () => {
    const x = fresh(1);
    const dead = await engine.tensor(shape);
    await dead.dispose();
    const options = { transfer: true };
    await expectRejects(engine.attention(x, x, dead, options), 'attention', 'disposed');
    await expectRejects(engine.gelu(x, { ...options, mask() {} }), 'gelu', 'invalid_argument');
    assert.equal(x.data.length, 80);
  });

  for (const transfer of [1, 'yes', null, []]) {
    test(`transfer: ${JSON.stringify(transfer)} is refused`, async () => {
      const says = ['transfer is', 'expected a boolean'];
      await expectRejects(engine.gelu(fresh(1), { transfer }), 'gelu', 'invalid_argument', ...says);
    });
  }

  test('plain ones, holes and arrays of other classes are read as on the main thread', async () => {
    const tensor = await engine.tensor([3], [1, 2, 3]);
    assert.deepEqual([...(await tensor.toNdArray()).data], [1, 2, 3]);
    await tensor.set(Uint8Array.of(4, 5, 6));
    assert.deepEqual([...(await tensor.toNdArray()).data], [4, 5, 6]);
    // oxlint-disable-next-line no-sparse-arrays
    const holes = tensor.set([1, , 3]);
    await expectRejects(holes, 'Tensor.set', 'invalid_argument', 'data[1] is undefined');
    await tensor.dispose();
    class Matrix {
      get data() {
        return fresh(1).data;
      }
      get shape() {
        return shape;
      }
    }
    expectSame((await engine.gelu(new Matrix())).data, here.gelu(fresh(1)).data);
    const frozen = Object.freeze({ data: fresh(1).data, shape: Object.freeze(shape) });
    expectSame((await engine.gelu(frozen, Object.freeze({}))).data, here.gelu(fresh(1)).data);
  });
});
