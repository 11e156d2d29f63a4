// init(): every option that makes no sense is named. And QkvError itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init, QkvError } from 'qkv';
import { notBooleans } from './support/bad-arrays.js';
import { expectRejects, expectThrows } from './support/check.js';
import { wasmFile } from './support/files.js';

const refuses = async (options, ...says) => {
  // A promise, whatever is wrong: nobody has to catch twice.
  let promise;
  assert.doesNotThrow(() => (promise = init(options)));
  await expectRejects(promise, 'init', 'invalid_argument', ...says);
};

for (const [value, was] of [
  [null, 'null'],
  [3, '3'],
  ['simd', '"simd"'],
  [[], 'an array'],
]) {
  test(`${was} for options is refused`, () => refuses(value, `options is ${was}`, 'an object'));
}

test('an unknown option is refused, and the known ones are told', () =>
  refuses({ threads: 2 }, "'threads'", 'variant, deterministic, wasm'));

for (const [value, was] of [
  ['SIMD', '"SIMD"'],
  ['relaxed-threads', '"relaxed-threads"'],
  [null, 'null'],
  [1, '1'],
]) {
  test(`variant: ${was} is refused`, () =>
    refuses({ variant: value }, `variant is ${was}`, "'auto' or 'relaxed' or 'simd'"));
}

for (const [value, was] of notBooleans) {
  test(`deterministic: ${was} is refused`, () =>
    refuses({ deterministic: value }, `deterministic is ${was}`, 'a boolean'));
}

test('relaxed and deterministic contradict each other, wherever they are asked for', () =>
  refuses({ variant: 'relaxed', deterministic: true }, "'relaxed'", 'deterministic'));

for (const [value, was] of [
  [null, 'null'],
  [3, '3'],
  [true, 'true'],
  [() => 1, 'a function'],
  [Symbol('s'), 'a symbol'],
  [{}, 'Object'],
  [[], 'an array'],
  [Promise.resolve(3), '3'],
]) {
  test(`wasm: ${value instanceof Promise ? 'a promise of ' : ''}${was} is refused`, () =>
    refuses({ wasm: value }, `wasm is ${was}`, 'a URL, bytes, a WebAssembly.Module or a Response'));
}

test('everything of a disposed engine is refused by name', async () => {
  const gone = await init({ wasm: wasmFile('simd') });
  gone.dispose();
  const calls = {
    tensor: () => gone.tensor([1]),
    sinusoidalEncoding: () => gone.sinusoidalEncoding(1, 2),
    sinusoidalShift: () => gone.sinusoidalShift(1, 2),
    memory: () => gone.memory(),
  };
  for (const [fn, call] of Object.entries(calls)) {
    expectThrows(call, fn, 'disposed', 'the engine is disposed');
  }
  assert.equal(gone.info.variant, 'simd');
});

test('QkvError is an Error with a code, a message and a cause', () => {
  const cause = new Error('why');
  const error = new QkvError('out_of_range', 'f: x is 1, expected 2', { cause });
  assert.ok(error instanceof Error);
  const { name, code, message } = error;
  assert.deepEqual(
    [name, code, message, error.cause],
    ['QkvError', 'out_of_range', 'f: x is 1, expected 2', cause],
  );
});
