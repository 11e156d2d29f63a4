// Builds everything, or the parts named: native, wasm, package (dist/), page (dist/web/), docs (build/docs/), and site
// (build/site/: the page with the documentation beside it, as built).
import { existsSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cmake, LIMIT, modules, native, nativeLibraries, wasmTests } from './build/cmake.js';
import { building } from './build/fingerprint.js';
import { bundlePackage, types } from './build/package.js';
import { assembleSite, bundlePage } from './build/page.js';
import { buildDocs, makeDocs } from './docs.js';
import { root } from './environment.js';
import { must, step } from './run.js';

export { cmake } from './build/cmake.js';
export { bundlePrograms } from './build/package.js';
export { assembleSite } from './build/page.js';

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
  modules: { run: () => modules() },
  package: { needs: ['modules', 'types'], run: bundlePackage },
  page: { needs: ['package'], run: bundlePage },
  docs: { after: ['tools'], run: makeDocs },
  'native-libraries': { run: nativeLibraries },
  native: { needs: ['native-libraries'], run: native },
  'native-gcc': { run: () => cmake('native-gcc', ['all']) },
  'native-arm64': {
    run: () => cmake('native-arm64', ['qkv_tests', 'qkv_train_tests', 'qkv_spectra_tests']),
  },
  'wasm-tests': { after: ['modules'], run: wasmTests },
  sanitized: {
    after: ordinary,
    run: () => cmake('native', ['qkv_train_tests_sanitized', 'qkv_spectra_tests_sanitized']),
  },
  fuzz: { after: [...ordinary, 'sanitized'], run: () => cmake('native', ['fuzz']) },
};

const buildNative = () => step('build native', native);
export const buildWasm = () => step('build wasm', () => modules());
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
  const wanted = names.length > 0 ? names : Object.keys(parts);
  const build = async () => {
    for (const name of wanted) await parts[name]();
  };
  const isWhole = ['wasm', 'package', 'page'].every((name) => wanted.includes(name));
  await (isWhole ? building(build) : build());
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
