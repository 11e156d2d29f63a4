// What the group `lint` of `npm test` runs: formatters, linters, types and the documentation. An everyday run reads of the sources what
// a change touches.
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { changedFiles, spread } from './changed.js';
import { root, toolchain } from './environment.js';
import { must, run } from './run.js';
import { check, command, ifPresent, nativeIsas } from './runners.js';
import { files } from './tree.js';

const bin = (name) => join(root, 'node_modules/.bin', name);

/** clang-tidy over these sources, on as many cores as there are. It needs no build, but the commands of one. */
async function tidy(sources) {
  // A file of a batch has no command of its own.
  const options = ['-DQKV_BUILD_TESTS=OFF', '-DQKV_UNITY=OFF'];
  await must('cmake', ['--preset', 'native', '-B', 'build/tidy', ...options]);
  const cores = availableParallelism();
  const shares = Array.from({ length: cores }, (_, i) => sources.filter((_, j) => j % cores === i));
  const results = await Promise.all(
    shares
      .filter((share) => share.length > 0)
      .map((share) => run(toolchain.CLANG_TIDY, ['-p', 'build/tidy', '--quiet', ...share])),
  );
  return results.map(({ code, output }) => (code === 0 ? '' : output)).join('');
}

/** Most sources of a change that clang-tidy reads on an everyday run: each takes twelve seconds of a processor. */
const MOST_TIDY = 2;

/**
 * The sources that clang-tidy reads, and their number in words: all of them, or at most MOST_TIDY of those that a change
 * can have made worse, taken evenly.
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
  const own = read.filter((file) => changed.includes(file) || through.has(file));
  const sources = spread(own, MOST_TIDY);
  const share = sources.length < own.length ? `${sources.length} of ` : '';
  return { sources, note: `${share}${own.length} changed files` };
}

/** Of the files of a change, those that it did not delete. */
const isThere = (file) => existsSync(join(root, file));

/** What rules stand on besides the sources and the tools, whose versions nobody changes without a full run. */
const rulesStandOn = /(^|\/)(eslint\.config\.js|imports\.js|tsconfig[^/]*\.json)$/;

/** Most files of TypeScript of a change that eslint reads on an everyday run: with their types ten take a second of a processor. */
const MOST_TYPED = 120;

/**
 * What eslint reads, and how much that is in words: everything, or what a change touches, of TypeScript at most MOST_TYPED
 * files, taken evenly. All of it takes a minute of a processor, JavaScript ten seconds. Rules for JavaScript look at one file,
 * and what a change breaks in other files of TypeScript is mostly types, for which tsc reads all files. Not all of it is: when a
 * function becomes async, callers that do not await it break no-floating-promises, and where these callers did not change, only
 * the full run reads them.
 */
async function eslintSources(full) {
  const changed = await changedFiles();
  if (full || changed.some((file) => rulesStandOn.test(file))) return { sources: ['.'] };
  const there = changed.filter(isThere);
  const typed = there.filter((file) => file.endsWith('.ts'));
  const read = spread(typed, MOST_TYPED);
  return {
    sources: [...there.filter((file) => file.endsWith('.js')), ...read],
    note: read.length < typed.length ? `${read.length} of ${typed.length} files of TypeScript` : '',
  };
}

/** Prettier reads everything, or what a change touches: all of it takes twenty seconds of a processor. */
async function prettierArguments(full) {
  const changed = await changedFiles();
  const rules = changed.some((file) => /^\.(prettier|editorconfig)/.test(file));
  const there = changed.filter(isThere);
  const read = full || rules || there.length === 0 ? ['.'] : there;
  return ['--check', '--ignore-unknown', ...read];
}

/** The documentation is made by a build, whose warnings are errors. */
const isMade = async (name) =>
  existsSync(join(root, 'build/docs', name)) ? '' : `build/docs/${name} was not made`;

export const lint = (full) =>
  [
    [
      'prettier',
      check('prettier', async () => {
        const { code, output } = await run(bin('prettier'), await prettierArguments(full));
        return code === 0 ? '' : output || `prettier ended with ${code}`;
      }),
    ],
    [
      'eslint',
      check('eslint', async () => {
        const { sources, note } = await eslintSources(full);
        const options = ['--no-warn-ignored', '--pass-on-no-patterns'];
        const { code, output } = await run(bin('eslint'), [...options, ...sources]);
        return { problem: code === 0 ? '' : output || `eslint ended with ${code}`, note };
      }),
      { needs: ['types'] },
    ],
    [
      'types: page',
      command('types: page', bin('tsc'), '-p', 'web', '--noEmit'),
      { needs: ['types'] },
    ],
    [
      'types: service worker',
      command('types: service worker', bin('tsc'), '-p', 'web/offline', '--noEmit'),
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
