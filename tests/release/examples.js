// The programs of examples/ beside the package as packed, and the commands of their README.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root, text } from '../support/js/files.js';
import { installPacked } from './packed.js';

const readme = text('examples/README.md');

/** The commands of the README, by folder. */
export const commands = new Map(
  Array.from(
    readme.matchAll(/^\| \[([\w-]+)\]\(([^)]+)\) \|.*\| `([^`]+)`.*\|$/gm),
    ([, name, file, command]) => {
      assert.ok(existsSync(join(root, 'examples', file)), file);
      return [name, command];
    },
  ),
);

/** The addresses of the package that the README tells those who have no checkout to replace: { file, here, there }. */
export const replacements = Array.from(
  readme.matchAll(/\]\(([\w./-]+)\)[^`]*\breplace\s`([^`]+)`\sby\s`([^`]+)`/g),
  ([, file, here, there]) => ({ file: join('examples', file), here, there }),
);

/** The arguments of the command of a program for Node. */
export function argumentsOf(name) {
  const words = Array.from(commands.get(name).matchAll(/"([^"]*)"|(\S+)/g), (m) => m[1] ?? m[2]);
  assert.equal(words[0], 'node');
  return words.slice(1);
}

/** The numbers of a line that a program prints. */
export const numbersIn = (line) =>
  Array.from(line.matchAll(/-?\d+(\.\d+)?/g), ([number]) => +number);

/** Copies examples/ into a folder, without what somebody has installed or built there. */
export const copyExamples = (to) =>
  cpSync(join(root, 'examples'), join(to, 'examples'), {
    recursive: true,
    filter: (path) => !['node_modules', 'dist'].includes(basename(path)),
  });

/** What installPacked() resolves to, with a copy of examples/ in the project. */
export async function installExamples() {
  const installed = await installPacked();
  copyExamples(installed.project);
  return installed;
}

/**
 * Makes of a folder of examples/ what its npm install would make, without a network: the package as packed, and the packages that its
 * package.json names besides, Vite with its program. Resolves to the folder.
 */
export function viteProject(installed, name, others = []) {
  const project = join(installed.project, 'examples', name);
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  cpSync(join(installed.project, 'node_modules/qkv'), join(modules, 'qkv'), { recursive: true });
  for (const each of ['vite', ...others]) {
    mkdirSync(dirname(join(modules, each)), { recursive: true });
    symlinkSync(join(root, 'node_modules', each), join(modules, each));
  }
  symlinkSync('../vite/bin/vite.js', join(modules, '.bin/vite'));
  if (others.includes('typescript'))
    symlinkSync('../typescript/bin/tsc', join(modules, '.bin/tsc'));
  return project;
}
