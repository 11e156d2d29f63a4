// The package as a stranger gets it: packed, installed into an empty project without a network, and used
// from Node, TypeScript and a page.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { launch, page, reportOf, strictPolicy } from '../js/support/chromium.js';
import { packageJson, root, text } from '../js/support/files.js';
import { folder, serve } from '../js/support/server.js';
import { documents, programsOf } from './examples.js';

const run = promisify(execFile);
const temporary = mkdtempSync(join(tmpdir(), 'qkv-consumer-'));
const project = join(temporary, 'project');
const write = (name, content) => writeFileSync(join(project, name), content);
const inProject = (command, ...args) => run(command, args, { cwd: project, encoding: 'utf8' });

let packed;
before(async () => {
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', temporary];
  const { stdout } = await run('npm', pack, { cwd: root, encoding: 'utf8' });
  [packed] = JSON.parse(stdout);
  mkdirSync(project);
  write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
  await inProject('npm', 'install', join(temporary, packed.filename), ...quiet);
});
after(() => rmSync(temporary, { recursive: true, force: true }));

test('the tarball holds these files and no others', () => {
  const expected = [
    ...['LICENSE', 'README.md', 'README.zh-CN.md', 'package.json'],
    ...['dist/error.d.ts', 'dist/index.d.ts', 'dist/index.js', 'dist/types.d.ts'],
    ...['dist/qkv-relaxed.wasm', 'dist/qkv-simd.wasm'],
  ];
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), expected.sort());
  assert.equal(packed.version, packageJson.version);
});

test('the tarball is at most 1 MB', (t) => {
  const { size } = statSync(join(temporary, packed.filename));
  t.diagnostic(`${packed.filename}: ${size} bytes, ${packed.unpackedSize} unpacked`);
  assert.ok(size > 10_000 && size <= 1_000_000, `${size} bytes`);
});

