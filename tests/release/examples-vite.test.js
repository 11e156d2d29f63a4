// @run full, or after changes in examples/vite-page wasm/src/worker
// @build any
// examples/vite-page as a project of its own, with the package as packed: built and in development, what browsers make of it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { init } from 'qkv';
import { createServer, preview } from 'vite';
import { violations } from '../page/support/panel.js';
import { packageJson, text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { until } from '../support/js/patience.js';
import { replaced } from './consumers/stranger.js';
import { openTab, testIn } from './example-tabs.js';
import { commands, installExamples, viteProject } from './examples.js';

let installed;
let project;
let words;
before(async () => {
  installed = await installExamples();
  project = viteProject(installed, 'vite-page');
  words = await import(pathToFileURL(join(project, 'src/words.js')));
});
after(() => installed?.remove());

/** The table that the page has to show, by the package in Node. */
async function tableOf(said, options) {
  const own = words.wordsOf(said);
  const x = words.vectorsOf(own);
  const qkv = await init();
  const how = { numHeads: 1, returnWeights: true, ...options };
  const { data } = qkv.attention(x, x, x, how).weights;
  return { own, row: (t) => data.subarray(t * own.length, (t + 1) * own.length) };
}

async function use(browser, url) {
  const { tab, complaints, close } = await openTab(browser, url);
  const shown = () =>
    tab.evaluate(() => ({
      status: document.getElementById('status').value,
      table: Array.from(document.querySelectorAll('#table tr'), (row) =>
        Array.from(row.cells, (cell) => cell.textContent),
      ),
    }));
  const shows = async (said, options) => {
    const { own, row } = await tableOf(said, options);
    const isIt = ({ table: [heads, ...rows] }) =>
      String(heads) === String(['', ...own]) &&
      rows.length === own.length &&
      rows.every(
        ([name, ...cells], t) =>
          name === own[t] &&
          cells.length === own.length &&
          cells.every((cell, key) => Math.abs(Number(cell) - row(t)[key]) < 6e-4),
      );
    let seen;
    await until(
      async () => isIt((seen = await shown())),
      () => JSON.stringify({ said, options, ...seen }),
    );
    return { own, row };
  };

  const first = await tab.evaluate(() => document.getElementById('text').value);
  await shows(first, { scale: 4 });
  const cores = await tab.evaluate(() => [crossOriginIsolated, navigator.hardwareConcurrency]);
  assert.equal(cores[0], true, 'isolated');
  const { status } = await shown();
  assert.match(status, cores[1] > 1 ? /build: \w+-threads, / : /build: \w+, /);
  assert.ok(status.endsWith(`threads: ${Math.min(64, cores[1])}`), status);

  const select = async () => {
    await tab.focus('#text');
    await tab.evaluate(() => document.getElementById('text').select());
  };
  await select();
  await tab.keyboard.type('A cat, a hat and that bat.');
  await shows('a cat a hat and that bat', { scale: 4 });
  await tab.click('#causal');
  const { row } = await shows('a cat a hat and that bat', { scale: 4, causal: true });
  assert.deepEqual([...row(0)], [1, 0, 0, 0, 0, 0, 0]);
  await tab.focus('#scale');
  await tab.keyboard.press('ArrowLeft');
  const last = await shows('a cat a hat and that bat', { scale: 3, causal: true });

  // The picture has the numbers of the table, as opacity.
  const alphas = await tab.evaluate((count) => {
    const { width, height } = document.getElementById('map');
    const context = document.getElementById('map').getContext('2d');
    const { data } = context.getImageData(0, 0, width, height);
    const middle = (at) => Math.floor(width / 5 + ((at + 0.5) * (width - width / 5)) / count);
    return Array.from({ length: count * count }, (_, i) => {
      const [y, x] = [middle(Math.floor(i / count)), middle(i % count)];
      return data[4 * (y * width + x) + 3];
    });
  }, last.own.length);
  for (const [i, alpha] of alphas.entries()) {
    const { length } = last.own;
    const weight = last.row(Math.floor(i / length))[i % length];
    assert.ok(Math.abs(alpha / 255 - weight) < 0.01, `cell ${i}: ${alpha}, ${weight}`);
  }

  await select();
  await tab.keyboard.press('Delete');
  await until(
    async () => (await shown()).status.startsWith('words: 0, '),
    () => 'no word',
  );
  assert.deepEqual((await shown()).table, [['']]);
  await tab.keyboard.type('again');
  await shows('again', { scale: 3, causal: true });
  assert.deepEqual(complaints, []);
  return { tab, close };
}

const served = { host: '127.0.0.1', port: 0 };

test('examples: vite-page asks for this version of the package, and for the Vite that is tried', () => {
  const { dependencies, devDependencies } = JSON.parse(text('examples/vite-page/package.json'));
  assert.deepEqual(dependencies, { qkv: packageJson.version.replace(/(.*)\.\d+$/, '^$1.0') });
  assert.deepEqual(devDependencies, { vite: packageJson.devDependencies.vite });
  assert.match(commands.get('vite-page'), /^npm --prefix examples\/vite-page install .*npm pack/);
});

test('examples: vite-page has 120 lines at most, and words that are written alike are near', () => {
  const files = ['vite.config.js', 'src/main.js', 'src/words.js'];
  const lines = files.flatMap((name) => text(`examples/vite-page/${name}`).split('\n'));
  const code = lines.filter((line) => !/^\s*(\/\/.*|\/?\*.*)?$/.test(line));
  assert.ok(code.length <= 120, `${code.length}`);
  const { data, shape } = words.vectorsOf(['cat', 'bat', 'dog']);
  const product = (a, b) => {
    const row = (t) => data.subarray(t * shape[1], (t + 1) * shape[1]);
    return row(a).reduce((sum, number, i) => sum + number * row(b)[i], 0);
  };
  assert.deepEqual(
    [product(0, 0), product(0, 1), product(0, 2)].map((cosine) => cosine.toFixed(3)),
    ['1.000', '0.500', '0.000'],
  );
});

describe('built', () => {
  let site;
  before(async () => {
    const [, run] = commands.get('vite-page').split(' && ');
    await installed.inProject(...replaced(run, 'run dev', 'run build').split(' '));
    site = await preview({ root: project, logLevel: 'error', preview: served });
  });
  after(() => site?.close());

  testIn('Chromium', 'vite-page computes, draws and tells while one types', async (browser) => {
    const { tab, close } = await use(browser, site.resolvedUrls.local[0]);
    await tab.click('summary');
    assert.deepEqual(await violations(tab), []);
    await close();
  });

  inFullRun('vite-page in Firefox', () =>
    testIn('Firefox', 'vite-page computes, draws and tells while one types', async (browser) => {
      const { close } = await use(browser, site.resolvedUrls.local[0]);
      await close();
    }),
  );
});

inFullRun('vite-page in development', () => {
  for (const name of ['Chromium', 'Firefox'])
    testIn(name, 'vite-page in development does the same', async (browser) => {
      const site = await createServer({ root: project, logLevel: 'error', server: served });
      try {
        await site.listen();
        const { close } = await use(browser, site.resolvedUrls.local[0]);
        await close();
      } finally {
        await site.close();
      }
    });
});
