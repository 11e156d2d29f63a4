// @build any
// What ships: small, without surprises, and what its name says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { parse } from 'acorn';
import * as shipped from '../../../tools/shipped.js';
import { packageJson, read, root, text } from '../../support/js/files.js';

const source = text('dist/index.js');
const variants = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];
const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

test('dist: dist holds what ships, and the page', () => {
  const files = readdirSync(join(root, 'dist'), { withFileTypes: true });
  const names = files.filter((entry) => entry.isFile()).map((entry) => entry.name);
  assert.deepEqual(names.sort(), shipped.dist);
});

for (const [name, budget] of Object.entries(shipped.programs)) {
  test(`dist: ${name} is at most ${budget} bytes gzip`, (t) => {
    const size = gzipped(read(`dist/${name}`));
    t.diagnostic(`${name}: ${size} bytes gzip`);
    assert.ok(size > 200 && size <= budget, `${size} bytes`);
  });
}

/** What a script imports: the engine and the class of errors are one for all but qkv/inline, which is one file. */
const beside = {
  'index.js': ['./errors.js'],
  'worker.js': ['./errors.js'],
  'worker-host.js': ['./errors.js', './index.js'],
};
const scripts = Object.keys(shipped.programs).filter((name) => name.endsWith('.js'));
for (const name of scripts) {
  const script = text(`dist/${name}`);

  test(`dist: ${name} evaluates no text and makes no blobs, which strict policies forbid`, () => {
    const forbidden = [/\beval\s*\(/, /\bFunction\s*\(/, /blob:/, /\bBlob\b/, /createObjectURL/];
    for (const word of forbidden) {
      const [found] = word.exec(script) ?? [];
      assert.equal(found, undefined);
    }
  });

  test(`dist: ${name} imports nothing but what is beside it, so that no bundler meets a module of Node`, () => {
    assert.doesNotMatch(script, /\bimport\s*\(/);
    const program = parse(script, { ecmaVersion: shipped.edition, sourceType: 'module' });
    const imports = program.body.filter(
      (node) => /^Import|^ExportAll/.test(node.type) || node.source,
    );
    const sources = new Set(imports.map((node) => node.source.value));
    assert.deepEqual([...sources].sort(), beside[name] ?? []);
  });
}

for (const [name, script] of Object.entries({ worker: 'worker-host', index: 'thread' })) {
  test(`dist: ${name}.js names its worker in the words that bundlers follow, once`, () => {
    const words = new RegExp(
      `new Worker\\(new URL\\(["'\`]\\./${script}\\.js["'\`],\\s*import\\.meta\\.url\\),\\s*\\{\\s*type:\\s*["'\`]module["'\`]`,
      'g',
    );
    assert.equal(text(`dist/${name}.js`).match(words)?.length, 1);
  });
}

test('dist: the class of errors is one for qkv and qkv/worker, and a file of its own', async () => {
  const [{ QkvError }, worker] = await Promise.all([import('qkv'), import('qkv/worker')]);
  assert.equal(worker.QkvError, QkvError);
  const error = await worker.init({ workers: 0 }).catch((reason) => reason);
  assert.equal(error.constructor, QkvError);
});

test('dist: the package says which of its files does something when it is loaded', () => {
  assert.deepEqual(packageJson.sideEffects, ['./dist/thread.js', './dist/worker-host.js']);
});

test('dist: index.js names the .wasm files by literal URLs, which bundlers follow', () => {
  for (const variant of variants) {
    const url = new RegExp(
      `new URL\\(["'\`]\\./qkv-${variant}\\.wasm["'\`],\\s*import\\.meta\\.url\\)`,
    );
    assert.match(source, url);
  }
});

test('dist: inline.js does not ask where it is itself', () => {
  assert.doesNotMatch(text('dist/inline.js'), /import\.meta/);
});

test('dist: the JavaScript names its version and license, and no folder of who built it', () => {
  for (const name of scripts) {
    const banner = `/*! qkv ${packageJson.version}, MIT license */`;
    assert.ok(text(`dist/${name}`).startsWith(banner), name);
  }
  for (const file of Object.keys(shipped.programs)) {
    assert.ok(!read(`dist/${file}`).includes(root), `${file} contains ${root}`);
  }
});

const disassemble = async (variant) => {
  const wasmDis = join(root, 'node_modules/binaryen/bin/wasm-dis');
  const file = join(root, `dist/qkv-${variant}.wasm`);
  const args = [wasmDis, '--all-features', file];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 28 });
  return stdout;
};
const disassembled = await Promise.all(variants.map(disassemble));
const builds = Object.fromEntries(variants.map((variant, i) => [variant, disassembled[i]]));

test('dist: the builds differ: relaxed opcodes are in the relaxed files alone', () => {
  for (const wat of Object.values(builds)) assert.match(wat, /f32x4\.mul/);
  for (const suffix of ['', '-threads']) {
    assert.doesNotMatch(builds[`simd${suffix}`], /relaxed_/);
    assert.match(builds[`relaxed${suffix}`], /f32x4\.relaxed_madd/);
    const others = builds[`relaxed${suffix}`].match(/[a-z0-9]+\.relaxed_(?!madd)\w+/g);
    assert.equal(others, null, 'the probe asks for relaxed_madd alone');
  }
});

for (const [variant, wat] of Object.entries(builds)) {
  const threads = variant.endsWith('-threads');

  test(`dist: the ${variant} build has what its probes ask for and no more`, () => {
    assert.equal(wat.match(/\btry_table\b|\(try\b|\(throw\b|\bstruct\.new/g), null);
    const shared = wat.match(/\w+\.atomic\.\w+|\bshared\b/g);
    if (threads) assert.ok(shared.length > 10);
    else assert.equal(shared, null);
  });

  test(`dist: the memory of the ${variant} build starts below 2 MB and may grow to 4 GB`, () => {
    const memory = /\(memory \$\S+ (\d+) (\d+)( shared)?\)/.exec(wat);
    assert.ok(Number(memory[1]) <= 32, `${memory[1]} pages`);
    assert.equal(Number(memory[2]), 65_536);
    assert.equal(memory[3] !== undefined, threads);
  });
}
