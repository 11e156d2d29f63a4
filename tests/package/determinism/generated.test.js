// @build any
// What models generate has the hashes of the native test: here in Node. That Chromium, Firefox and any number of threads give
// the same bits as Node is for determinism.test.js.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { text } from '../../support/js/files.js';
import { Hash } from '../train/run-200.js';
import { generated, generations } from './generation.js';

/** The table of the native test, by the names that the package has for the formats. */
const native = Array.from(
  text('tests/core/language_model_generation_test.cpp').matchAll(
    /\{"(\w+)", WeightFormat::k(\w+), CacheFormat::k(\w+), 0x([0-9A-F]{16})U\}/g,
  ),
  ([, model, weights, cache, hash]) => [
    [model, weights, cache].join(' ').toLowerCase(),
    hash.toLowerCase(),
  ],
);

test('generation: the package gives the hashes of the native test', async () => {
  assert.deepEqual(
    native.map(([name]) => name),
    generations.map((each) => each.join(' ')),
  );
  const engine = await init({ variant: 'simd', shared: false });
  const found = Object.entries(await generated(engine)).map(([name, parts]) => {
    const hash = new Hash();
    for (const { data } of Object.values(parts)) hash.add(new Uint8Array(data.buffer));
    return [name, hash.hex];
  });
  engine.dispose();
  assert.deepEqual(found, native);
});
