// The tools that tests/release checks and tries the package with: a package of their own (tests/release/tools),
// so that who builds or uses qkv does not install them. Exact versions with their hashes are in its lock file.
// Its dependencies serve every run and its devDependencies the full one; whoever needs a tool first installs the
// set that has it, into a folder of build/ that is named after the lock file.
//
//   node tests/release/tools.js --install                         installs what this run needs, and all with QKV_FULL=1
//   node tests/release/tools.js @changesets/cli/bin.js status     runs one of them from the root
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { full } from '../support/js/full.js';
import { root } from '../support/js/files.js';

const here = join(dirname(fileURLToPath(import.meta.url)), 'tools');
const files = ['package.json', 'package-lock.json', '.npmrc'];
const contents = files.map((name) => fs.readFileSync(join(here, name)));
const hash = createHash('sha256').update(Buffer.concat(contents)).digest('hex').slice(0, 12);
const { dependencies } = JSON.parse(contents[0]);
const { packages } = JSON.parse(contents[1]);

/** Where a set is: that of every run, or all. */
const place = (all) => join(root, 'build', `tools-${hash}${all ? '-all' : ''}`);

/** The folder of a set that is installed; the whole is as good as a part. */
const present = (all) => [place(true), ...(all ? [] : [place(false)])].find(fs.existsSync);

const minutes = 60_000;
const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];

/** Installs a set next to its place and moves it there whole: an interrupted run leaves no half set. */
function install(all) {
  const temporary = `${place(all)}.${process.pid}`;
  fs.mkdirSync(temporary, { recursive: true });
  for (const [i, name] of files.entries()) fs.writeFileSync(join(temporary, name), contents[i]);
  // Imports by name what is installed beside it.
  fs.writeFileSync(join(temporary, 'load.js'), 'export const load = (name) => import(name);\n');
  try {
    // Not `npm ci`, which refuses a lock without every platform's packages, and not every registry has them.
    const line = [...npm, ...(all ? [] : ['--omit=dev'])];
    const options = { cwd: temporary, encoding: 'utf8', timeout: 15 * minutes };
    const { status, stdout, stderr, error } = spawnSync('npm', line, options);
    if (status !== 0) {
      const why = error?.code === 'ETIMEDOUT' ? 'did not end in 15 minutes' : 'failed';
      throw new Error(`npm install of tests/release/tools ${why}:\n${stdout}${stderr}`);
    }
    if (!fs.existsSync(place(all))) fs.renameSync(temporary, place(all));
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

/** Whether the process that wrote its number into a file is alive; one that is about to write it is. */
function isHeld(lock) {
  try {
    const pid = Number(fs.readFileSync(lock, 'utf8'));
    return pid === 0 || process.kill(pid, 0);
  } catch {
    return false;
  }
}

const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** The folder of a set, after installing it if need be. Of processes that want it at once, one installs it. */
export function toolsFolder(all = full) {
  const lock = `${place(all)}.lock`;
  fs.mkdirSync(dirname(lock), { recursive: true });
  const patience = Date.now() + 20 * minutes;
  while (!present(all)) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!isHeld(lock)) fs.rmSync(lock, { force: true });
      else if (Date.now() > patience) throw new Error(`${lock} was held for 20 minutes`);
      else pause(200);
      continue;
    }
    try {
      if (!present(all)) install(all);
    } finally {
      fs.rmSync(lock, { force: true });
    }
  }
  return present(all);
}

/** The name of the package that a path inside node_modules begins with. */
const packageOf = (path) => /^(@[^/]+\/)?[^/]+/.exec(path)[0];

/** The folder that has the package of a path: those of devDependencies are in the whole set alone. */
const folderFor = (path) => toolsFolder(full || !(packageOf(path) in dependencies));

/** The path of a file of a tool. */
export const tool = (path) => join(folderFor(path), 'node_modules', path);

/** Whether the lock file has a package: some of those for one platform alone are missing in it. */
export const isLocked = (name) => `node_modules/${name}` in packages;

/** The version of a tool. */
export const versionOf = (name) =>
  JSON.parse(fs.readFileSync(tool(`${name}/package.json`), 'utf8')).version;

/** A tool as a module. */
export async function load(name) {
  const loader = await import(pathToFileURL(join(folderFor(name), 'load.js')).href);
  return loader.load(name);
}

function main([path, ...args]) {
  if (path === '--install') {
    const start = performance.now();
    const folder = toolsFolder();
    console.log(`${folder}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
    return 0;
  }
  return spawnSync(process.execPath, [tool(path), ...args], { cwd: root, stdio: 'inherit' }).status;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv.slice(2));
}
