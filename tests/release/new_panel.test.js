// @run full, or after changes in tools/new_panel tools/new_panel.js
// npm run new-panel (tools/new_panel.js): what it writes is a panel that compiles, is formatted, is built within the budgets and passes
// its tests; and what it refuses. It writes into a copy of the sources.
// @build any
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { newPanel } from '../../tools/new_panel.js';
import { root } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { copyOfSources } from './sources.js';

const run = promisify(execFile);
const NAME = 'heaviest';
/** Of a panel, its texts and styles with it (web/README.md). */
const BUDGET = 40e3;

/** The sources of the page and of its tests, with what is built beside them. */
function copyWithTests() {
  const built = readdirSync(join(root, 'dist')).filter((entry) => entry !== 'web');
  return copyOfSources(
    ['tests/page/numbers', 'tests/page/support', '.oxfmtrc.json', '.oxlintrc.json'],
    ['build/types', ...built.map((name) => `dist/${name}`)],
  );
}

describe('new panel:', () => {
  let folder;
  let written;
  before(async () => {
    folder = copyWithTests();
    written = await newPanel(folder, NAME);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  /** A tool of node_modules on the copy; what it says if it fails. */
  const tool = (script, ...args) =>
    run(process.execPath, [join(root, 'node_modules', script), ...args], { cwd: folder }).catch(
      ({ stdout, stderr }) => assert.fail(`${stdout}\n${stderr}`),
    );

  test('is a folder, a test and its name in the registry', () => {
    assert.deepEqual(written.sort(), [
      `tests/page/numbers/${NAME}.test.js`,
      'web/src/chapters/index.ts',
      ...['en.json', 'feature.ts', 'page/figure.ts', 'panel.ts', 'state.ts', 'style.css'].map(
        (file) => `web/src/features/${NAME}/${file}`,
      ),
      ...['worker/frame_feature.ts', 'zh.json'].map((file) => `web/src/features/${NAME}/${file}`),
      'web/src/features/index.ts',
    ]);
    const [before, now] = [root, folder].map((of) =>
      readFileSync(join(of, 'web/src/features/index.ts'), 'utf8').split('\n'),
    );
    assert.deepEqual(
      now.filter((line) => !before.includes(line)),
      [`import { ${NAME} } from './${NAME}/feature';`, `  ${NAME},`],
    );
    assert.equal(now.length, before.length + 2);
  });

  test('compiles, and is written as oxlint and oxfmt want it', async () => {
    await tool('typescript-newest/bin/tsc', '-p', 'web', '--noEmit');
    await tool('oxfmt/bin/oxfmt', '--check', ...written);
    await tool('oxlint/bin/oxlint', ...written.filter((file) => /\.[jt]s$/.test(file)));
  });

  /** Runs files of tests/page/numbers in the copy. */
  async function runTests(...names) {
    const paths = names.map((name) => `tests/page/numbers/${name}.test.js`);
    // Of another run of node:test than the one that this file is part of.
    const env = { ...process.env };
    delete env.NODE_TEST_CONTEXT;
    await run(process.execPath, ['--test', ...paths], { cwd: folder, env }).catch(({ stdout }) =>
      assert.fail(stdout.slice(-4000)),
    );
  }

  test('passes its tests', () => runTests(NAME));

  inFullRun(
    'a new panel in a build of the page, and in the tests of links and of the registry',
    () => {
      test('is built within the budget of a panel, and its worker is not in the page', async () => {
        await tool(
          'vite/bin/vite.js',
          'build',
          '--config',
          'web/vite.config.ts',
          '--logLevel',
          'warn',
        );
        const assets = join(folder, 'dist/web/assets');
        const sourceOf = (file) => readFileSync(join(assets, file), 'utf8');
        const files = readdirSync(assets);
        const own = files.filter((file) => file.startsWith(NAME));
        assert.equal(own.length, 3, `its code and two catalogues, got ${own.join()}`);
        const size = own.reduce((sum, file) => sum + gzipSync(sourceOf(file)).length, 0);
        assert.ok(size < BUDGET, `${size} bytes`);
        const computing = files.filter(
          (file) =>
            /^(index|worker|worker_code)-.*\.js$/.test(file) &&
            sourceOf(file).includes(`${NAME}/worker`),
        );
        assert.deepEqual(
          computing.map((file) => file.split('-')[0]),
          ['worker_code'],
        );
      });

      test('passes the tests of links and of the registry', () =>
        runTests('link', 'loading', 'catalogues', 'styles'));
    },
  );

  for (const [name, why] of [
    ['', /letters/],
    ['Heads', /letters/],
    ['two_words', /letters/],
    ['../x', /letters/],
    ['class', /JavaScript/],
    ['map', /there is web\/src\/features\/map/],
    [NAME, /there is/],
    ['curves', /key in the link/],
    ['temperature', /there is/],
    ['bar', /texts of this name/],
  ]) {
    test(`refuses the name ${JSON.stringify(name)}`, async () => {
      await assert.rejects(newPanel(folder, name), why);
    });
  }
});
