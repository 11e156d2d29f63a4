// Where the consumers live: build/consumers holds the tools, installed once, and beside them an empty project
// for each consumer with the package out of its tarball.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { pack } from '../../packed.js';
import { root } from '../../../support/js/files.js';

const run = promisify(execFile);
const here = join(root, 'tests/release/consumers');
export const workshop = join(root, 'build/consumers');
const projects = join(workshop, 'projects');
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];

const wanted = () => readFileSync(join(root, 'tests/release/tools/package-lock.json'), 'utf8');
const stamp = join(workshop, 'installed.json');

/** Whether npm's registry answers, so that a failed installation is not the network's fault. */
const online = () =>
  run('npm', ['ping'], { timeout: 30_000 }).then(
    () => true,
    () => false,
  );

/**
 * Installs the tools, unless they are there. Resolves to the reason why they cannot be had, which only
 * being offline is; any other failure is an error.
 */
export async function installTools() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted()) return undefined;
  mkdirSync(workshop, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    cpSync(join(root, 'tests/release/tools', name), join(workshop, name));
  }
  try {
    // Not `npm ci`, which refuses a lock without every platform's packages, and not every registry has them.
    await run('npm', ['install', ...quiet], { cwd: workshop });
  } catch (error) {
    if (await online()) throw error;
    const [why = error.message] = /npm error .*/.exec(error.stderr) ?? [];
    return `the tools are not installed and there is no network (${why})`;
  }
  // Imports by name what is installed here.
  writeFileSync(join(workshop, 'load.js'), 'export const load = (name) => import(name);\n');
  writeFileSync(stamp, wanted());
  return undefined;
}

/** A module among the tools. */
export async function tool(name) {
  const { load } = await import(pathToFileURL(join(workshop, 'load.js')));
  return load(name);
}

/** The version of a tool that is installed, or undefined. */
export function versionOf(name) {
  const file = join(workshop, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/** The path of a file of a tool. */
export const toolFile = (...path) => join(workshop, 'node_modules', ...path);

/** Packs the package and installs it, without a network, into the project that all others are copies of. */
export async function packPackage() {
  rmSync(projects, { recursive: true, force: true });
  const template = join(projects, 'template');
  mkdirSync(template, { recursive: true });
  const { file } = await pack(projects);
  writeFileSync(join(template, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--offline', ...quiet, file], { cwd: template });
  cpSync(join(here, 'matrix/example.js'), join(template, 'example.js'));
}

let count = 0;

/** A new project with these files besides: its folder. */
export function newProject(files) {
  const folder = join(projects, `project-${++count}`);
  cpSync(join(projects, 'template'), folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** What a command prints when it is run in a project; what it printed is also in the error. */
export async function runIn(cwd, command, args, { env = {} } = {}) {
  const options = { cwd, env: { ...process.env, NODE_OPTIONS: '', NODE_TEST_CONTEXT: '', ...env } };
  // Runners of tests behave otherwise when they believe to be run by one.
  delete options.env.NODE_TEST_CONTEXT;
  try {
    return await run(command, args, options);
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}${error.stderr}`);
  }
}
