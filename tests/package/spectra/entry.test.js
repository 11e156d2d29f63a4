// @build any
// qkv/spectra as an entry: its .wasm file, its options, memory and errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as qkv from 'qkv';
import * as entry from 'qkv/spectra';
import { randomArray } from '../../support/js/arrays.js';
import { expectQkvError, expectRejects, expectSame, expectThrows } from '../../support/js/check.js';
import { read, wasmFile } from '../../support/js/files.js';
import { initWithin } from '../../support/js/small-memory.js';

const file = () => read('dist/qkv-spectra-simd.wasm');
const [left, right] = [randomArray([6, 2], 1), randomArray([2, 6], 2)];

test('spectra: what every entry exports is the same', () => {
  for (const name of ['QkvError', 'array', 'random', 'toNested', 'zeros']) {
    assert.equal(entry[name], qkv[name], name);
  }
});

test('spectra: an engine says what it is, has no operators of qkv, and gives its memory back', async () => {
  const spectra = await entry.init();
  const { variant, isa, threads } = spectra.info;
  assert.deepEqual([variant, isa, threads], ['simd', 'wasm-simd128', 1]);
  assert.equal(spectra.softmax, undefined);
  spectra.pca(randomArray([4, 3], 3));
  assert.ok(spectra.memory().heapBytes > 0);
  spectra.dispose();
  for (const call of [() => spectra.effectiveRank(left, right), () => spectra.memory()]) {
    assert.throws(call, { code: 'disposed' });
  }
  spectra.dispose();
});

test('spectra: calls of init() share a module, and the last one drops it', async () => {
  const [one, other] = await Promise.all([entry.init(), entry.init()]);
  const expected = one.effectiveRank(left, right);
  one.dispose();
  expectSame(other.effectiveRank(left, right).data, expected.data);
  other.dispose();
});

test('spectra: a .wasm may be given, and is told from those of other entries', async () => {
  const spectra = await entry.init({ wasm: file(), shared: false });
  spectra.dispose();
  for (const [init, wasm, ...says] of [
    [entry.init, wasmFile('simd'), 'the .wasm is qkv,', 'expected qkv-spectra-simd.wasm'],
    [qkv.init, file(), 'the .wasm is qkv-spectra,', 'expected qkv-simd.wasm or qkv-relaxed.wasm'],
  ]) {
    const error = await init({ wasm }).catch((reason) => reason);
    expectQkvError(error, 'init', 'load_failed', ...says);
  }
});

test('spectra: init() refuses options that it has not', async () => {
  for (const name of ['variant', 'threads', 'deterministic']) {
    await expectRejects(entry.init({ [name]: 1 }), 'init', 'invalid_argument', name);
  }
});

test('spectra: a tensor of an engine of qkv is refused, and its copy is taken', async () => {
  const [spectra, engine] = await Promise.all([entry.init(), qkv.init()]);
  const tensor = engine.tensor(left.shape, left.data);
  expectThrows(
    () => spectra.effectiveRank(tensor, right),
    'effectiveRank',
    'invalid_argument',
    'left is a tensor of another engine',
  );
  const copied = spectra.effectiveRank(tensor.toNdArray(), right);
  expectSame(copied.data, spectra.effectiveRank(left, right).data);
  [spectra, engine].forEach((each) => each.dispose());
});

test('spectra: where memory runs out the error is typed, and it stays usable', async () => {
  const spectra = await initWithin(64, { wasm: file() }, entry.init);
  const expected = spectra.effectiveRank(left, right);
  const large = randomArray([900, 700], 4);
  for (const call of [
    () => spectra.pca(large),
    () => spectra.singularValues(large, large, { transposed: true }),
    () => spectra.effectiveRank(large, large, { transposed: true }),
    () => spectra.eigenvalues(large, large, { transposed: true }),
  ]) {
    assert.throws(call, { name: 'QkvError', code: 'out_of_memory' });
    expectSame(spectra.effectiveRank(left, right).data, expected.data);
  }
  spectra.dispose();
});
