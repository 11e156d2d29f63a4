// The tools of the gates: a package of their own beside this file, so that who builds or uses qkv does not
// install them. Exact versions with their hashes are in package-lock.json; whoever needs one first gets all,
// into a folder of build/ that is named after the lock file.
//
//   node tests/release/tools.js @changesets/cli/bin.js status    runs one of them from the root
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../support/js/files.js';

const here = join(dirname(fileURLToPath(import.meta.url)), 'gates');
const lock = readFileSync(join(here, 'package-lock.json'));
const all = join(root, 'build/gates');
const folder = join(all, createHash('sha256').update(lock).digest('hex').slice(0, 12));

/** Installs next to the final place and moves it there whole: tests that run at once may both do so. */
function install() {
  const temporary = join(all, `installing-${process.pid}`);
  mkdirSync(temporary, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    copyFileSync(name === '.npmrc' ? join(root, name) : join(here, name), join(temporary, name));
  }
  const line = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, stdout, stderr } = spawnSync('npm', line, { cwd: temporary, encoding: 'utf8' });
  if (status === 0 && !existsSync(folder)) {
    try {
      renameSync(temporary, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    }
  }
  rmSync(temporary, { recursive: true, force: true });
  if (status !== 0) throw new Error(`npm ci for tests/release failed:\n${stdout}${stderr}`);
}

/** The path of a file of a tool, after installing all of them if need be. */
export function tool(path) {
  if (!existsSync(folder)) install();
  return join(folder, 'node_modules', path);
}

/** The version of an installed tool. */
export const versionOf = (name) =>
  JSON.parse(readFileSync(tool(`${name}/package.json`), 'utf8')).version;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path, ...args] = process.argv.slice(2);
  const line = [tool(path), ...args];
  process.exitCode = spawnSync(process.execPath, line, { cwd: root, stdio: 'inherit' }).status;
}
