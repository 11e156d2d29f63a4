// @run full, or after changes in web/src/app web/src/state web/src/worker
// The page in a browser that stores nothing: storage denied by the visitor, and a full disk.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATIENCE } from '../support/js/patience.js';
import * as support from './support/page.js';

const { settle, snapshot, visit } = support;
const { site, pageTest } = support.useSite();

/** What browsers do whose visitors deny storage: every access throws. */
const deny = () => {
  const denied = () => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
    Object.defineProperty(window, name, { get: denied, configurable: true });
  }
};

pageTest(
  'page: where storage is denied it computes, and theme and language turn',
  { prepare: (page) => page.addInitScript(deny) },
  async (page) => {
    assert.match(
      await page.evaluate(() => {
        try {
          return String(localStorage);
        } catch (error) {
          return error.name;
        }
      }),
      /^SecurityError$/,
    );
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await paper();
    await page.click('.theme'); // auto -> light
    await page.click('.theme'); // light -> dark
    await support.nextFrame(page);
    assert.notEqual(await paper(), before);
    await page.click('.language');
    await settle(page);
    assert.equal((await snapshot(page)).state.language, 'zh');
    for (const id of ['map', 'lessons'].filter((name) => support.panels.includes(name)))
      await visit(page, id);
  },
);

test(
  'page: with a full disk it is not kept for later, and works',
  { timeout: PATIENCE.test },
  async () => {
    const { browser, url } = site();
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const problems = [];
      page.on('pageerror', (error) => problems.push(String(error)));
      const devtools = await context.newCDPSession(page);
      await devtools.send('Storage.overrideQuotaForOrigin', {
        origin: new URL(url).origin,
        quotaSize: 50_000,
      });
      await page.goto(url);
      await page.waitForFunction(() => window.__qkv);
      await settle(page);
      // The worker begins to install, and gives up.
      const kept = await page.evaluate(async () => {
        const worker = await navigator.serviceWorker.register('service-worker.js').then(
          ({ installing, active }) => installing ?? active,
          () => undefined,
        );
        while (worker && !['redundant', 'activated'].includes(worker.state)) {
          await new Promise((done) => setTimeout(done, 20));
        }
        return worker?.state;
      });
      assert.notEqual(kept, 'activated');
      for (const id of ['map', 'temperature']) await visit(page, id);
      assert.deepEqual(problems, []);
    } finally {
      await context.close();
    }
  },
);
