// Whether dist/ is what the sources make: after a build of all of it the hash of the sources is written down.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../environment.js';

const lists = readdirSync(join(root, 'tools')).filter((name) => name.endsWith('.cmake'));

/** Files and folders that dist/ is made of; package-lock.json stands for node_modules. */
const SOURCES = [
  ...['CMakeLists.txt', 'CMakePresets.json', 'package.json', 'package-lock.json'],
  ...['core', 'models', 'wasm', 'web', 'tools/build', 'tools/abi.js', 'tools/shipped.js'],
  ...lists.map((name) => `tools/${name}`),
];
const BUILT = ['dist/index.js', 'dist/index.d.ts', 'dist/web/index.html', 'dist/web/qkv.html'];
const file = join(root, 'build/fingerprint');

function filesOf(path) {
  if (statSync(path).isFile()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** The hash of all sources, by their names and what is in them. */
export function fingerprint() {
  const hash = createHash('sha256');
  for (const path of SOURCES.flatMap((source) => filesOf(join(root, source)))) {
    const bytes = readFileSync(path);
    hash.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** Whether dist/ was built whole from the sources as they are now. */
export const isBuilt = () =>
  BUILT.every((name) => existsSync(join(root, name))) &&
  existsSync(file) &&
  readFileSync(file, 'utf8') === fingerprint();

/** For who builds a part of dist/: it may be of other sources than the rest. */
export const forget = () => rmSync(file, { force: true });

/** Builds all of dist/ by `work`, from sources that had this hash when it began. */
export async function building(work) {
  const of = fingerprint();
  await work();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, of);
}
