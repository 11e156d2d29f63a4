// The package as a stranger gets it: packed, installed into an empty project without a network, and used
// from Node. matrix.test.js has it in pages, tests/release/types.test.js in TypeScript.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { filesIn, problemsOfFiles } from '../../../tools/release/inspect.js';
import * as shipped from '../../../tools/shipped.js';
import { install, installPacked } from '../packed.js';
import { packageJson, root, text } from '../../support/js/files.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { documents, programsOf } from './examples.js';

/** The files that the README and the guides run; no model is in the tarball. */
const models = ['models/austen/austen.safetensors', 'models/names/names.safetensors'];

let installed;
let project;
const write = (name, content) => installed.write(name, content);
const inProject = (...line) => installed.inProject(...line);

before(async () => {
  installed = await installPacked(install);
  ({ project } = installed);
  for (const model of models) cpSync(join(root, model), join(project, model));
});
after(() => installed?.remove());

test('tarball: it holds these files and no others, each for a reason', () => {
  const { packed } = installed;
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), shipped.tarball);
  assert.equal(packed.version, packageJson.version);
  assert.deepEqual(problemsOfFiles(filesIn(installed.file)), []);
  const others = [{ path: 'dist/core.js.map' }, { path: 'tests/secret.txt' }];
  assert.equal(problemsOfFiles([...filesIn(installed.file), ...others]).length, 4);
});

test('tarball: no file names a source map, or the folder that it was made in', () => {
  for (const path of shipped.tarball) {
    const content = readFileSync(join(project, 'node_modules/qkv', path), 'latin1');
    assert.ok(!content.includes('sourceMappingURL'), path);
    assert.ok(!content.includes(root), path);
  }
});

test(`tarball: it is at most ${shipped.tarballBudget} bytes`, (t) => {
  const { size } = statSync(installed.file);
  t.diagnostic(`${size} bytes, ${installed.packed.unpackedSize} unpacked`);
  assert.ok(size > 10_000 && size <= shipped.tarballBudget, `${size} bytes`);
});

test('tarball: it brings no dependencies, and no scripts that run on installation', () => {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
  assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/qkv']);
  const installed = JSON.parse(
    readFileSync(join(project, 'node_modules/qkv/package.json'), 'utf8'),
  );
  assert.deepEqual([installed.dependencies, installed.peerDependencies], [undefined, undefined]);
  for (const name of ['preinstall', 'install', 'postinstall']) {
    assert.equal(installed.scripts?.[name], undefined);
  }
});

describe('tarball: in Node', () => {
  const script = `
    import { init } from 'qkv';
    const x = { data: Float32Array.of(1, 0, 0, 1), shape: [2, 2] };
    console.log(JSON.stringify([...(await init()).attention(x, x, x, { numHeads: 1, returnWeights: true }).weights.data]));
  `;

  test('three lines print the weights', async () => {
    write('three.js', script);
    const { stdout, output } = await inProject(process.execPath, 'three.js');
    assert.equal(output, stdout);
    const large = 1 / (1 + Math.exp(-Math.SQRT1_2));
    const weights = JSON.parse(stdout);
    assert.equal(weights.length, 4);
    [large, 1 - large, 1 - large, large].forEach((exact, i) =>
      assert.ok(Math.abs(weights[i] - exact) < 2 ** -21, `weight ${i} is ${weights[i]}`),
    );
  });

  test('the same lines with await print the weights from a worker', async () => {
    const inWorker = script
      .replace("'qkv'", "'qkv/worker'")
      .replace('(await init()).attention', '(await (await init()).attention')
      .replace('}).weights', '})).weights');
    write('three-worker.js', inWorker);
    const { output } = await inProject(process.execPath, 'three-worker.js');
    assert.equal(output, (await inProject(process.execPath, 'three.js')).stdout);
  });

  test('a CommonJS file may import() it', async () => {
    const body =
      "import('qkv').then(({ init }) => init()).then((e) => console.log(e.info.version));";
    write('old.cjs', body);
    const { stdout } = await inProject(process.execPath, 'old.cjs');
    assert.equal(stdout.trim(), packageJson.version);
  });

  test('the .wasm files and package.json can be named, what is private cannot', async () => {
    write(
      'names.js',
      `import { createRequire } from 'node:module';
      import { init } from 'qkv';
      const engine = await init({ wasm: import.meta.resolve('qkv/qkv-simd.wasm') });
      import.meta.resolve('qkv/qkv-relaxed.wasm');
      const refused = (() => {
        try {
          return import.meta.resolve('qkv/dist/index.js');
        } catch (error) {
          return error.code;
        }
      })();
      const { name } = createRequire(import.meta.url)('qkv/package.json');
      console.log(JSON.stringify([engine.info.variant, refused, name]));`,
    );
    const { stdout } = await inProject(process.execPath, 'names.js');
    assert.deepEqual(JSON.parse(stdout), ['simd', 'ERR_PACKAGE_PATH_NOT_EXPORTED', 'qkv']);
  });
});

/** Printed between the blocks of an example, to tell what each of them printed. */
const mark = '-- next block --';

/** Documents whose example trains a model, for a quarter of a minute. */
const TRAINS = ['wasm/docs/training.md'];

for (const path of documents) {
  const examples = programsOf(path, 'js');

  test(`examples: ${path} has some`, () => assert.ok(examples.length > 0));

  for (const [i, blocks] of examples.entries()) {
    if (TRAINS.includes(path) && !full) {
      leaveToFullRun(`the example of ${path}, which trains`);
      continue;
    }
    test(`examples: ${path}, ${i + 1}, works and prints what stands below it`, async () => {
      const file = `${path.replaceAll(/\W/g, '-')}-${i}.js`;
      write(file, blocks.map(({ code }) => code).join(`console.log('${mark}');\n`));
      const { stdout, output } = await inProject(process.execPath, file);
      assert.equal(output, stdout);
      const printed = stdout.split(`${mark}\n`);
      assert.equal(printed.length, blocks.length);
      for (const [at, { code, prints }] of blocks.entries()) {
        if (prints !== undefined) assert.equal(printed[at], prints, code);
        else if (/^console\.log/m.test(code)) assert.notEqual(printed[at], '', code);
      }
    });
  }
}

describe('examples: the README', () => {
  const readme = text('README.md');

  test('shows messages as they are', async () => {
    write(
      'messages.js',
      `import { init } from 'qkv';
      const qkv = await init();
      const x = (...shape) => ({ data: new Float32Array(shape.reduce((n, e) => n * e)), shape });
      const said = (call) => {
        try {
          call();
        } catch ({ code, message }) {
          return \`\${code} \${message}\`;
        }
      };
      const q = x(1, 2, 5, 4);
      const [wide, long] = [x(1, 2, 6, 8), x(1, 2, 6, 4)];
      console.log(JSON.stringify([
        said(() => qkv.attention(q, wide, wide)),
        said(() => qkv.attention(q, long, long, { causal: true })),
      ]));`,
    );
    const { stdout } = await inProject(process.execPath, 'messages.js');
    const shown = readme.replaceAll(/\s+/g, ' ');
    for (const message of JSON.parse(stdout)) assert.ok(shown.includes(message), message);
  });
});
