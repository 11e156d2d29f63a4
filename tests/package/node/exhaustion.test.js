// @build any
// Memory that runs out in the middle of a call, at every place where it may: a typed error, nothing changed,
// nothing lost, and the next call right. A hole of k bytes is all that is left, and k grows until the call fits.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { arraysOf, bitsOf, expectTyped } from '../fuzz/support/outcome.js';
import { spoil } from '../fuzz/support/spoil.js';
import { targets } from '../fuzz/support/targets.js';
import { World } from '../fuzz/support/world.js';
import { filled, randomArray, zeros } from '../../support/js/arrays.js';
import { expectClose, expectThrows } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import * as oracle from '../../support/js/oracle.js';
import { initWithin, leave } from '../../support/js/small-memory.js';

const wasm = await WebAssembly.compile(wasmFile('simd'));
const roomy = await init({ deterministic: true });

const namesOf = { set: 'Tensor.set' };
for (const name of ['append', 'truncate', 'keys']) namesOf[name] = `KvCache.${name}`;

const attempt = (method, of, args) => {
  try {
    return { result: of[method](...args) };
  } catch (error) {
    return { error };
  }
};

/** What is said of the memory once all is given back. */
const rest = ({ usedBytes, handles }) => `${usedBytes} bytes, ${handles} handles`;

/**
 * One call with `hole` bytes left in 4 MB, and once more with room; the bytes that could not be allocated, or undefined
 * if the call fitted. `expected` is the result as bits, and the memory afterwards.
 */
async function starve(target, hole, expected) {
  const engine = await initWithin(64, { wasm });
  const world = new World(
    () => engine,
    () => roomy,
  );
  const plain = new World(
    () => roomy,
    () => roomy,
  );
  try {
    const { args, of = engine } = spoil(target, [], world, plain);
    const held = await world.held();
    const { handles } = engine.memory();
    const release = leave(engine, hole);
    const { result, error } = attempt(target.method, of, args);
    const memory = engine.memory();
    if (error) {
      expectTyped(error, namesOf[target.method] ?? target.method);
      assert.equal(error.code, 'out_of_memory', error.message);
      const again = attempt(target.method, of, args);
      // Which block is the one that does not fit may differ: the first call may have left the free memory in other pieces.
      expectTyped(again.error, namesOf[target.method] ?? target.method);
      assert.equal(again.error.code, 'out_of_memory', again.error.message);
      assert.deepEqual(engine.memory(), memory, 'memory() after the same again');
    }
    release();
    if (error) {
      assert.equal(await world.held(), held, 'what handles hold');
      assert.equal(engine.memory().handles, handles, 'handles');
    }
    const late = error ? attempt(target.method, of, args) : { result };
    if (late.error) throw late.error;
    const bits = bitsOf(await arraysOf(late.result));
    assert.equal(`${bits}\n${await world.held()}`, expected.bits);
    world.giveBack();
    if (expected.rest) assert.equal(rest(engine.memory()), expected.rest);
    else expected.rest = rest(engine.memory());
    return error?.message.match(/[\d.]+ bytes|an object/)?.[0];
  } finally {
    plain.giveBack();
    engine.dispose();
  }
}

/** What the call gives where there is room. */
async function expectedOf(target) {
  const world = new World(
    () => roomy,
    () => roomy,
  );
  const second = new World(
    () => roomy,
    () => roomy,
  );
  const { args, of = roomy } = spoil(target, [], world, second);
  const bits = bitsOf(await arraysOf(of[target.method](...args)));
  const text = { bits: `${bits}\n${await world.held()}` };
  world.giveBack();
  second.giveBack();
  return text;
}

