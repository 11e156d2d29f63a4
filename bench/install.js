// Puts packages of others into build/peers, outside of what this project depends on.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tools/environment.js';
import { must, step } from '../tools/run.js';

const folder = join(root, 'build/peers');

/** What a package is requested by; `versions` may say it whole, as `npm:` with another name and a version. */
const wanted = ([name, version]) => `${name}@${version}`;

function present([name, version]) {
  const file = join(folder, 'node_modules', name, 'package.json');
  const exact = version.split('@').at(-1);
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === exact;
}

/** The exact versions of `{ name: version }`, without running their install scripts; what is there stays. */
export function install(versions) {
  const entries = Object.entries(versions);
  if (entries.every(present)) return undefined;
  mkdirSync(folder, { recursive: true });
  const own = join(folder, 'package.json');
  if (!existsSync(own)) writeFileSync(own, '{ "private": true }\n');
  return step('install the peers into build/peers', () =>
    must('npm', [
      // Optional packages would be programs for graphics cards, half a gigabyte.
      ...['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'],
      ...['--save-exact', '--prefix', folder, ...entries.map(wanted)],
    ]),
  );
}
