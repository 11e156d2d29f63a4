// @build each
// init(): which build is loaded, how often, and what the engine says of itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { problem } from '../../support/js/arrays.js';
import { expectRejects, expectSame, expectThrows } from '../../support/js/check.js';
import { expectedVariant, packageJson, withVersion, wasmFile } from '../../support/js/files.js';

const isaOf = { relaxed: 'wasm-relaxed-simd', simd: 'wasm-simd128' };

test('init: the default is the fastest build that this engine validates', async () => {
  assert.ok(['relaxed', 'simd'].includes(expectedVariant));
  assert.equal((await init()).info.variant, expectedVariant);
});

test("init: variant 'auto' is the default", () => {
  assert.equal(init({ variant: 'auto' }), init());
});

test('init: deterministic never loads the relaxed build', async () => {
  const { info } = await init({ deterministic: true });
  assert.equal(info.variant, 'simd');
  assert.equal(info.isa, 'wasm-simd128');
});

test('init: deterministic: false is the default', () => {
  assert.equal(init({ deterministic: false }), init());
});

for (const variant of expectedVariant === 'relaxed' ? ['simd', 'relaxed'] : ['simd']) {
  test(`init: variant '${variant}' loads that build`, async () => {
    const { info } = await init({ variant });
    assert.equal(info.variant, variant);
    assert.equal(info.isa, isaOf[variant]);
  });
}

test('init: info tells the version of the package, the instruction set and the one thread', async () => {
  const { info } = await init();
  assert.deepEqual(info, {
    version: packageJson.version,
    variant: expectedVariant,
    threads: 1,
    isa: isaOf[expectedVariant],
  });
  assert.ok(Object.isFrozen(info));
});

test('init: concurrent and later calls share one load and one engine', async () => {
  const first = init({ variant: 'simd' });
  const second = init({ variant: 'simd' });
  assert.equal(first, second);
  const engine = await first;
  assert.equal(await second, engine);
  assert.equal(init({ variant: 'simd', deterministic: false }), first);
});

test('init: the same URL is the same engine, as text or as an object', async () => {
  const url = new URL('../../../dist/qkv-simd.wasm', import.meta.url);
  const engine = await init({ wasm: url });
  assert.equal(await init({ wasm: new URL(url) }), engine);
  assert.equal(await init({ wasm: url.href }), engine);
});

test('init: other options are another engine, with memory of its own', async () => {
  const [one, other] = await Promise.all([init(), init({ wasm: wasmFile('simd') })]);
  assert.notEqual(one, other);
  const before = other.memory();
  const tensor = one.tensor([100_000]);
  assert.deepEqual(other.memory(), before);
  other.dispose();
  tensor.view().fill(1);
  assert.equal(one.memory().handles, 1);
  tensor.dispose();
});

test("init: the text 'undefined' is a URL and not a missing option", async () => {
  const engine = await init();
  await expectRejects(init({ wasm: 'undefined' }), 'init', 'load_failed', 'undefined');
  assert.equal(await init(), engine);
});

test('init: a failed load is forgotten and may be tried again', async () => {
  const missing = new URL('./no-such-folder/qkv-simd.wasm', import.meta.url);
  const first = init({ wasm: missing });
  await expectRejects(first, 'init', 'load_failed', missing.href);
  const second = init({ wasm: missing });
  assert.notEqual(second, first);
  await expectRejects(second, 'init', 'load_failed');
});

test('init: concurrent calls share one failure', async () => {
  const bytes = withVersion('9.9.9', wasmFile('simd'));
  const [first, second] = [init({ wasm: bytes }), init({ wasm: bytes })];
  assert.equal(first, second);
  await expectRejects(first, 'init', 'load_failed', '9.9.9');
});

test('init: after dispose() the same options make a new engine', async () => {
  const options = { wasm: wasmFile('simd') };
  const { q, k, v } = problem();
  const old = await init(options);
  const result = old.attention(q, k, v);
  const tensor = old.tensor([3]);
  old.dispose();
  old.dispose();
  const engine = await init(options);
  assert.notEqual(engine, old);
  assert.deepEqual(engine.memory().handles, 0);
  expectSame(engine.attention(q, k, v).output.data, result.output.data);
  expectThrows(() => old.attention(q, k, v), 'attention', 'disposed');
  tensor.dispose();
  assert.equal(engine.memory().handles, 0);
  engine.dispose();
});

test('init: disposing an engine late does not forget the one that took its place', async () => {
  const options = { wasm: wasmFile('simd') };
  const old = await init(options);
  old.dispose();
  const engine = await init(options);
  old.dispose();
  assert.equal(await init(options), engine);
  engine.dispose();
});
