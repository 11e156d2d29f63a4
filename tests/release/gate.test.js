// The gate of speed: what fails it, and that the kernels of the last release, which are kept, can be timed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { describe, test } from 'node:test';
import { LIMIT, REPEATS, gateCases, judge, variants } from '../../bench/gate.js';
import { loadKernels } from '../../bench/kernels.js';
import { root } from '../support/js/files.js';

/** Ratios one after the other. */
const telling = (...ratios) => {
  const rest = [...ratios];
  return async () => rest.shift();
};

describe('gate: a kernel', () => {
  test('is slow after three repeats below 0.9 of the release', async () => {
    assert.deepEqual([LIMIT, REPEATS], [0.9, 3]);
    const { ratios, slow } = await judge(telling(0.8, 0.89, 0.85, 1));
    assert.equal(slow, true);
    assert.deepEqual(ratios, [0.8, 0.89, 0.85]);
  });

  test('is not slow when one of the repeats reaches 0.9, and is timed no more', async () => {
    assert.deepEqual(await judge(telling(0.8, 0.9, 0.1)), { ratios: [0.8, 0.9], slow: false });
    assert.deepEqual(await judge(telling(1.3)), { ratios: [1.3], slow: false });
  });
});

test('gate: the kernels that are kept run every case with numbers that are finite', async () => {
  setFlagsFromString('--experimental-wasm-relaxed-simd');
  for (const variant of variants) {
    const path = join(root, `bench/results/gate/kernels-${variant}.wasm`);
    const core = await loadKernels(readFileSync(path));
    for (const { name, make } of gateCases) {
      const { run, output } = make(core);
      run();
      const numbers = output();
      assert.ok(numbers.every(Number.isFinite), `${variant}, ${name}`);
      assert.ok(
        numbers.some((x) => x !== 0),
        `${variant}, ${name}`,
      );
    }
  }
});
