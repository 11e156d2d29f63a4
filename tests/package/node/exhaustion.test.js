// @build any
// Memory that runs out in the middle of a call, at every place where it may: a typed error, nothing changed,
// nothing lost, and the next call right.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { arraysOf, bitsOf } from '../fuzz/support/outcome.js';
import { spoil } from '../fuzz/support/spoil.js';
import { targets } from '../fuzz/support/targets.js';
import { World } from '../fuzz/support/world.js';
import { filled, randomArray, zeros } from '../../support/js/arrays.js';
import { expectClose, expectThrows } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import * as oracle from '../../support/js/oracle.js';
import { initWithin } from '../../support/js/small-memory.js';
import { pages, starve } from '../../support/js/starve.js';

const roomy = await init({ deterministic: true });
const engine = await initWithin(pages, { wasm: wasmFile('simd') });
after(() => engine.dispose());

/** A call of a target: what it returned is looked at when there is room again. */
const scenarioOf = (target) => ({
  fns: [target.says],
  allocatesNothing: ['set', 'truncate'].includes(target.method),
  prepare() {
    const [world, plain] = [engine, roomy].map(
      (own) =>
        new World(
          () => own,
          () => roomy,
        ),
    );
    const { args, of = engine } = spoil(target, [], world, plain);
    let result;
    return {
      call() {
        result = of[target.method](...args);
        return '';
      },
      state: async () => `${bitsOf(await arraysOf(result))} ${await world.held()}`,
      dispose: () => [world, plain].forEach((each) => each.giveBack()),
    };
  },
});

describe('out of memory: a hole of k bytes', () => {
  let [failed, places] = [0, 0];

  for (const target of targets) {
    test(target.name, async () => {
      const found = await starve(engine, scenarioOf(target));
      [failed, places] = [failed + found.failed, places + found.places.size];
    });
  }

  test('allocations did fail', (t) => {
    t.diagnostic(`${failed} calls failed at ${places} different allocations`);
    assert.ok(places > targets.length, `${places}`);
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
