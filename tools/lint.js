// What the group `lint` of `npm test` runs: formatters, linters, types and the documentation.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { changedFiles } from './changed.js';
import { root, toolchain, tsc } from './environment.js';
import { must, run } from './run.js';
import { check, command, ifPresent, nativeIsas } from './runners.js';
import { files } from './tree.js';

const bin = (name) => join(root, 'node_modules/.bin', name);

/** clang-tidy over these sources, on as many cores as there are. It needs no build, but the commands of one. */
async function tidy(sources) {
  // A file of a batch has no command of its own.
  const options = ['-DQKV_BUILD_TESTS=OFF', '-DQKV_UNITY=OFF'];
  await must('cmake', ['--preset', 'native', '-B', 'build/tidy', ...options]);
  // It comes in one package with clang-tidy, and takes its last argument for a regular expression of paths.
  const program = toolchain.CLANG_TIDY.replace(/clang-tidy(?=[^/]*$)/, 'run-clang-tidy');
  const binary = ['-clang-tidy-binary', toolchain.CLANG_TIDY];
  const paths = sources.map((file) => `${join(root, file)}$`);
  const { code, output } = await run(program, [...binary, '-p', 'build/tidy', '-quiet', ...paths]);
  return code === 0 ? '' : output;
}

/**
 * The sources that clang-tidy reads, and their number in words: all of them, or those that the change at hand can have made
 * worse, as each takes twelve seconds of a processor.
 */
export async function tidySources(full) {
  // Units of other machines are in no build of this one, from which clang-tidy has its commands.
  const all = (await files('core/src/**/*.cpp')).filter(
    (file) => !file.includes('/arch/') || nativeIsas.includes(basename(file, '.cpp')),
  );
  const units = all.filter((file) => file.includes('/arch/'));
  // All units hold the same kernels: read are one that fuses its roundings and one that does not.
  const read = all.filter((file) => !units.slice(1, -1).includes(file));
  const everything = { sources: read, note: `${read.length} files` };
  if (full) return everything;
  const changed = await changedFiles();
  if (changed.includes('.clang-tidy')) return everything;
  const textOf = (file) => readFileSync(join(root, file), 'utf8');
  /** A changed header is read through one source that includes it. */
  const throughSource = (header) => {
    if (header.startsWith('core/src/kernels/'))
      return read.filter((file) => file.includes('/arch/'));
    const name = basename(header);
    return read.filter((file) => textOf(file).includes(`${name}"`)).slice(0, 1);
  };
  const headers = changed.filter((file) => /^core\/.*\.hpp$/.test(file));
  const through = new Set(headers.flatMap(throughSource));
  const sources = read.filter((file) => changed.includes(file) || through.has(file));
  return { sources, note: `${sources.length} changed files` };
}

/** The documentation is made by a build, whose warnings are errors. */
const isMade = async (name) =>
  existsSync(join(root, 'build/docs', name)) ? '' : `build/docs/${name} was not made`;

export const lint = (full) =>
  [
    ['oxfmt', command('oxfmt', bin('oxfmt'), '--check', '.')],
    // Its rules for TypeScript know the types of all files: when a function becomes async, callers that do not await it are
    // wrong, wherever they are.
    ['oxlint', command('oxlint', bin('oxlint')), { needs: ['types'] }],
    ['types: page', command('types: page', tsc, '-p', 'web', '--noEmit'), { needs: ['types'] }],
    [
      'types: service worker',
      command('types: service worker', tsc, '-p', 'web/offline', '--noEmit'),
      { needs: ['types'] },
    ],
    [
      'clang-format',
      ifPresent(
        'CLANG_FORMAT',
        check('clang-format', async () => {
          const sources = await files('**/*.cpp', '**/*.hpp');
          const { code, output } = await run(toolchain.CLANG_FORMAT, ['-n', '-Werror', ...sources]);
          return code === 0 ? '' : output;
        }),
      ),
      { needs: ['tools'] },
    ],
    [
      'clang-tidy',
      ifPresent(
        'CLANG_TIDY',
        check('clang-tidy', async () => {
          const { sources, note } = await tidySources(full);
          return { problem: sources.length > 0 ? await tidy(sources) : '', note };
        }),
      ),
      { needs: ['tools'] },
    ],
    ['documentation', check('documentation', () => isMade('index.html')), { needs: ['docs'] }],
    [
      'documentation: core',
      ifPresent(
        'DOXYGEN',
        check('documentation: core', () => isMade('core/index.html')),
      ),
      { needs: ['docs'] },
    ],
  ].map(([name, part, more]) => ({ name, parts: [part], ...more }));
