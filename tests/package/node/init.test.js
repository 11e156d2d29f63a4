// @build each
// init(): which build is loaded, how often, and what the engine says of itself.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { init, QkvError } from 'qkv';
import { problem } from '../../support/js/arrays.js';
import { expectRejects, expectSame, expectThrows, shareMemory } from '../../support/js/check.js';
import { expectedVariant, packageJson, withVersion, wasmFile } from '../../support/js/files.js';

const isaOf = { relaxed: 'wasm-relaxed-simd', simd: 'wasm-simd128' };

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

test('init: concurrent and later calls share one load and one memory', async () => {
  const [first, second] = await Promise.all([init({ variant: 'simd' }), init({ variant: 'simd' })]);
  assert.notEqual(first, second);
  assert.ok(shareMemory(first, second));
  assert.ok(shareMemory(first, await init({ variant: 'simd', deterministic: false })));
  const tensor = first.tensor([3], [1, 2, 3]);
  expectSame(second.gelu(tensor).data, first.gelu(tensor).data);
});

test("init: variant 'auto' is the default", async () => {
  assert.ok(shareMemory(await init({ variant: 'auto' }), await init()));
});

test('init: dispose() ends one engine and what it made, and leaves the others alive', async () => {
  const options = { wasm: wasmFile('simd') };
  const [one, other] = await Promise.all([init(options), init(options)]);
  const [mine, theirs] = [one.tensor([2]), other.tensor([2], [1, 2])];
  const before = other.memory().usedBytes;
  one.dispose();
  one.dispose();
  assert.ok(other.memory().usedBytes < before, 'what it made is given back');
  assert.throws(() => one.gelu(theirs), { code: 'disposed' });
  assert.throws(() => mine.view(), { code: 'disposed' });
  assert.throws(() => other.gelu(mine), { code: 'disposed' });
  assert.deepEqual([...theirs.view()], [1, 2]);
  assert.equal(other.gelu(theirs).data.length, 2);
  assert.equal(other.memory().handles, 1);
  const later = await init(options);
  assert.ok(shareMemory(later, other));
  other.dispose();
  assert.equal(later.gelu(later.tensor([2])).data.length, 2);
  later.dispose();
  const anew = await init(options);
  assert.equal(anew.memory().handles, 0);
  anew.dispose();
});

test('init: shared: false is an engine with memory of its own', async () => {
  const options = { wasm: wasmFile('simd') };
  const shared = await init(options);
  const own = await init({ ...options, shared: false });
  assert.ok(!shareMemory(own, shared));
  assert.ok(shareMemory(await init(options), shared));
  assert.throws(() => shared.gelu(own.tensor([1])), { code: 'invalid_argument' });
  own.dispose();
  assert.equal(shared.gelu(shared.tensor([1])).data.length, 1);
});

test('init: the functions of an engine need no this, and `using` disposes it', async () => {
  const engine = await init({ shared: false });
  const {
    tensor,
    gelu,
    memory,
    dispose,
    [Symbol.dispose ?? Symbol.for('Symbol.dispose')]: end,
  } = engine;
  assert.equal(gelu(tensor([2])).data.length, 2);
  assert.equal(memory().handles, 1);
  assert.equal(typeof dispose, 'function');
  end();
  assert.throws(() => memory(), { code: 'disposed' });
});

test('init: the same URL is the same memory, as text or as an object', async () => {
  const url = new URL('../../../dist/qkv-simd.wasm', import.meta.url);
  const engine = await init({ wasm: url });
  assert.ok(shareMemory(engine, await init({ wasm: new URL(url) })));
  assert.ok(shareMemory(engine, await init({ wasm: url.href })));
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
  assert.ok(shareMemory(await init(), engine));
});

test('init: a failed load is forgotten and may be tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-again-'));
  try {
    const wasm = pathToFileURL(join(folder, 'late.wasm'));
    await expectRejects(init({ wasm }), 'init', 'load_failed', wasm.href);
    writeFileSync(wasm, wasmFile('simd'));
    const engine = await init({ wasm });
    assert.equal(engine.info.variant, 'simd');
    engine.dispose();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('init: concurrent calls share one failure', async () => {
  const bytes = withVersion('9.9.9', wasmFile('simd'));
  const [first, second] = [init({ wasm: bytes }), init({ wasm: bytes })];
  const errors = await Promise.all([first, second].map((load) => load.catch((error) => error)));
  assert.equal(errors[0], errors[1]);
  await expectRejects(first, 'init', 'load_failed', '9.9.9');
});

test('init: after dispose() the same options make a new engine', async () => {
  const options = { wasm: wasmFile('simd') };
  const { q, k, v } = problem();
  const old = await init(options);
  const result = old.attention(q, k, v);
  const tensor = old.tensor([2 ** 22]);
  old.dispose();
  old.dispose();
  const engine = await init(options);
  assert.notEqual(engine, old);
  assert.ok(engine.memory().heapBytes < 2 ** 24, 'memory of its own, which has not grown');
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
  assert.ok(shareMemory(await init(options), engine));
  engine.dispose();
});

test('init: QkvError is an Error with a code, a message and a cause', () => {
  const cause = new Error('why');
  const error = new QkvError('out_of_range', 'f: x is 1, expected 2', { cause });
  assert.ok(error instanceof Error);
  const { name, code, message } = error;
  assert.deepEqual(
    [name, code, message, error.cause],
    ['QkvError', 'out_of_range', 'f: x is 1, expected 2', cause],
  );
});
