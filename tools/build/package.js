// The npm package in dist/: esbuild bundles the TypeScript of wasm/src, terser makes the bundles
// smaller, and tsc writes the declarations.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { minify } from 'terser';
import { root, tsc, version } from '../environment.js';
import { must } from '../run.js';
import { edition, engines, gzipped, programs } from '../shipped.js';
import { LIMIT } from './cmake.js';
import { constants } from './constants.js';
import { forget } from './fingerprint.js';
import { checkBinding, firstModules, moduleFile, moduleNames } from './modules.js';

const dist = join(root, 'dist');

/** "1.2 kB gzip" of a file. */
const weigh = (file) => `${(gzipped(readFileSync(file)) / 1000).toFixed(1)} kB gzip`;

/** The modules of the package that are bundled by themselves, and the source of each. */
const entries = {
  errors: 'api/errors',
  inline: 'entries/inline',
  constraints: 'entries/constraints',
  thread: 'entries/thread',
  worker: 'entries/worker',
  'worker-host': 'entries/worker-host',
  'models-host': 'entries/models-host',
  'train-host': 'entries/train-host',
};

/**
 * Those that are bundled together: what `qkv` has in common with another becomes core.js, and what the others have in common
 * language.js, so that nobody loads anything twice.
 */
const together = { index: 'entries/index', models: 'entries/models', train: 'entries/train', spectra: 'entries/spectra' };
const chunks = ['core', 'language'];

/** The declarations: those of entries, and of the types that they export. */
const declarations = [
  ...['entries/index', 'entries/models', 'entries/train', 'entries/spectra', 'entries/worker'],
  ...['entries/worker-host', 'entries/models-host', 'entries/train-host', 'entries/constraints'],
  ...[
    'api/types',
    'api/array-types',
    'api/engine-types',
    'api/attention-types',
    'api/layer-types',
    'api/operator-types',
    'api/spectra-types',
    'api/option-types',
    'api/constraint-types',
    'api/model-config',
    'api/inspect-types',
    'api/adapter-types',
    'api/chat-types',
    'api/generation-types',
    'api/logit-types',
    'api/load-types',
    'api/model-types',
    'api/sampling-types',
    'api/train-types',
    'api/trainer-types',
    'api/trained-model-types',
    'api/reading-types',
    'api/worker-types',
    'api/worker-call-types',
    'api/worker-train-types',
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
  'entries/train.js': 'init',
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
    define: { ...constants, ...define },
    banner: { js: `/*! qkv ${version}, MIT license */` },
    legalComments: 'none',
    logLevel: 'warning',
  });

/** Where the .wasm files are (wasm/src/load/files.ts). */
const filesAre = (where) => ({
  alias: { 'qkv-files': join(root, `wasm/src/load/files-${where}.ts`) },
});

/** The declarations of the package, of which its own and those of the page are made; needs no build before. */
export async function types() {
  await must(tsc, ['-p', 'wasm'], { timeout: LIMIT });
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

/** The .wasm files of these names. */
function writeModules(names, folder) {
  mkdirSync(join(root, folder), { recursive: true });
  for (const name of names) writeFileSync(join(root, folder, `${name}.wasm`), moduleFile(name));
}

/** The JavaScript of the package and the .wasm files, which is all that runs. */
export async function bundlePrograms({ folder = 'dist', sourcemap = false } = {}) {
  writeModules(moduleNames, folder);
  const to = { folder, sourcemap };
  const { inline, ...others } = entries;
  const embedded = JSON.stringify({ simd: embed('simd'), relaxed: embed('relaxed') });
  await Promise.all([
    bundleTogether(to),
    ...Object.entries(others).map(([name, source]) => bundle({ [name]: source }, to)),
    bundle({ inline }, to, {
      ...filesAre('embedded'),
      define: { QKV_EMBEDDED: embedded, QKV_INLINE: 'true' },
      plugins: [],
    }),
  ]);
  const scripts = [...chunks, ...Object.keys(together), ...Object.keys(entries)];
  if (!sourcemap)
    await Promise.all(scripts.map((name) => shrink(join(root, folder, `${name}.js`))));
}

/** What the page loads of the package before anybody trains, in a folder. Its other .wasm files are not there yet. */
export async function bundleForPage(folder) {
  rmSync(join(root, folder), { recursive: true, force: true });
  writeModules(firstModules, folder);
  const { errors, thread } = entries;
  await Promise.all([bundleTogether({ folder }), bundle({ errors, thread }, { folder })]);
}

/** The npm package: its modules, the declarations that types() has made, and the .wasm files. */
export async function bundlePackage() {
  forget();
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
