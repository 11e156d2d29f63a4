// Builds everything, or the parts named: native, wasm, package (dist/), page (dist/web/).
import { existsSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { root, toolchain, version } from './environment.js';
import { must, step } from './run.js';

const dist = join(root, 'dist');
const modules = join(root, 'build/wasm/wasm');
const bin = (name) => join(root, 'node_modules/.bin', name);

/** "1.2 kB gzip" of a file. */
const weigh = (file) =>
  `${(gzipSync(readFileSync(file), { level: 9 }).length / 1000).toFixed(1)} kB gzip`;

async function cmake(preset, targets, options = []) {
  await must('cmake', ['--preset', preset, ...options]);
  await must('cmake', ['--build', '--preset', preset, ...targets.flatMap((t) => ['--target', t])]);
}

/** The C++ library and its tests for every instruction set the compiler can produce. */
export function buildNative() {
  return step('build native', () => cmake('native', ['all']));
}

/** The embind modules, and with `tests` the Catch2 suite, both variants of each. */
export function buildWasm({ tests = false } = {}) {
  const targets = tests
    ? ['all', 'bench_simd', 'bench_relaxed']
    : ['module_simd', 'module_relaxed'];
  return step(`build wasm${tests ? ' and its tests' : ''}`, () =>
    cmake('wasm', targets, [`-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`]),
  );
}

/** The glue of both variants is the same program; the package ships it once. */
function checkGlue() {
  const [simd, relaxed] = ['simd', 'relaxed'].map((variant) =>
    readFileSync(join(modules, `qkv-${variant}.mjs`), 'utf8').replaceAll(`qkv-${variant}`, 'qkv'),
  );
  if (simd !== relaxed) {
    throw new Error('the glue of qkv-simd and qkv-relaxed differs, but dist/ has room for one');
  }
}

/** The npm package: one bundled module, its types and the two .wasm files. */
export function buildPackage() {
  return step('build package', async () => {
    checkGlue();
    mkdirSync(dist, { recursive: true });
    for (const variant of ['simd', 'relaxed']) {
      copyFileSync(join(modules, `qkv-${variant}.wasm`), join(dist, `qkv-${variant}.wasm`));
    }
    await esbuild.build({
      entryPoints: [join(root, 'wasm/src/index.ts')],
      outfile: join(dist, 'index.js'),
      bundle: true,
      format: 'esm',
      target: 'es2022',
      minify: true,
      alias: { 'qkv-glue': join(modules, 'qkv-simd.mjs') },
      define: { QKV_VERSION: JSON.stringify(version) },
      banner: { js: `/*! qkv ${version}, MIT license */` },
      legalComments: 'none',
      logLevel: 'warning',
    });
    await must(bin('tsc'), ['-p', 'wasm']);
    for (const name of ['index', 'types', 'error']) {
      copyFileSync(join(root, `build/types/${name}.d.ts`), join(dist, `${name}.d.ts`));
    }
    const sizes = ['index.js', 'qkv-simd.wasm', 'qkv-relaxed.wasm'];
    return sizes.map((name) => `${name} ${weigh(join(dist, name))}`).join(', ');
  });
}

/** The page, from the package as built. */
export function buildPage() {
  return step('build page', async () => {
    rmSync(join(dist, 'web'), { recursive: true, force: true });
    await must(bin('tsc'), ['-p', 'web', '--noEmit']);
    await must(bin('vite'), ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']);
  });
}

const parts = {
  native: buildNative,
  wasm: buildWasm,
  package: buildPackage,
  page: buildPage,
};

async function main(names) {
  const unknown = names.filter((name) => !(name in parts));
  if (unknown.length > 0) {
    throw new Error(
      `unknown part ${unknown.join(', ')}, expected ${Object.keys(parts).join(', ')}`,
    );
  }
  for (const name of names.length > 0 ? names : Object.keys(parts)) await parts[name]();
  for (const file of ['dist/index.js', 'dist/web/index.html']) {
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
