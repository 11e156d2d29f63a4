// Builds everything, or the parts named: native, wasm, package (dist/), page (dist/web/), docs (build/docs/), and site
// (build/site/: the page with the documentation beside it, as built).
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { minify } from 'terser';
import { abiOf, baseSchema, methodsOf, modelsAbi, schema, trainAbi } from './abi.js';
import { buildDocs, makeDocs } from './docs.js';
import { root, toolchain, version } from './environment.js';
import { checkBinding, linkedNames, moduleFile, moduleNames } from './modules.js';
import { must, step } from './run.js';
import { edition, engines, gzipped, programs } from './shipped.js';

const dist = join(root, 'dist');
const bin = (name) => join(root, 'node_modules/.bin', name);

/** "1.2 kB gzip" of a file. */
const weigh = (file) => `${(gzipped(readFileSync(file)) / 1000).toFixed(1)} kB gzip`;

/** Compilers that may hang, in ms. */
const LIMIT = 1_800_000;

/** Configures a preset and builds targets of it. */
export async function cmake(preset, targets, options = []) {
  const launcher = toolchain.CCACHE ? [`-DCMAKE_CXX_COMPILER_LAUNCHER=${toolchain.CCACHE}`] : [];
  const isWasm = preset.includes('wasm');
  const place = isWasm ? [`-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`] : [];
  await must('cmake', ['--preset', preset, ...place, ...launcher, ...options], { timeout: LIMIT });
  const named = targets.flatMap((target) => ['--target', target]);
  const line = ['--build', '--preset', preset, '--parallel', `${availableParallelism()}`, ...named];
  await must('cmake', line, { timeout: LIMIT });
}

/** The C++ library and its tests for every instruction set the compiler can produce. */
const native = () => cmake('native', ['all']);

/** The two libraries alone, the trainer of recipes, and what of the suite every run of the tests asks. */
const nativeLibraries = () =>
  cmake('native', ['qkv', 'qkv_train', 'qkv_trainer', 'qkv_references']);

/**
 * Files of tests/core that an everyday run does not compile to WebAssembly: what they ask of 32 bits and of these kernels
 * the package is asked as well (its refusals, the references, the worked example), or they ask nothing of either.
 */
const askedOfThePackage =
  /^(bad_input_.*|circuits|compare|eigen|message|onnx|status|tensor_view|torch.*|worked_example)$/;

/** The C++ suite as WebAssembly: on an everyday run of one variant, which any engine loads. */
async function wasmTests() {
  if (process.env.QKV_FULL) {
    const targets = ['simd', 'relaxed'].flatMap((v) => [`qkv_tests_${v}`, `qkv_train_tests_${v}`]);
    return cmake('wasm', targets, ['-DQKV_TEST_FILES=']);
  }
  const names = readdirSync(join(root, 'tests/core'))
    .filter((name) => name.endsWith('_test.cpp'))
    .map((name) => name.replace('_test.cpp', ''));
  const some = names.filter((name) => !askedOfThePackage.test(name)).join('|');
  return cmake('wasm', ['qkv_tests_simd'], [`-DQKV_TEST_FILES=${some}`]);
}

/** The embind modules of the package; with QKV_DEVELOPMENT=ON linked without Binaryen's optimiser, in a fifth of the time. */
const modules = () =>
  cmake(
    'wasm',
    linkedNames.map((name) => `module_${name}`),
    [`-DQKV_DEVELOPMENT=${process.env.QKV_DEVELOPMENT ?? 'OFF'}`],
  );

/** The modules of the package that are bundled by themselves, and the source of each. */
const entries = {
  errors: 'api/errors',
  inline: 'entries/inline',
  thread: 'entries/thread',
  worker: 'entries/worker',
  'worker-host': 'entries/worker-host',
  'models-host': 'entries/models-host',
};

/**
 * Those that are bundled together: what `qkv` has in common with another becomes core.js, and what the others have in common
 * language.js, so that nobody loads anything twice.
 */
const together = { index: 'entries/index', models: 'entries/models', train: 'entries/train' };
const chunks = ['core', 'language'];

/** The declarations: those of entries, and of the types that they export. */
const declarations = [
  ...['entries/index', 'entries/models', 'entries/train', 'entries/worker'],
  ...['entries/worker-host', 'entries/models-host'],
  ...[
    'api/types',
    'api/array-types',
    'api/engine-types',
    'api/attention-types',
    'api/layer-types',
    'api/operator-types',
    'api/option-types',
    'api/model-config',
    'api/model-types',
    'api/train-types',
    'api/trainer-types',
    'api/worker-types',
    'api/errors',
    'plain-arrays',
  ],
];

/**
 * Files that these share instead of bringing their own: the class of errors, which is then one class for all, and the
 * engine. `qkv/inline` is one file and brings both.
 */
