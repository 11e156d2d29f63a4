// @build any
// init(): every option that makes no sense is named. And QkvError itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init, QkvError } from 'qkv';
import { declared } from './bad-input/declarations.js';
import { notBooleans, notNumbers } from '../../support/js/bad-arrays.js';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';

const refusesWith = async (code, options, ...says) => {
  // A promise, whatever is wrong: nobody has to catch twice.
  let promise;
  assert.doesNotThrow(() => (promise = init(options)));
  await expectRejects(promise, 'init', code, ...says);
};
const refuses = (...args) => refusesWith('invalid_argument', ...args);

for (const [value, was] of [
  [null, 'null'],
  [3, '3'],
  ['simd', '"simd"'],
  [[], 'an array'],
]) {
  test(`init: ${was} for options is refused`, () =>
    refuses(value, `options is ${was}`, 'an object'));
}

test('init: an unknown option is refused, and the known ones are told', () =>
  refuses({ thread: 2 }, "'thread'", 'variant, threads, deterministic, wasm'));

for (const [value, was] of [
  ['SIMD', '"SIMD"'],
  ['threads', '"threads"'],
  ['simd-thread', '"simd-thread"'],
  [null, 'null'],
  [1, '1'],
]) {
  const all = "'auto' or 'relaxed' or 'simd' or 'relaxed-threads' or 'simd-threads'";
  test(`init: variant: ${was} is refused`, () =>
    refuses({ variant: value }, `variant is ${was}`, all));
}

const notThreads = [
  ...notNumbers,
  [1.5, '1.5'],
  [NaN, 'NaN'],
  [Infinity, 'Infinity'],
  [{}, 'Object'],
];
for (const [value, was] of [
  ...notThreads,
  ['all', '"all"'],
  ['', '""'],
  [new Number(2), 'Number'],
]) {
  test(`init: threads: ${was} is refused`, () =>
    refuses({ threads: value }, `threads is ${was}`, "from 1 to 64 or 'auto'"));
}

for (const threads of [0, -1, 65, 2 ** 40]) {
  test(`init: threads: ${threads} is refused`, () =>
    refusesWith('out_of_range', { threads }, `threads is ${threads}`, "from 1 to 64 or 'auto'"));
}

for (const variant of ['simd', 'relaxed']) {
  for (const threads of [2, 64, 'auto']) {
    test(`init: variant: '${variant}' and threads: ${threads} contradict each other`, () =>
      refuses(
        { variant, threads },
        ...[`variant is '${variant}'`, 'threads is', String(threads), `'${variant}-threads'`],
      ));
  }
}

for (const [value, was] of notBooleans) {
  test(`init: deterministic: ${was} is refused`, () =>
    refuses({ deterministic: value }, `deterministic is ${was}`, 'a boolean'));
}

for (const [value, was] of notBooleans) {
  test(`init: shared: ${was} is refused`, () =>
    refuses({ shared: value }, `shared is ${was}`, 'a boolean'));
}

for (const variant of ['relaxed', 'relaxed-threads']) {
  test(`init: variant: '${variant}' and deterministic contradict each other`, () =>
    refuses({ variant, deterministic: true }, `'${variant}'`, 'deterministic'));
}

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
  test(`init: wasm: ${value instanceof Promise ? 'a promise of ' : ''}${was} is refused`, () =>
    refuses({ wasm: value }, `wasm is ${was}`, 'a URL, bytes, a WebAssembly.Module or a Response'));
}

test('init: no option of init() is left out here', () => {
  const names = ['variant', 'threads', 'deterministic', 'wasm', 'shared'];
  const options = names.map((name) => `options.${name}`);
  assert.deepEqual([...declared().get('init')].sort(), ['options', ...options].sort());
});

test('init: everything of a disposed engine is refused by name', async () => {
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
