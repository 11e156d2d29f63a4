// The package as a stranger gets it: packed, and installed into an empty project without a network.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../support/js/files.js';

const run = promisify(execFile);

/** Packs the tree into a folder: what npm says it packed, and the tarball. */
export async function pack(folder) {
  const line = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', line, { cwd: root, encoding: 'utf8' });
  const [packed] = JSON.parse(stdout);
  return { packed, file: join(folder, packed.filename) };
}

/**
 * Packs the tree and installs the tarball. Resolves to { packed, file, project, write, inProject, remove }:
 * what npm says it packed, the tarball, the folder of the project, and how to write a file and run a
 * command there.
 */
export async function installPacked() {
  const temporary = mkdtempSync(join(tmpdir(), 'qkv-consumer-'));
  const project = join(temporary, 'project');
  const write = (name, content) => writeFileSync(join(project, name), content);
  // What they print is read: no colours, which many show where the variable CI is set.
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined };
  const inProject = (command, ...args) =>
    run(command, args, { cwd: project, encoding: 'utf8', env });
  const { packed, file } = await pack(temporary);
  mkdirSync(project);
  write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
  await inProject('npm', 'install', file, ...quiet);
  const remove = () => rmSync(temporary, { recursive: true, force: true });
  return { packed, file, project, write, inProject, remove };
}