test('it brings no dependencies, and no scripts that run on installation', () => {
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

describe('in Node', () => {
  const script = `
    import { init } from 'qkv';
    const x = { data: Float32Array.of(1, 0, 0, 1), shape: [2, 2] };
    console.log(JSON.stringify([...(await init()).attention(x, x, x, { numHeads: 1, returnWeights: true }).weights.data]));
  `;

  test('three lines print the weights', async () => {
    write('three.js', script);
    const { stdout, stderr } = await inProject(process.execPath, 'three.js');
    assert.equal(stderr, '');
    const large = 1 / (1 + Math.exp(-Math.SQRT1_2));
    const weights = JSON.parse(stdout);
    assert.equal(weights.length, 4);
    [large, 1 - large, 1 - large, large].forEach((exact, i) =>
      assert.ok(Math.abs(weights[i] - exact) < 2 ** -21, `weight ${i} is ${weights[i]}`),
    );
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

for (const path of documents) {
  const examples = programsOf(path, 'js');

  test(`${path} has examples`, () => assert.ok(examples.length > 0));

  for (const [i, blocks] of examples.entries()) {
    test(`${path}: example ${i + 1} works and prints what stands below it`, async () => {
      const file = `${path.replaceAll(/\W/g, '-')}-${i}.js`;
      write(file, blocks.map(({ code }) => code).join(`console.log('${mark}');\n`));
      const { stdout, stderr } = await inProject(process.execPath, file);
      assert.equal(stderr, '');
      const printed = stdout.split(`${mark}\n`);
      assert.equal(printed.length, blocks.length);
      for (const [at, { code, prints }] of blocks.entries()) {
        if (prints !== undefined) assert.equal(printed[at], prints, code);
        else if (/^console\.log/m.test(code)) assert.notEqual(printed[at], '', code);
      }
    });
  }
}

describe('the README', () => {
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

describe('in TypeScript', () => {
  const program = `
    import { init, QkvError, type NdArray, type Qkv } from 'qkv';
    const engine: Qkv = await init({ deterministic: true });
    const x: NdArray = { data: Float32Array.of(1, 0, 0, 1), shape: [2, 2] };
    const { output, weights } = engine.attention(x, x, x, { numHeads: 1, returnWeights: true });
    export const sum: number = output.data[0]! + (weights?.data[0] ?? 0);
    export const isOurs = (error: unknown): error is QkvError => error instanceof QkvError;
  `;
  const tsc = join(root, 'node_modules/typescript/bin/tsc');

  /** What the compiler says of a program, which is nothing when all is well. */
  async function compile(name, content, compilerOptions) {
    const strict = { strict: true, noEmit: true, types: [], target: 'es2022', skipLibCheck: false };
    const config = { compilerOptions: { ...strict, ...compilerOptions }, files: [`${name}.ts`] };
    write(`${name}.ts`, content);
    write(`${name}.json`, JSON.stringify(config));
    const compiler = inProject(process.execPath, tsc, '-p', `${name}.json`);
    return (await compiler.catch((error) => error)).stdout;
  }

  for (const [moduleResolution, module] of [
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ]) {
    test(`a strict program compiles with moduleResolution ${moduleResolution}`, async () => {
      assert.equal(await compile(moduleResolution, program, { module, moduleResolution }), '');
    });
  }

  test('a program for Node compiles without the types of a browser', async () => {
    const node = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] };
    const options = { module: 'nodenext', lib: ['es2022'], ...node };
    const url = "void init({ wasm: new URL('file:///qkv.wasm') });\n";
    assert.equal(await compile('node', `${program}${url}`, options), '');
  });

  test('a program compiles without the types of a browser or of Node', async () => {
    const options = { module: 'nodenext', lib: ['es2022'] };
    const bytes = 'void init({ wasm: new Uint8Array(8) });\n';
    assert.equal(await compile('bare', `${program}${bytes}`, options), '');
    const wrong = 'void init({ wasm: 3 });\n';
    assert.match(await compile('bare-wrong', `${program}${wrong}`, options), /TS2322/);
  });

  test('the types are found, and are not any', async () => {
    const wrong = "import { init } from 'qkv';\ninit({ variant: 'fast' });\n";
    const said = await compile('wrong', wrong, { module: 'nodenext' });
    assert.match(said, /wrong\.ts\(2,8\): error TS2322: Type '"fast"'/);
  });
});

describe('in Chromium', () => {
  const routes = {};
  let server;
  let browser;
  before(async () => {
    const modules = folder(join(project, 'node_modules'));
    const prefix = '/node_modules';
    server = await serve((path) =>
      path.startsWith(`${prefix}/`) ? modules(path.slice(prefix.length)) : routes[path],
    );
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  const script = (from) => `
    import { init } from '${from}';
    const x = { data: Float32Array.of(1, 0, 0, 1), shape: [2, 2] };
    const engine = await init();
    const { weights } = engine.attention(x, x, x, { numHeads: 1, returnWeights: true });
    report([engine.info.variant, [...weights.data]]);
  `;

  async function expectWeights(path) {
    const complaints = [];
    const [variant, weights] = await reportOf(browser, `${server.url}${path}`, { complaints });
    assert.deepEqual(complaints, []);
    assert.equal(variant, 'relaxed');
    assert.equal(weights.length, 4);
    assert.ok(Math.abs(weights[0] - 1 / (1 + Math.exp(-Math.SQRT1_2))) < 2 ** -21);
  }

  test('a plain page with an import map gets the relaxed build', async () => {
    const imports = { qkv: '/node_modules/qkv/dist/index.js' };
    const head = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
    Object.assign(routes, page('/map', script('qkv'), { head }));
    await expectWeights('/map');
  });

  test('a page under a strict policy gets it by its URL', async () => {
    const url = '/node_modules/qkv/dist/index.js';
    Object.assign(routes, page('/strict', script(url), { policy: strictPolicy }));
    await expectWeights('/strict');
  });
});