describe('out of memory: a hole of k bytes', () => {
  let [failed, fitted] = [0, 0];
  const places = new Set();

  for (const target of targets) {
    test(`${target.name}`, async () => {
      const expected = await expectedOf(target);
      await starve(target, 2 ** 17, expected);
      let done = 0;
      // Sizes are multiples of 64, and so are the steps, which grow with k.
      for (let hole = 0; done < 2 && hole < 2 ** 17; hole += 64 * Math.ceil((hole + 1) / 1024)) {
        const lacking = await starve(target, hole, expected);
        if (lacking === undefined) {
          fitted += 1;
          done += 1;
          continue;
        }
        failed += 1;
        places.add(`${target.name}: ${lacking}`);
        done = 0;
        // What does not fit into a hole of its own size fails again until then, at the same place.
        const bytes = 64 * Math.floor(parseFloat(lacking) / 64);
        if (bytes > hole + 64) hole = bytes - 64;
      }
      assert.ok(done > 0, 'it fits in the end');
    });
  }

  test('allocations did fail', (t) => {
    t.diagnostic(
      `${failed} calls failed at ${places.size} different allocations, ${fitted} fitted`,
    );
    assert.ok(places.size > targets.length, `${places.size}`);
  });
});

describe('out of memory: sizes that 32 bits do not hold', () => {
  const half = 2 ** 16;
  const calls = {
    kvCache: () => roomy.kvCache({ batch: half, numKvHeads: half, capacity: 1, dK: 1 }),
    sinusoidalEncoding: () => roomy.sinusoidalEncoding(2 ** 20, 2 ** 12),
    sinusoidalShift: () => roomy.sinusoidalShift(1, 2 ** 31 - 1),
    alibiSlopes: () => roomy.alibiSlopes(2 ** 31 - 1),
    t5RelativeBias: () => roomy.t5RelativeBias(zeros([32, 1]), half, half),
    learnedEncoding: () =>
      roomy.learnedEncoding(zeros([1, 2 ** 12]), 2 ** 20, { outOfRange: 'clamp' }),
    embedding: () => roomy.embedding(zeros([1, 2 ** 12]), new Int32Array(2 ** 20)),
    attention: () =>
      roomy.attention(zeros([2 ** 20, 1]), zeros([2 ** 12, 1]), zeros([2 ** 12, 1]), {
        ...{ numHeads: 1, returnWeights: true },
      }),
  };
  for (const [fn, call] of Object.entries(calls)) {
    test(`${fn}: refused`, () => {
      const { handles } = roomy.memory();
      expectThrows(call, fn, 'out_of_memory');
      assert.equal(roomy.memory().handles, handles);
    });
  }

  test('a cache of 2^32 and a few places more is refused as well', () => {
    // In each of 2^18 heads room for the first 64 tokens.
    for (const dK of [2 ** 8, 2 ** 8 + 1, 2 ** 9]) {
      const options = { batch: 2 ** 9, numKvHeads: 2 ** 9, capacity: 2 ** 17, dK };
      expectThrows(() => roomy.kvCache(options), 'kvCache', 'out_of_memory');
    }
  });

  test('2^20 queries are computed', () => {
    const rows = 2 ** 20;
    const q = filled([rows, 2], (i) => ((i * 7919) % 1024) / 512 - 1);
    const [k, v] = [randomArray([5, 2], 1), randomArray([5, 2], 2)];
    const { output } = roomy.attention(q, k, v, { numHeads: 1 });
    for (const from of [0, 65_535, 2 ** 19, rows - 3]) {
      const part = { data: q.data.subarray(2 * from, 2 * from + 6), shape: [3, 2] };
      const exact = oracle.attention(part, k, v, { numHeads: 1 }).output;
      expectClose(output.data.subarray(2 * from, 2 * from + 6), exact.data, exact.bound);
    }
  });

  test('2^20 keys are read', () => {
    const keys = 2 ** 20;
    // All scores are 0 but that of the last key, which has the whole weight.
    const k = filled([keys, 1], (i) => (i === keys - 1 ? 1 : 0));
    const v = filled([keys, 1], (i) => (i === keys - 1 ? 3 : 1));
    const query = filled([1, 1], () => 1000);
    const { output, lse } = roomy.attention(query, k, v, { numHeads: 1, returnLse: true });
    assert.deepEqual([output.data[0], lse.data[0]], [3, 1000]);
    const far = roomy.attention(query, k, v, { numHeads: 1, causal: true, causalOffset: keys - 2 });
    assert.equal(far.output.data[0], 1);
  });
});
