// What the group `lint` of `npm test` runs: formatters, linters, types and the documentation.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolchain, tsc } from './environment.js';
import { must, run } from './run.js';
import { check, command, ifPresent } from './runners.js';
import { files } from './tree.js';

const bin = (name) => join(root, 'node_modules/.bin', name);

/**
 * What clang-tidy reads of the core: batches of sources, which read their headers once and so take a tenth of the time of single files.
 * All units of instruction sets hold the same kernels, and take half a minute each: it reads one that fuses its roundings and one that
 * does not.
 */
function tidySources() {
  const commands = readFileSync(join(root, 'build/tidy/compile_commands.json'), 'utf8');
  const read = JSON.parse(commands).map(({ file }) => file);
  const left = read.filter((file) => file.includes('/arch/')).slice(1, -1);
  return read.filter((file) => !left.includes(file));
}

/** What clang-tidy found, each with its line of code: besides, it writes of every file how much it left out. */
function findings(output) {
  const lines = output.split('\n');
  const isFinding = (line = '') => /: (?:error|warning): /.test(line);
  const found = lines.filter((_, i) => [0, 1, 2].some((back) => isFinding(lines[i - back])));
  return found.length > 0 ? found.join('\n') : output;
}

/** clang-tidy over the core, on as many cores as there are. It needs no build, but the commands of one. */
async function tidy() {
  const options = ['-DQKV_BUILD_TESTS=OFF', '-DQKV_UNITY=ON'];
  await must('cmake', ['--preset', 'native', '-B', 'build/tidy', ...options]);
  // It comes in one package with clang-tidy, and takes its last arguments for regular expressions of paths.
  const program = toolchain.CLANG_TIDY.replace(/clang-tidy(?=[^/]*$)/, 'run-clang-tidy');
  const line = ['-clang-tidy-binary', toolchain.CLANG_TIDY, '-p', 'build/tidy', '-quiet'];
  // A batch is a file that includes sources.
  line.push('-checks=-bugprone-suspicious-include');
  const sources = tidySources();
  const { code, output } = await run(program, [...line, ...sources.map((file) => `${file}$`)]);
  return {
    problem: code === 0 ? '' : findings(output),
    note: `${sources.length} batches and files`,
  };
}

/** The documentation is made by a build, whose warnings are errors. */
const isMade = async (name) =>
  existsSync(join(root, 'build/docs', name)) ? '' : `build/docs/${name} was not made`;

export const lint = () =>
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
      ifPresent('CLANG_TIDY', check('clang-tidy', tidy)),
      // More than a minute of two processors, for what compilers do not warn of.
      { full: true, needs: ['tools'] },
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
