// @build each
// qkv/inline: what qkv is, with the .wasm files in the module.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as qkv from 'qkv';
import * as inline from 'qkv/inline';
import { expectSame } from '../../support/js/check.js';
import { compute } from '../../support/js/compute.js';
import { expectedVariant, foreignWasm, packageJson, wasmFile } from '../../support/js/files.js';
import { resultOf } from '../../support/js/node.js';

/** With the QkvError of this entry, which is not the class that qkv exports. */
const refuses = (promise, code, message) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof inline.QkvError);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });

test('inline: it exports the same names', () => {
  assert.deepEqual(Object.keys(inline).sort(), Object.keys(qkv).sort());
});

test('inline: it picks the build that qkv picks, and says the same of itself', async () => {
  const { info } = await inline.init();
  assert.deepEqual(info, (await qkv.init()).info);
  assert.equal(info.variant, expectedVariant);
  assert.equal(info.version, packageJson.version);
});

for (const variant of expectedVariant === 'relaxed' ? ['simd', 'relaxed'] : ['simd']) {
  test(`inline: variant '${variant}' computes the same bits as qkv does`, async () => {
    const actual = compute(await inline.init({ variant }));
    const expected = compute(await qkv.init({ variant }));
    for (const [name, { data }] of Object.entries(expected)) {
      expectSame(actual[name].data, data, name);
    }
  });
}

test('inline: it reads no file and fetches nothing', async () => {
  const variant = await resultOf(
    [],
    `const refuse = () => { throw new Error('asked for a file'); };
    globalThis.fetch = refuse;
    process.getBuiltinModule = refuse;
    const { init } = await import('qkv/inline');
    console.log(JSON.stringify((await init()).info.variant));`,
  );
  assert.equal(variant, 'simd');
});

test('inline: a .wasm that is given goes before its own', async () => {
  const engine = await inline.init({ wasm: wasmFile('simd') });
  assert.equal(engine.info.variant, 'simd');
  engine.dispose();
  const message = /^init: the \.wasm is not of this package/;
  await refuses(inline.init({ wasm: foreignWasm }), 'load_failed', message);
});

test('inline: its options are checked alike', async () => {
  await refuses(inline.init({ variant: 'fast' }), 'invalid_argument', /^init: variant is "fast"/);
});

test('inline: concurrent calls share one engine, which is not that of qkv', async () => {
  const [one, two, other] = await Promise.all([inline.init(), inline.init(), qkv.init()]);
  const before = [two, other].map((engine) => engine.memory().usedBytes);
  const tensor = one.tensor([1000]);
  const after = [two, other].map((engine) => engine.memory().usedBytes);
  tensor.dispose();
  assert.ok(after[0] - before[0] >= 4000, 'the memory of one is that of the other');
  assert.equal(after[1], before[1]);
});
