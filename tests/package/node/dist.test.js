// @build any
// What ships: small, without surprises, and what its name says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'acorn';
import * as shipped from '../../../tools/shipped.js';
import { packageJson, read, root, text } from '../../support/js/files.js';
import { buildsOf, moduleNames, modules, single } from './wasm-names.js';

test('dist: dist holds what ships, and the page', () => {
  const files = readdirSync(join(root, 'dist'), { withFileTypes: true });
  const names = files.filter((entry) => entry.isFile()).map((entry) => entry.name);
  assert.deepEqual(names.sort(), shipped.dist);
});

for (const [name, budget] of Object.entries(shipped.programs)) {
  test(`dist: ${name} is at most ${budget} bytes gzip`, (t) => {
    const size = shipped.gzipped(read(`dist/${name}`));
    t.diagnostic(`${name}: ${size} bytes gzip`);
    assert.ok(size > 200 && size <= budget, `${size} bytes`);
  });
}

test(`dist: what qkv loads as JavaScript is at most ${shipped.together.budget} bytes gzip`, () => {
  const { files, budget } = shipped.together;
  const size = files.reduce((sum, name) => sum + shipped.gzipped(read(`dist/${name}`)), 0);
  assert.ok(size <= budget, `${size} bytes`);
});

/** What a script imports: the engine and the class of errors are one for all but qkv/inline, which is one file. */
const beside = {
  'core.js': ['./errors.js'],
  'index.js': ['./core.js'],
  'language.js': ['./core.js'],
  'models.js': ['./core.js', './language.js'],
  'train.js': ['./core.js', './language.js'],
  'spectra.js': ['./core.js'],
  'constraints.js': ['./errors.js'],
  'worker.js': ['./errors.js'],
  'worker-host.js': ['./errors.js', './index.js'],
  'models-host.js': ['./errors.js', './index.js', './models.js'],
  'train-host.js': ['./errors.js', './models.js', './train.js'],
};
const scripts = Object.keys(shipped.programs).filter((name) => name.endsWith('.js'));
for (const name of scripts) {
  const script = text(`dist/${name}`);

  test(`dist: ${name} evaluates no text and makes no addresses of blobs, which strict policies forbid`, () => {
    const forbidden = [/\beval\s*\(/, /\bFunction\s*\(/, /blob:/, /createObjectURL/];
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

for (const [name, script] of [
  ['worker', 'worker-host'],
  ['worker', 'models-host'],
  ['worker', 'train-host'],
  ['core', 'thread'],
]) {
  test(`dist: ${name}.js names ${script}.js in the words that bundlers follow, once`, () => {
    const words = new RegExp(
      `new Worker\\(new URL\\(["'\`]\\./${script}\\.js["'\`],\\s*import\\.meta\\.url\\),\\s*\\{\\s*type:\\s*["'\`]module["'\`]`,
      'g',
    );
    assert.equal(text(`dist/${name}.js`).match(words)?.length, 1);
  });
}

test('dist: the class of errors is one for all entries but qkv/inline, and a file of its own', async () => {
  const [{ QkvError }, worker, train, models, spectra] = await Promise.all([
    ...[import('qkv'), import('qkv/worker'), import('qkv/train'), import('qkv/models')],
    import('qkv/spectra'),
  ]);
  assert.equal(worker.QkvError, QkvError);
  assert.equal(train.QkvError, QkvError);
  assert.equal(spectra.QkvError, QkvError);
  assert.equal(models.QkvError, QkvError);
  const error = await worker.init({ workers: 0 }).catch((reason) => reason);
  assert.equal(error.constructor, QkvError);
});

test('dist: the package says which of its files does something when it is loaded', () => {
  const scripts = ['thread', 'worker-host', 'models-host', 'train-host'].map(
    (name) => `./dist/${name}.js`,
  );
  assert.deepEqual(packageJson.sideEffects, scripts);
});

for (const [name, module] of Object.entries(modules)) {
  test(`dist: ${name}.js names its .wasm files by literal URLs, which bundlers follow, and no others`, () => {
    const source = text(`dist/${name}.js`);
    const literals = source.matchAll(
      /new URL\(["'`]\.\/([\w-]+)\.wasm["'`],\s*import\.meta\.url\)/g,
    );
    const expected = buildsOf(module).map((variant) => `${module}-${variant}`);
    assert.deepEqual(Array.from(literals, ([, file]) => file).sort(), expected.sort());
  });
}

test('dist: core.js names no .wasm file, so that no bundler brings those of an entry that is not imported', () => {
  assert.doesNotMatch(text('dist/core.js'), /new URL\(["'`][^"'`]*\.wasm/);
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

/** The most characters of a line, but for texts in it, which nothing can break. */
const mostOfLine = 200;

test(`dist: lines are of at most ${mostOfLine} characters besides texts, because consoles print the whole line of an error`, () => {
  for (const name of scripts) {
    const lines = text(`dist/${name}`).split('\n');
    for (const line of lines.filter((each) => /\bthrow\b/.test(each))) {
      const code = line.replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '""');
      assert.ok(code.length <= mostOfLine, `${name}: ${code.length} characters: ${code}`);
    }
  }
});

/** Programs that end with an error which nobody catches, and what it says. */
const uncaught = {
  'a wrong shape': [
    'index.js',
    `const qkv = await init(); const x = { data: new Float32Array(2), shape: [1, 2] };
     qkv.attention(x, x, x, { numHeads: 3 });`,
    'QkvError: attention: q is [1,2], expected a last extent that is a multiple of numHeads = 3',
  ],
  'a wrong option, inline': [
    'inline.js',
    'await init({ thread: 2 });',
    "QkvError: init: options has the unknown key 'thread', expected 'threads'",
  ],
  'a model that is not there': [
    'models.js',
    `const { init: start } = await import('./index.js');
     await load(await start(), { weights: '/nowhere.gguf' });`,
    'QkvError: load: /nowhere.gguf cannot be read',
  ],
  'a worker': [
    'worker.js',
    'await (await init()).softmax(3);',
    'QkvError: softmax: x is 3, expected',
  ],
};
for (const [title, [name, program, said]] of Object.entries(uncaught)) {
  test(`dist: an error that nobody catches is printed in less than 2 kB and by its name: ${title}`, async () => {
    const folder = pathToFileURL(join(root, 'dist'));
    const imported = name === 'models.js' ? 'load' : 'init';
    const all = `import { ${imported} } from './${name}'; ${program}`.replaceAll(
      "'./",
      `'${folder}/`,
    );
    const args = ['--input-type=module', '--eval', all];
    const { code: status, stderr } = await promisify(execFile)(process.execPath, args).catch(
      (error) => error,
    );
    assert.equal(status, 1);
    assert.ok(stderr.length < 2_000, `${stderr.length} characters`);
    assert.ok(
      stderr.split('\n').some((line) => line.startsWith(said)),
      stderr,
    );
  });
}

for (const name of single.filter((each) => moduleNames.includes(`${each}-threads`))) {
  test(`dist: ${name}.wasm is the one with threads but for its memory, and what it says of it`, () => {
    const [own, shared] = [name, `${name}-threads`].map((each) => read(`dist/${each}.wasm`));
    assert.equal(own.length, shared.length);
    const changed = Array.from(own, (byte, at) => [byte, shared[at], at]).filter(
      ([now, before]) => now !== before,
    );
    const [flags, ...word] = changed;
    assert.deepEqual(
      flags.slice(0, 2),
      [1, 3],
      'the flags of a memory: 1 for a maximum, 2 for shared',
    );
    const said = ([, , at]) => shared.toString('latin1', at - 1, at + 5);
    assert.equal(said(word[0]), 'shared');
    assert.ok(word.every(([, , at]) => at < word[0][2] + 5));
  });
}
