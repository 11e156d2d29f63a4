// The page as one file, opened from a disk in Chromium and in Firefox: alive, complete, and without any request.
import assert from 'node:assert/strict';
import { exampleSaid } from './support/texts.js';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root } from '../support/js/files.js';
import { full, inFullRun, leaveToFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import * as firefox from './support/firefox.js';
import { colourOf, excess, layer } from './support/oracle.js';
import * as support from './support/page.js';

const { addressed, allOf, layerOf, nextFrame, pixelsAt, set, settle, snapshot, tensors, visit } =
  support;
const built = join(root, 'dist/web/qkv.html');

/**
 * What may lie on the disk. People mail the file and carry it on sticks, where nothing compresses it, so its own bytes
 * count: both .wasm of the frame worker, deflated and in base64, are 230 kB of it, the one that trains 190 kB,
 * weights that were trained before 141 kB, vectors of words 744 kB, the font of formulas 27 kB, scripts, texts and styles the rest. The larger models are not
 * in it.
 */
const BUDGET = 4_200_000;

/** Alone in a folder: whatever else it wanted, it could not have. */
let folder, address, browsers;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'qkv-single-'));
  copyFileSync(built, join(folder, 'qkv.html'));
  address = pathToFileURL(join(folder, 'qkv.html')).href;
  browsers = {
    Chromium: await support.launch(),
    Firefox: full ? await firefox.launch() : undefined,
  };
});
after(async () => {
  for (const browser of Object.values(browsers ?? {})) await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const load = {
  Chromium: (fragment) =>
    support.openPage({ browser: browsers.Chromium, url: address }, { fragment }),
  Firefox: (fragment) =>
    firefox.openPage(browsers.Firefox, address + fragment, { origin: address }),
};

/** Of each browser the page that tests share which follow no link. */
const pages = {};
async function open(name, fragment) {
  if (fragment) return load[name](fragment);
  if (pages[name]) await support.beginAgain(pages[name].page);
  pages[name] ??= await load[name]('');
  return { ...pages[name], close: () => undefined };
}

if (!full) leaveToFullRun('one file in Firefox');
for (const name of full ? Object.keys(load) : ['Chromium']) {
  const singleTest = (title, fragment, body) =>
    test(`page: one file in ${name}: ${title}`, { timeout: PATIENCE.test }, async () => {
      const { page, problems, close } = await open(name, fragment);
      try {
        await settle(page);
        await body(page);
        // The worker is a blob: and the icon a data:, which no network carries.
        assert.deepEqual(
          problems.filter((problem) => !/^request to (blob|data):/.test(problem)),
          [],
        );
      } finally {
        await close();
      }
    });

  singleTest('from a disk its numbers equal the formula in float64', '', async (page) => {
    assert.ok((await page.evaluate(() => location.protocol)) === 'file:');
    for (const source of ['constructed', 'random']) {
      await set(page, { source, temperature: 0.7 });
      const all = await tensors(page);
      const exact = layer(layerOf(all));
      const weights = allOf(all, 'weights');
      assert.ok(excess(weights, exact.weights, exact.bounds) <= 0, source);
      const wrong = layer({ ...layerOf(all), temperature: 0.71 });
      assert.ok(excess(weights, wrong.weights, exact.bounds) > 0, 'a bound that tells 1 % apart');
      const cell = { row: 9, col: 2 };
      await nextFrame(page);
      const [[pixel]] = await pixelsAt(page, 'qkv-picture', [cell]);
      const wanted = colourOf(support.weightOf(all, 0, cell.row, cell.col), 'weights');
      pixel.forEach((value, c) => assert.ok(Math.abs(value - wanted[c]) <= 1, `${pixel}`));
    }
  });

  singleTest('its link brings back its state', '#v=1&src=random&seed=9', async (page) => {
    assert.equal((await snapshot(page)).state.seed, 9);
    await set(page, { seed: 10 });
    await addressed(page, 'seed=10');
    await page.evaluate(() => {
      navigator.clipboard.writeText = (text) => Promise.resolve((window.shared = text));
    });
    await page.click('.share');
    await page.waitForFunction(() => window.shared);
    const link = await page.evaluate(() => window.shared);
    assert.equal(link, `${address}#v=1&lang=en&${exampleSaid()}&src=random&seed=10`);
    await page.reload();
    await settle(page);
    assert.equal((await snapshot(page)).state.seed, 10);
  });

  const opensEveryPanel = async (page) => {
    const ids = await page.evaluate(() =>
      [...document.querySelectorAll('main > section[id]')].map((section) => section.id),
    );
    assert.ok(ids.length >= 5);
    for (const id of ids) {
      await visit(page, id);
      const text = await page.evaluate(
        (name) => document.querySelector(`qkv-panel-${name}`).innerText,
        id,
      );
      assert.ok(text.length > 20, `${id} shows ${JSON.stringify(text)}`);
    }
  };
  inFullRun(`every panel of one file in ${name}, and those that train and measure`, () => {
    singleTest('every panel opens', '', opensEveryPanel);

    singleTest('a panel trains, and knows its trained weights', '', async (page) => {
      await visit(page, 'recurrence');
      for (const [press, said] of [
        ['load', 'pretrained'],
        ['step', 'here: 1 of 1500 steps'],
      ]) {
        await page.click(`#recurrence [data-press=${press}]`);
        await page.waitForFunction((wanted) => {
          const text = document.querySelector('.recurrence-badge').textContent;
          if (text.startsWith('This did not work')) throw new Error(text);
          return text.includes(wanted);
        }, said);
      }
    });

    singleTest('the lab of one panel works at a press, and no other with it', '', async (page) => {
      await visit(page, 'block');
      await page.evaluate(() => document.querySelector('.block-run').click());
      await page.waitForFunction(
        () => document.querySelectorAll('.block-curves circle').length > 0,
      );
      await visit(page, 'cost');
      assert.ok(await page.evaluate(() => document.querySelector('.bench-result').hidden));
      await page.evaluate(() => document.querySelector('.bench-run').click());
      await page.waitForFunction(() => document.querySelector('.bench-table tbody th'));
      const device = await page.evaluate(() => document.querySelector('.bench-device').textContent);
      assert.match(device, /build, 1 of \d+ cores/);
      await page.evaluate(() => document.querySelector('.bench-stop').click());
    });
  });
}

test('page: the single file keeps to its budget and names nothing outside itself', () => {
  const { size } = statSync(built);
  assert.ok(size <= BUDGET, `${size} bytes`);
  const html = readFileSync(built, 'utf8');
  const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html);
  for (const name of ['default-src', 'base-uri', 'form-action']) {
    assert.ok(policy.includes(`${name} 'none'`), policy);
  }
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'(?<!wasm-unsafe-eval')|https?:/);
  const markup = html.replace(/<script type="module".*?<\/script>|<style>.*?<\/style>/gs, '');
  assert.doesNotMatch(markup, /\b(?:src|href)="(?!#|data:)/);
});
