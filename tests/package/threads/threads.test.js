// @build each
// Engines with threads in Node: bit for bit the results of one thread, owned by JavaScript.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { problem, randomArray } from '../../support/js/arrays.js';
import { expectSame, expectSameResult } from '../../support/js/check.js';
import { expectedVariant, wasmFile } from '../../support/js/files.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { sharedCalls, sleep } from '../../support/js/shared-calls.js';

if (!full) leaveToFullRun('two and eight threads');

/** Each build with one thread, beside the one with several. */
const families = expectedVariant === 'relaxed' ? ['simd', 'relaxed'] : ['simd'];

for (const family of families) {
  describe(`threads: ${family}-threads, bit for bit as ${family}`, async () => {
    const single = await init({ variant: family });
    const expected = sharedCalls(single);
    assert.ok(Object.keys(expected).length > 30);

    for (const threads of full ? [2, 3, 8] : [3]) {
      test(`with ${threads} threads, at once, many times and after they slept`, async (t) => {
        const engine = await init({ variant: `${family}-threads`, threads });
        t.after(() => engine.dispose());
        assert.equal(engine.info.threads, threads);
        assert.equal(engine.info.isa, single.info.isa);
        for (let round = 0; round < 8; ++round) {
          // Code that sleeps and wakes up is compiled anew meanwhile: the first rounds run other code.
          if (round % 2 === 1) await sleep();
          expectSameResult(sharedCalls(engine), expected);
        }
      });
    }
  });
}

describe('threads: an engine with threads', async () => {
  const engine = await init({ deterministic: true, threads: 2 });
  after(() => engine.dispose());

  /** Whether an array's memory belongs to JavaScript alone: it can then be given away. */
  function expectOwned(data, name) {
    assert.ok(data.buffer instanceof ArrayBuffer, `${name} is in ${data.buffer.constructor.name}`);
    const copy = data.slice();
    const moved = structuredClone(data, { transfer: [data.buffer] });
    assert.equal(data.length, 0, `${name} was transferred`);
    expectSame(moved, copy, name);
  }

  test('returns arrays that belong to JavaScript and can be transferred', () => {
    for (const [name, { data }] of Object.entries(sharedCalls(engine))) expectOwned(data, name);
    const tensor = engine.tensor([3], [1, 2, 3]);
    assert.ok(tensor.view().buffer instanceof SharedArrayBuffer);
    expectOwned(tensor.toNdArray().data, 'toNdArray()');
    tensor.dispose();
    const { weights } = engine.attention(...Object.values(problem()), { returnWeights: true });
    for (const [name, { data }] of Object.entries(engine.headStatistics(weights))) {
      expectOwned(data, name);
    }
    expectOwned(engine.alibiSlopes(8), 'alibiSlopes');
  });

  test('takes arrays in shared memory, its own included', () => {
    const { q, k, v } = problem({ tq: 90, dK: 32 });
    const expected = engine.attention(q, k, v).output;
    const shared = new Float32Array(new SharedArrayBuffer(q.data.byteLength));
    shared.set(q.data);
    const held = engine.tensor(k.shape, k.data);
    const inside = { data: held.view(), shape: k.shape };
    expectSame(engine.attention({ ...q, data: shared }, inside, v).output.data, expected.data);
    const out = engine.tensor(expected.shape);
    engine.attention(q, held, v, { out });
    expectSame(out.view(), expected.data);
    out.dispose();
    held.dispose();
  });

  test('reports errors as one without does, and goes on', () => {
    const { q, k, v } = problem({ tq: 90, dK: 32 });
    const { output } = engine.attention(q, k, v);
    const wrong = { ...k, shape: [2, 4, 45, 64] };
    assert.throws(() => engine.attention(q, wrong, v), { code: 'shape_mismatch' });
    assert.throws(() => engine.attention(q, k, v, { softcap: -1 }), /softcap is -1.*expected/);
    expectSame(engine.attention(q, k, v).output.data, output.data);
  });
});

describe('threads: memory that grows while there are threads', () => {
  /** A tensor larger than all the memory there was. */
  const grow = (engine) => {
    const before = engine.memory().heapBytes;
    const tensor = engine.tensor([Math.ceil((before + 2 ** 20) / 4)]);
    assert.ok(engine.memory().heapBytes > before, 'memory grew');
    return tensor;
  };

  test('they work in what was added, awake or asleep', async (t) => {
    const expected = sharedCalls(await init({ variant: 'simd' }));
    const wasm = wasmFile('simd-threads');
    const engine = await init({ wasm, threads: 3 });
    t.after(() => engine.dispose());
    const kept = engine.tensor([5], [1, 2, 3, 4, 5]);
    for (const rest of [0, 150, 0, 150]) {
      if (rest) await sleep(rest);
      const stale = kept.view();
      const block = grow(engine);
      // All of what the call reads, and where it writes, lies in what was added.
      const { q, k, v } = problem({ batch: 1, heads: 2, tq: 300, dK: 32, seed: rest });
      const out = engine.tensor(q.shape);
      const tensors = [q, k, v].map(({ shape, data }) => engine.tensor(shape, data));
      engine.attention(...tensors, { out, causal: true });
      const single = await init({ variant: 'simd' });
      expectSame(out.view(), single.attention(q, k, v, { causal: true }).output.data);
      expectSameResult(sharedCalls(engine), expected);
      // A view of shared memory outlives its growth, and is where it was.
      expectSame(stale, kept.view());
      kept.view()[0] = 7 + rest;
      assert.equal(stale[0], 7 + rest);
      for (const held of [block, out, ...tensors]) held.dispose();
    }
  });

  test('a first call that needs more memory than there is shares it all the same', async (t) => {
    const engine = await init({ wasm: wasmFile('simd-threads'), threads: 2 });
    t.after(() => engine.dispose());
    const before = engine.memory().heapBytes;
    const x = randomArray([1, 3, 900, 64], 3);
    const { output } = engine.attention(x, x, x);
    assert.ok(engine.memory().heapBytes > before);
    const single = await init({ variant: 'simd' });
    expectSame(output.data, single.attention(x, x, x).output.data);
  });
});