const sharedFiles = {
  'api/errors.js': 'QkvError',
  'entries/index.js': 'init',
  'entries/models.js': 'load',
};
const shared = {
  name: 'shared',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
      const name = relative(join(root, 'wasm/src'), join(resolveDir, path));
      return name in sharedFiles ? { path: name, namespace: 'shared' } : undefined;
    });
    // Every import goes through one module, because the bundle would have an import for each of them.
    onLoad({ filter: /^/, namespace: 'shared' }, ({ path }) => ({
      contents: `export { ${sharedFiles[path]} } from './${basename(path)}';`,
    }));
    onResolve({ filter: /^/, namespace: 'shared' }, ({ path }) => ({ path, external: true }));
  },
};

/** A .wasm file as text for a script. */
const embed = (variant) =>
  deflateRawSync(moduleFile(`qkv-${variant}`), { level: 9 }).toString('base64');

/** Modules of the package, from what esbuild calls its entry points; `own` goes before what all have in common. */
const bundle = (entryPoints, { folder, sourcemap }, { alias, define, ...own } = {}) =>
  esbuild.build({
    plugins: [shared],
    ...own,
    entryPoints: Object.entries(entryPoints).map(([name, source]) => ({
      in: join(root, `wasm/src/${source}.ts`),
      out: name,
    })),
    outdir: join(root, folder),
    sourcemap,
    bundle: true,
    format: 'esm',
    target: [`es${edition}`, ...Object.entries(engines).map((engine) => engine.join(''))],
    minify: true,
    alias,
    define: {
      QKV_VERSION: JSON.stringify(version),
      QKV_ABI: JSON.stringify(abiOf(schema, baseSchema)),
      // As text: objects go into what entries have in common, whoever uses them.
      QKV_MODELS_ABI: JSON.stringify(JSON.stringify(modelsAbi())),
      QKV_TRAIN_ABI: JSON.stringify(JSON.stringify(trainAbi())),
      QKV_METHODS: JSON.stringify(methodsOf(schema)),
      QKV_INLINE: 'false',
      ...define,
    },
    banner: { js: `/*! qkv ${version}, MIT license */` },
    legalComments: 'none',
    logLevel: 'warning',
  });

/** Where the .wasm files are (wasm/src/load/files.ts). */
const filesAre = (where) => ({
  alias: { 'qkv-files': join(root, `wasm/src/load/files-${where}.ts`) },
});

/** The declarations of the package, of which its own and those of the page are made; needs no build before. */
async function types() {
  await must(bin('tsc'), ['-p', 'wasm'], { timeout: LIMIT });
}

/**
 * Makes a bundle smaller once more: after esbuild, terser takes another 4 % off core.js as gzip. Not where a
 * map says what came from which line. A function that is used once stays where it is: moved into another, it
 * closes over that one's variables, and kept the memory of engines that had been disposed.
 */
async function shrink(file) {
  const { code } = await minify(readFileSync(file, 'utf8'), {
    ...{ module: true, ecma: edition, compress: { passes: 3, reduce_funcs: false } },
    // A console prints the whole line in which an error that nobody caught was thrown.
    format: { comments: /^!/, max_line_len: 200 },
  });
  writeFileSync(file, code);
}

/** The entries that share chunks, which esbuild names by what is in them. */
async function bundleTogether(to) {
  const options = { ...filesAre('external'), splitting: true, metafile: true, write: false };
  const { metafile, outputFiles } = await bundle(together, to, options);
  const importsOf = (name) =>
    metafile.outputs[`${to.folder}/${name}.js`].imports.map(({ path }) => basename(path, '.js'));
  const isOurs = (name) => `${to.folder}/${name}.js` in metafile.outputs;
  const [core, ...more] = importsOf('index').filter(isOurs);
  const [language, ...others] = importsOf('models').filter((name) => isOurs(name) && name !== core);
  if (!core || !language || more.length + others.length > 0) {
    throw new Error(
      `the entries share ${[core, language, ...more, ...others]}, expected two chunks`,
    );
  }
  const names = new Map([core, language].map((name, i) => [name, chunks[i]]));
  for (const { path, text } of outputFiles) {
    let file = path;
    let content = text;
    for (const [from, name] of names) {
      file = file.replaceAll(from, name);
      content = content.replaceAll(from, name);
    }
    writeFileSync(file, content);
  }
}

