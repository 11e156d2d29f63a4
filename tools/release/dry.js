// npm run release:dry: everything that a release does, in a clean clone of the commit that is checked out, up to and without publishing. Nothing of this
// checkout changes. Prints each step with its seconds; what was made is in build/release.
//
//   npm run release:dry -- --keep    leaves the clone where it is, and says where
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { must } from '../run.js';
import { pending } from './changesets.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const made = join(root, 'build/release');

/** Stands for the owner of the repository where nobody has set one. */
const SOMEBODY = 'somebody';

const minutes = 60_000;
const node = process.execPath;

/** Runs a step and prints its name, its seconds and what `says` makes of its output. */
async function step(name, run, says = () => '') {
  const start = performance.now();
  process.stdout.write(`${name} ... `);
  const result = await run();
  console.log(`${((performance.now() - start) / 1000).toFixed(1)} s`);
  const said = says(result);
  if (said) console.log(said.trim().replaceAll(/^/gm, '    '));
  return result;
}

/** Commands of the clone, in an environment of their own: caches of npm and of the compiler are those of the machine. */
const inClone = (clone) => (command, args, timeout) =>
  must(command, args, { cwd: clone, timeout: timeout * minutes });

const output = ({ stdout }) => stdout;
const lastLines =
  (count) =>
  ({ stdout }) =>
    stdout.trim().split('\n').slice(-count).join('\n');

/** The newest section of a changelog. */
const newest = (changelog) => changelog.split(/^(?=## \d)/m)[1];

/** Tools that tests/release/tools.js has installed here: 1.3 GB that the clone need not fetch again. */
function shareTools(clone) {
  mkdirSync(join(clone, 'build'));
  const folders = readdirSync(join(root, 'build')).filter((name) =>
    /^tools-\w+(-all)?$/.test(name),
  );
  for (const name of folders) symlinkSync(join(root, 'build', name), join(clone, 'build', name));
}

async function release(clone) {
  const run = inClone(clone);
  const script = (path, ...args) => run(node, [path, ...args], 5);
  const json = (path) => JSON.parse(readFileSync(join(clone, path), 'utf8'));
  const build = () => run(node, ['tools/build.js', 'wasm', 'package'], 30);

  await step('tools: tools/bootstrap start', () => run('tools/bootstrap', ['start'], 30), lastLines(1));
  if (json('package.json').repository.url.includes('OWNER')) {
    const set = ['tools/release/addresses.js', '--owner', SOMEBODY];
    await step(`addresses: none are set, ${SOMEBODY} stands for the owner`, () => script(...set));
  }
  if (Object.keys(pending(clone)).length > 0) {
    await step('version: npm run release:version', () => script('tools/release/version.js'), output);
  } else {
    console.log('version: .changeset is empty, the version is raised already');
  }
  await step('build: the package of the new version', build);
  await step('sizes: npm run sizes', () => script('tools/sizes.js'));
  const { version, repository } = json('package.json');
  const owned = repository.url.replace('git+https://github.com/', '').replace('.git', '');
  const args = ['--tag', `v${version}`, '--repository', owned];
  await step('check: tools/check_release.js', () => script('tools/check_release.js', ...args));
  const destination = ['--destination', made];
  const packed = await step('pack: tools/release/pack.js', () => script('tools/release/pack.js', ...destination), output);
  const [, tarball] = /^(.*\.tgz): /m.exec(packed.stdout);
  await step('inspect: every file of it, and why', () => script('tools/release/inspect.js', tarball), output);
  const bill = await step('sbom: tools/release/sbom.js', () => script('tools/release/sbom.js', tarball), ({ stdout }) =>
    JSON.parse(stdout).components.map(({ purl }) => purl).join('\n'));
  writeFileSync(tarball.replace(/\.tgz$/, '.cdx.json'), bill.stdout);
  await step('install: in an empty project, without a network', () => install(tarball), output);
  const publish = ['publish', tarball, '--dry-run', '--access', 'public', '--ignore-scripts'];
  await step('publish: npm publish --dry-run', () => run('npm', publish, 5), ({ output: said }) =>
    said.split('\n').filter((line) => /^npm (notice (version|filename|package size|integrity|total files)|warn|error)|^\+/.test(line)).join('\n'));
  cpSync(join(clone, 'CHANGELOG.md'), join(made, 'CHANGELOG.md'));
  console.log(`\nnotes of ${version}\n`);
  console.log(newest(readFileSync(join(made, 'CHANGELOG.md'), 'utf8')));
} // prettier-ignore

/** Installs a tarball as a user does, and computes with it. */
async function install(tarball) {
  const project = mkdtempSync(join(tmpdir(), 'qkv-user-'));
  try {
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
    const quiet = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    await must('npm', ['install', tarball, ...quiet], { cwd: project, timeout: 2 * minutes });
    const program = `import { init } from 'qkv'; console.log((await init()).info.version);`;
    return await must(node, ['--input-type=module', '-e', program], { cwd: project });
  } finally {
    rmSync(project, { recursive: true });
  }
}

async function main() {
  const { values } = parseArgs({ options: { keep: { type: 'boolean' } } });
  const temporary = mkdtempSync(join(tmpdir(), 'qkv-release-'));
  const clone = join(temporary, 'qkv');
  mkdirSync(made, { recursive: true });
  try {
    const cloned = ['clone', '--quiet', root, clone];
    await step('clone: the commit that is checked out', () => must('git', cloned));
    shareTools(clone);
    await release(clone);
  } finally {
    if (values.keep) console.log(`the clone is ${clone}`);
    else rmSync(temporary, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
