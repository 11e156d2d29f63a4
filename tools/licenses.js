// node tools/licenses.js: writes into LICENSES.md which packages build and test this project, by license, as
// the lock files have them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './environment.js';

/** The folders with a lock file, and what their packages are for. */
export const folders = {
  '.': 'builds, page and linters',
  'tests/release/tools': 'checks of the package, and what it is tried in',
  'tools/mutants': 'places of planted faults',
};

const [begin, end] = ['<!-- packages: node tools/licenses.js -->', '<!-- /packages -->'];

const read = (folder, file) => JSON.parse(readFileSync(join(root, folder, file), 'utf8'));

/** What packages ship as a text only, where npm does not look for it; read by a person. */
const looked = {
  'parse-cache-control': 'BSD-3-Clause',
  spawndamnit: 'MIT',
};
const licenseOf = (path, said) => looked[path.split('node_modules/').at(-1)] ?? said ?? 'unknown';

/** What the lock file of a folder installs: [{ path, version, license, integrity }]. */
export function installed(folder) {
  const { packages } = read(folder, 'package-lock.json');
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version, license, integrity }]) => ({
      ...{ path, version, integrity },
      license: licenseOf(path, license),
    }));
}

/** The packages that a folder names: { name: version }. */
export function dependenciesOf(folder) {
  const { dependencies, devDependencies } = read(folder, 'package.json');
  return { ...dependencies, ...devDependencies };
}

const row = (cells) => `| ${cells.join(' | ')} |`;

function table() {
  const rows = [row(['for', 'package', 'version', 'license']), row(['---', '---', '---', '---'])];
  for (const [folder, purpose] of Object.entries(folders)) {
    const all = installed(folder);
    const direct = Object.keys(dependenciesOf(folder))
      .sort()
      .map((name) => `node_modules/${name}`);
    for (const wanted of direct) {
      const { path, version, license } = all.find((each) => each.path === wanted);
      rows.push(row([purpose, path.replace('node_modules/', ''), version, license]));
    }
    const others = all.filter(({ path }) => !direct.includes(path));
    const licenses = [...new Set(others.map(({ license }) => license))].sort();
    rows.push(row([purpose, `${others.length} that these bring along`, '', licenses.join('; ')]));
  }
  return rows.join('\n');
}

/** LICENSES.md with its table made anew. */
export function withPackages(markdown) {
  const [before, rest] = markdown.split(begin);
  const [, after] = rest?.split(end) ?? [];
  if (after === undefined) throw new Error(`expected one ${begin} … ${end}`);
  return `${before}${begin}\n\n${table()}\n\n${end}${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = join(root, 'LICENSES.md');
  writeFileSync(file, withPackages(readFileSync(file, 'utf8')));
}
