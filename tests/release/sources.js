// A copy of the sources in a temporary folder, for tests of commands that build or change them.
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../support/js/files.js';

/** What the page and its modules are built from. */
const SOURCES = [
  ...['core', 'tests/support/js', 'tools', 'wasm', 'web', '.toolchain/env'],
  ...['package.json', 'package-lock.json', 'CMakeLists.txt', 'CMakePresets.json'],
];

/** The folder with these copies and those of `more`; the models, the packages and `linked` are those of the original. */
export function copyOfSources(more = [], linked = []) {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-sources-'));
  const put = (paths, write) => {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      write(join(root, path), join(folder, path));
    }
  };
  put([...SOURCES, ...more], (from, to) => cpSync(from, to, { recursive: true }));
  put(['models', 'node_modules', ...linked], symlinkSync);
  return folder;
}
