// The page in WebKitGTK, whose engine is Safari's: what every browser must show, then panels, training, a model, the page without its
// server, and the page as one file.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { serve } from '../../tools/serve.js';
import { root } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { launchWebKit, noWebKit } from '../support/js/webdriver.js';
import { engineTest, testsOfEngine } from './support/other_engines.js';
import { excess, layer } from './support/oracle.js';
import { tooWide } from './support/panel.js';
import * as support from './support/page.js';
import { openPage, serveSite } from './support/webkit.js';

const { allOf, layerOf, nextFrame, panels, set, settle, tensors, visit } = support;

let server;
let browser;
const open = (options) => openPage(browser, server.url, options);
const webKitTest = (title, options, body) =>
  engineTest(`page: WebKitGTK: ${title}`, () => open(options), body, { skip: noWebKit });

/** Panels that have numbers before a model is loaded. */
const withNumbers = panels.filter((id) => id !== 'microscope');

/** Waits until the text of an element matches. */
const said = (page, selector, pattern) =>
  page.waitForFunction(
    ([of, source]) => new RegExp(source).test(document.querySelector(of)?.textContent),
    [selector, pattern.source],
  );

function register() {
  before(async () => {
    if (!noWebKit) [server, browser] = await Promise.all([serveSite(), launchWebKit()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  testsOfEngine('WebKitGTK', open, noWebKit);

  webKitTest(
    'every panel shows numbers in a narrow window, and turns to Chinese',
    { width: 390, height: 844 },
    async (page) => {
      for (const id of panels) {
        await visit(page, id);
        const text = await page.evaluate(
          (name) => document.querySelector(`qkv-panel-${name}`).innerText,
          id,
        );
        if (withNumbers.includes(id)) assert.match(text, /\d/, id);
        assert.deepEqual(await tooWide(page, id), [], id);
      }
      await page.click('.language');
      await settle(page);
      for (const id of panels) {
        await visit(page, id);
        const title = await page.textContent(`#${id} h2`);
        assert.match(title, /\p{Script=Han}/u, id);
      }
    },
  );

  webKitTest('a model learns to reverse, and pauses', {}, async (page) => {
    await visit(page, 'learn');
    await set(page, { learnTask: 'reverse', learnWidth: 16, learnHeads: 2, learnSpeed: 'full' });
    const losses = () =>
      page.evaluate(() => {
        const { current, playing } = document.querySelector('qkv-panel-learn').training;
        return { step: current?.step ?? 0, loss: current?.latest?.loss, playing };
      });
    await page.click('qkv-panel-learn [data-do=step]');
    await said(page, 'qkv-panel-learn .learn-status', /^Step 1 /);
    await page.click('qkv-panel-learn [data-do=play]');
    await page.waitForFunction(
      () => document.querySelector('qkv-panel-learn').training.current.step >= 20,
    );
    await page.click('qkv-panel-learn [data-do=play]');
    await page.waitForFunction(() => !document.querySelector('qkv-panel-learn').training.playing);
    // What was on its way arrives; then nothing comes, long before its 400 steps are made.
    let step;
    do {
      ({ step } = await losses());
      for (let frame = 0; frame < 5; ++frame) await nextFrame(page);
    } while ((await losses()).step !== step);
    assert.ok(step >= 20 && step < 300, `${step}`);
  });

  webKitTest('a trained model is fetched by a press, and writes', {}, async (page) => {
    await visit(page, 'model');
    await page.click('[data-model=austen] .load');
    await page.waitForFunction(() => document.querySelector('.model-near li'));
    await settle(page);
    await page.click('.model-card .write');
    await page.waitForFunction(
      () => document.querySelector('.model-written .written').textContent.length > 3,
    );
    await page.click('.model-card .write');
    await said(page, '.model-card .write', /^Write$/);
  });

  // Of a server of its own, because the service worker keeps only files that are as they were built.
  let plain;
  engineTest(
    'page: WebKitGTK: after one visit it works without its server',
    async () => {
      plain = await serve({ port: 0 });
      return openPage(browser, plain.url);
    },
    async (page) => {
      try {
        await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
      } finally {
        await plain.close();
      }
      await page.reload();
      await settle(page);
      for (const id of panels) await visit(page, id);
    },
    { skip: noWebKit },
  );

  const file = pathToFileURL(join(root, 'dist/web/qkv.html')).href;
  engineTest(
    'page: WebKitGTK: one file, from a disk: its numbers equal the formula in float64, and every panel opens',
    async () => {
      const { page } = await open({});
      await page.goto(file);
      return { page, problems: () => [], close: () => undefined };
    },
    async (page) => {
      assert.equal(await page.evaluate(() => location.protocol), 'file:');
      await set(page, { source: 'random', temperature: 0.7 });
      const all = await tensors(page);
      const exact = layer(layerOf(all));
      assert.ok(excess(allOf(all, 'weights'), exact.weights, exact.bounds) <= 0);
      for (const id of panels) {
        await visit(page, id);
        const text = await page.textContent(`qkv-panel-${id}`);
        assert.match(text, withNumbers.includes(id) ? /\d/ : /\w/, id);
      }
    },
    { skip: noWebKit },
  );
}

test('page: no chunk imports the script of a worker, which WebKit would run twice', () => {
  const folder = join(root, 'dist/web/assets');
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const workers = names.filter((name) => /^(panel_)?worker-/.test(name));
  assert.equal(workers.length, 2, String(workers));
  for (const name of names) {
    const script = readFileSync(join(folder, name), 'utf8');
    const imported = [...script.matchAll(/(?:from|import)\s*["'(]+\.\/([^"']+)/g)].map(
      ([, of]) => of,
    );
    assert.deepEqual(
      imported.filter((of) => workers.includes(of)),
      [],
      name,
    );
  }
});

inFullRun('the page in WebKitGTK', register);
