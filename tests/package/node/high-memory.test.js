// @build any
// @alone
// Addresses of 2 GB and more, which are negative for who takes them for signed numbers, and as many parameters.
import assert from 'node:assert/strict';
import { mkdtempSync, openSync, ftruncateSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { problem } from '../../support/js/arrays.js';
import { expectSameResult, expectThrows } from '../../support/js/check.js';
import { everything } from '../../support/js/everything.js';
import { wasmFile } from '../../support/js/files.js';
import { inFullRun } from '../../support/js/full.js';

const low = await init({ deterministic: true });
const high = await init({ wasm: wasmFile('simd') });
const length = 2 ** 29 + 2 ** 20;
const ballast = high.tensor([length, 1]);

test('memory: everything works above 2 GB', async () => {
  assert.ok(high.memory().usedBytes > 2 ** 31);

  // Less the number of handles, as the ballast is one.
  const [actual, expected] = [await everything(high), await everything(low)];
  delete actual.counts;
  delete expected.counts;
  expectSameResult(actual, expected);
  const tensor = high.tensor([3], [1, 2, 3]);
  assert.ok(tensor.view().byteOffset > 2 ** 31);
  tensor.dispose();
  assert.equal(high.memory().handles, 1);
});

test('memory: a weight whose packed form is beyond 4 GB is refused', () => {
  const one = { data: Float32Array.of(1), shape: [1, 1] };
  const config = { dModel: 1, numHeads: 1, dContext: length };
  const weights = { wq: one, wk: ballast, wv: ballast, wo: one };
  const create = () => high.multiHeadAttention(config, weights);
  expectThrows(create, 'multiHeadAttention', 'out_of_memory', 'bytes');
  ballast.dispose();
  assert.equal(high.memory().handles, 0);
  const { q, k, v } = problem();
  expectSameResult(high.attention(q, k, v), low.attention(q, k, v));
});

// Its 3 GB of int8 are zeroed.
inFullRun('a model of more than 2^31 parameters', () => {
  test('LanguageModel.parameterCount: of more than 2^31 numbers', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'qkv-count-'));
    t.after(() => rmSync(folder, { recursive: true }));
    // A checkpoint of llama2.c that is as long as it says, and empty: one layer, and a large embedding.
    const [d, hidden, v, length] = [2 ** 13, 32, 2 ** 18, 16];
    const floats = v * d + 4 * d * d + 3 * hidden * d + 3 * d;
    const weights = join(folder, 'empty.bin');
    const file = openSync(weights, 'w');
    writeSync(file, new Uint8Array(Int32Array.of(d, hidden, 1, 4, 4, v, length).buffer));
    ftruncateSync(file, 28 + 4 * (floats + length * (d / 4)));
    // The count is known before a weight is read, and reading takes long.
    const stop = new AbortController();
    const { defineProperty } = Object;
    let count;
    Object.defineProperty = (of, name, property) => {
      if (name === 'parameterCount') count = property.value;
      return defineProperty(of, name, property);
    };
    try {
      const onProgress = () => stop.abort();
      const options = { format: 'int8', signal: stop.signal, onProgress };
      await assert.rejects(load(low, { weights }, options), { name: 'AbortError' });
    } finally {
      Object.defineProperty = defineProperty;
    }
    assert.ok(floats > 2 ** 31);
    assert.equal(count, floats);
  });
});
