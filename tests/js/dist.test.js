// What ships: small, without surprises, and what its name says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { parse } from 'acorn';
import { packageJson, read, root, text, wasmFile } from './support/files.js';

const source = text('dist/index.js');
const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;

test('dist holds the module, its types and two .wasm files', () => {
  const files = readdirSync(join(root, 'dist'), { withFileTypes: true });
  const names = files.filter((entry) => entry.isFile()).map((entry) => entry.name);
  const expected = [
    'error.d.ts',
    'index.d.ts',
    'index.js',
    'qkv-relaxed.wasm',
    'qkv-simd.wasm',
    'types.d.ts',
  ];
  assert.deepEqual(names.sort(), expected);
});

test('the JavaScript is at most 25 kB gzip', (t) => {
  const size = gzipped(read('dist/index.js'));
  t.diagnostic(`index.js: ${size} bytes gzip`);
  assert.ok(size > 1000 && size <= 25_000, `${size} bytes`);
});

for (const variant of ['simd', 'relaxed']) {
  test(`qkv-${variant}.wasm is at most 100 kB gzip`, (t) => {
    const size = gzipped(wasmFile(variant));
    t.diagnostic(`qkv-${variant}.wasm: ${size} bytes gzip`);
    assert.ok(size > 1000 && size <= 100_000, `${size} bytes`);
  });
}

test('the JavaScript evaluates no text and makes no blobs, which strict policies forbid', () => {
  // Emscripten's glue asks whether it was itself loaded from a blob, and that is all.
  const rest = source.replace('.startsWith("blob:")', '');
  for (const word of [/\beval\s*\(/, /\bFunction\s*\(/, /blob:/, /\bBlob\b/, /createObjectURL/]) {
    const [found] = word.exec(rest) ?? [];
    assert.equal(found, undefined);
  }
});

test('the JavaScript imports nothing, so that no bundler meets a module of Node', () => {
  assert.doesNotMatch(source, /\bimport\s*\(/);
  const program = parse(source, { ecmaVersion: 2022, sourceType: 'module' });
  const imports = program.body.filter(
    (node) => /^Import|^ExportAll/.test(node.type) || node.source,
  );
  assert.deepEqual(imports, []);
});

test('the .wasm files are named by literal URLs, which bundlers follow', () => {
  for (const variant of ['simd', 'relaxed']) {
    const url = new RegExp(
      `new URL\\(["'\`]\\./qkv-${variant}\\.wasm["'\`],\\s*import\\.meta\\.url\\)`,
    );
    assert.match(source, url);
  }
  assert.equal(source.match(/import\.meta\.url/g).length, 2);
});

test('the JavaScript names its version and license, and no folder of who built it', () => {
  assert.ok(source.startsWith(`/*! qkv ${packageJson.version}, MIT license */`));
  for (const file of ['index.js', 'qkv-simd.wasm', 'qkv-relaxed.wasm']) {
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
const builds = { simd: await disassemble('simd'), relaxed: await disassemble('relaxed') };

test('the builds differ: relaxed opcodes are in the relaxed file alone', () => {
  assert.ok(!wasmFile('simd').equals(wasmFile('relaxed')));
  for (const wat of Object.values(builds)) assert.match(wat, /f32x4\.mul/);
  assert.doesNotMatch(builds.simd, /relaxed/);
  assert.match(builds.relaxed, /f32x4\.relaxed_madd/);
  const others = builds.relaxed.match(/[a-z0-9]+\.relaxed_(?!madd)\w+/g);
  assert.equal(others, null, 'the probe asks for relaxed_madd alone');
});

for (const [variant, wat] of Object.entries(builds)) {
  test(`the ${variant} build has no threads and no exceptions, which the probes do not ask for`, () => {
    const found = wat.match(
      /\w+\.atomic\.\w+|\btry_table\b|\(try\b|\(throw\b|\bstruct\.new|\bshared\b/g,
    );
    assert.equal(found, null);
  });

  test(`the memory of the ${variant} build starts below 2 MB and may grow to 4 GB`, () => {
    const [, first, most] = /\(memory \$\S+ (\d+) (\d+)\)/.exec(wat);
    assert.ok(first <= 32, `${first} pages`);
    assert.equal(Number(most), 65_536);
  });
}
