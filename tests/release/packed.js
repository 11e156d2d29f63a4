// The package as a stranger gets it: packed, and installed into an empty project without a network.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, run } from '../../tools/run.js';
import { PATIENCE } from '../support/js/patience.js';

/** Packs the tree into a folder: what npm says it packed, and the tarball. */
export async function pack(folder) {
  const line = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await must('npm', line, { timeout: PATIENCE.test });
  const [packed] = JSON.parse(stdout);
  return { packed, file: join(folder, packed.filename) };
}

/** Installs a tarball into a project, without a network. */
export function install(file, project) {
  const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
  return must('npm', ['install', file, ...quiet], { cwd: project, timeout: PATIENCE.test });
}

/**
 * Packs the tree and installs the tarball. Resolves to { packed, file, project, write, inProject, attempt, remove }:
 * what npm says it packed, the tarball, the folder of the project, and how to write a file and run a command
 * there, one that must succeed or one that may fail.
 */
export async function installPacked() {
  const temporary = mkdtempSync(join(tmpdir(), 'qkv-consumer-'));
  const project = join(temporary, 'project');
  const write = (name, content) => writeFileSync(join(project, name), content);
  const options = { cwd: project, timeout: PATIENCE.test };
  const inProject = (command, ...args) => must(command, args, options);
  const attempt = (command, ...args) => run(command, args, options);
  const { packed, file } = await pack(temporary);
  mkdirSync(project);
  write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  await install(file, project);
  const remove = () => rmSync(temporary, { recursive: true, force: true });
  return { packed, file, project, write, inProject, attempt, remove };
}