/** The JavaScript of the package and the .wasm files, which is all that runs. */
export async function bundlePrograms({ folder = 'dist', sourcemap = false } = {}) {
  mkdirSync(join(root, folder), { recursive: true });
  for (const name of moduleNames) {
    writeFileSync(join(root, folder, `${name}.wasm`), moduleFile(name));
  }
  const to = { folder, sourcemap };
  await bundleTogether(to);
  const { inline, ...others } = entries;
  for (const [name, source] of Object.entries(others)) await bundle({ [name]: source }, to);
  const embedded = JSON.stringify({ simd: embed('simd'), relaxed: embed('relaxed') });
  await bundle({ inline }, to, {
    ...filesAre('embedded'),
    define: { QKV_EMBEDDED: embedded, QKV_INLINE: 'true' },
    plugins: [],
  });
  const scripts = [...chunks, ...Object.keys(together), ...Object.keys(entries)];
  if (!sourcemap)
    await Promise.all(scripts.map((name) => shrink(join(root, folder, `${name}.js`))));
}

/** The npm package: its modules, the declarations that types() has made, and the .wasm files. */
async function bundlePackage() {
  await checkBinding();
  await bundlePrograms();
  for (const source of declarations) {
    // In dist/ they are all in one folder.
    const text = readFileSync(join(root, `build/types/src/${source}.d.ts`), 'utf8');
    writeFileSync(
      join(dist, `${basename(source)}.d.ts`),
      text.replace(/'\.\.?\/(?:api\/)?/g, "'./"),
    );
  }
  writeFileSync(join(dist, 'inline.d.ts'), "export * from './index.js';\n");
  // The script of a worker: there is nothing to import.
  writeFileSync(join(dist, 'thread.d.ts'), 'export {};\n');
  return Object.keys(programs)
    .map((name) => `${name} ${weigh(join(dist, name))}`)
    .join(', ');
}

/** The page, from the package as built; lint checks its types. */
async function bundlePage() {
  rmSync(join(dist, 'web'), { recursive: true, force: true });
  const line = ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn'];
  await must(bin('vite'), line, { timeout: LIMIT });
  await must(bin('vite'), [...line, '--mode', 'single'], { timeout: LIMIT });
}

/** What a server of files serves: the page, and below docs/ the documentation, as they are built. */
export function assembleSite(site = join(root, 'build/site')) {
  rmSync(site, { recursive: true, force: true });
  cpSync(join(dist, 'web'), site, { recursive: true });
  // The page alone has a page there that says what is missing.
  rmSync(join(site, 'docs'), { recursive: true, force: true });
  cpSync(join(root, 'build/docs'), join(site, 'docs'), { recursive: true });
}

/** Builds in the folder of the native preset before those under sanitizers. */
const ordinary = ['native-libraries', 'native'];

/**
 * Everything that can be built: `needs` is built first, and `after` goes first where both are wanted, as one folder has
 * room for one build at a time.
 */
export const builds = {
  'release-tools': {
    async run() {
      await must(process.execPath, ['tests/release/tools.js', '--install'], { timeout: LIMIT });
    },
  },
  types: { run: types },
  modules: { run: modules },
  package: { needs: ['modules', 'types'], run: bundlePackage },
  page: { needs: ['package'], run: bundlePage },
  docs: { run: makeDocs },
  'native-libraries': { run: nativeLibraries },
  native: { needs: ['native-libraries'], run: native },
  'wasm-tests': { after: ['modules'], run: wasmTests },
  sanitized: { after: ordinary, run: () => cmake('native', ['qkv_tests_sanitized']) },
  'sanitized-train': {
    after: [...ordinary, 'sanitized', 'fuzz'],
    run: () => cmake('native', ['qkv_train_tests_sanitized']),
  },
  'fuzz-core': { after: [...ordinary, 'sanitized'], run: () => cmake('native', ['fuzz_core']) },
  raced: {
    after: [...ordinary, 'sanitized', 'fuzz-core'],
    run: () => cmake('native', ['qkv_tests_threads']),
  },
  fuzz: { after: [...ordinary, 'sanitized'], run: () => cmake('native', ['fuzz']) },
};

const buildNative = () => step('build native', native);
export const buildWasm = () => step('build wasm', modules);
export const buildPackage = () => step('build package', () => types().then(bundlePackage));
export const buildPage = () => step('build page', bundlePage);
const buildSite = () => step('build site', () => assembleSite());

const parts = {
  native: buildNative,
  wasm: buildWasm,
  package: buildPackage,
  page: buildPage,
  docs: buildDocs,
  site: buildSite,
};

async function main(names) {
  const unknown = names.filter((name) => !(name in parts));
  if (unknown.length > 0) {
    throw new Error(
      `unknown part ${unknown.join(', ')}, expected ${Object.keys(parts).join(', ')}`,
    );
  }
  for (const name of names.length > 0 ? names : Object.keys(parts)) await parts[name]();
  for (const file of [
    ...['dist/index.js', 'dist/web/index.html', 'dist/web/qkv.html'],
    'build/site/docs/index.html',
  ]) {
    if (existsSync(join(root, file))) {
      const { size } = statSync(join(root, file));
      console.log(`${relative('.', join(root, file))}: ${size} bytes`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(String(error.message ?? error));
    process.exitCode = 1;
  });
}
