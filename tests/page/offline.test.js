// The page without a network: after a first visit it is there, whole, and of one build.
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdirSync, readdirSync } from 'node:fs';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { serve } from '../../tools/serve.js';
import { root } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import * as firefox from './support/firefox.js';
import * as support from './support/page.js';

const { settle, visit } = support;
const work = join(root, `build/offline-${process.pid}`);
const MARK = 'of the second build';

/** The plugin that writes the service worker, which goes through the files of a folder. */
async function serviceWorkerPlugin() {
  const outfile = join(work, 'offline.mjs');
  const source = join(root, 'web/build/offline.ts');
  await build({
    ...{ entryPoints: [source], outfile, bundle: true, format: 'esm', packages: 'external' },
    // It has the address of the worker's source from its own.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(source).href) },
  });
  return (await import(pathToFileURL(outfile).href)).offline();
}

/**
 * Another build of the page: all its scripts and styles have other names, and it says so in its HTML and in a panel that is
 * fetched late.
 */
async function buildAgain(folder) {
  cpSync(first, folder, { recursive: true });
  const assets = join(folder, 'assets');
  const names = new Set(readdirSync(assets).filter((name) => /\.(js|css)$/.test(name)));
  const other = (name) => name.replace(/\.(?=js$|css$)/, '-again.');
  const renamed = (text) =>
    text.replace(/[\w.-]+\.(?:js|css)/g, (name) => (names.has(name) ? other(name) : name));
  for (const name of names) {
    const text = renamed(readFileSync(join(assets, name), 'utf8'));
    const isMarked = /^checks-.*js$/.test(name);
    const mark = isMarked ? `\ncustomElements.get('qkv-panel-checks').mark = '${MARK}';` : '';
    rmSync(join(assets, name));
    writeFileSync(join(assets, other(name)), text + mark);
  }
  const page = join(folder, 'index.html');
  const html = renamed(readFileSync(page, 'utf8'));
  writeFileSync(page, html.replace('<html', `<html data-build="${MARK}"`));
  const { writeBundle } = await serviceWorkerPlugin();
  await writeBundle.handler({ dir: folder });
}

/** A site at an address that stays, whose files are exchanged and whose server comes and goes. */
async function startSite() {
  const folder = join(work, 'site');
  let server;
  let port = 0;
  return {
    folder,
    deploy(from) {
      rmSync(folder, { recursive: true, force: true });
      cpSync(from, folder, { recursive: true });
    },
    async start() {
      server = await serve({ port, folder: relative(root, folder) });
      port = Number(new URL(server.url).port);
      return server.url;
    },
    async stop() {
      await server?.close();
      server = undefined;
    },
  };
}

const first = join(root, 'dist/web');
const second = join(work, 'second');
let browser;
before(async () => {
  mkdirSync(work, { recursive: true });
  await buildAgain(second);
  browser = await support.launch();
});
after(async () => {
  await browser?.close();
  rmSync(work, { recursive: true, force: true });
});

/** What a navigation may take that a worker answers, in ms: ten times what it takes on two busy processors. */
const ANSWER = 20_000;

/**
 * A tab whose page has to work, while the worker that answers for the server may be just ending. Chromium can lose
 * a navigation in that moment, or a script; a person would ask again, and so does this, for as long as anything is waited for.
 */
async function visitorWithoutServer(context, url, deadline) {
  try {
    return await visitor(context, url, { timeout: ANSWER });
  } catch (error) {
    if (error.name !== 'TimeoutError' || performance.now() > deadline) throw error;
    await context.pages().at(-1).close();
    return visitorWithoutServer(context, url, deadline);
  }
}

/** A tab whose page has to work. */
async function visitor(context, url, options) {
  const page = await context.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  await page.goto(url, options);
  // The script of the page may be lost where a navigation may be.
  await page.waitForFunction(() => window.__qkv, undefined, options);
  await settle(page);
  return { page, problems };
}

/** Waits until the page can do without its server. */
const isKept = (page) => page.waitForFunction(() => navigator.serviceWorker.controller !== null);

/** waitForFunction() takes the promise of an answer for an answer. */
async function until(page, asked) {
  while (!(await page.evaluate(asked))) await page.waitForTimeout(50);
}

async function everyPanel(page) {
  const ids = await page.evaluate(() =>
    [...document.querySelectorAll('main > section[id]')].map((section) => section.id),
  );
  assert.ok(ids.length >= 5);
  for (const id of ids) await visit(page, id);
}

/** Vectors of words are larger than the page and come only from the server: without it their panel says so, and nothing else is missing. */
async function expectNoVectors(page, problems) {
  assert.deepEqual(problems, ['Failed to load resource: net::ERR_FAILED']);
  assert.ok(await page.isVisible('.words-waiting [data-press=retry]'));
}

/** The panel that says which build it is of, fetched late: it stands for all files that come after the first view. */
const latePanel = (page) => visit(page, 'checks');

const buildOf = (page) =>
  page.evaluate(() => ({
    html: document.documentElement.dataset.build,
    panel: customElements.get('qkv-panel-checks')?.mark,
  }));
const firstBuild = { html: undefined, panel: undefined };
const secondBuild = { html: MARK, panel: MARK };

const cachesOf = (page) => page.evaluate(() => caches.keys());

/** A test with a site of the first build, a browser that was there once, and one tab still open. */
function offlineTest(name, body) {
  test(`page: offline: ${name}`, { timeout: PATIENCE.test }, async () => {
    const site = await startSite();
    const context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE.wait);
    try {
      site.deploy(first);
      const url = await site.start();
      const tab = await visitor(context, url);
      await isKept(tab.page);
      await body({ site, context, url, ...tab });
    } finally {
      await context.close();
      await site.stop();
    }
  });
}

offlineTest('after one visit it works without its server, isolated as before', async (given) => {
  const { site, page, problems } = given;
  await site.stop();
  await page.reload();
  await settle(page);
  await everyPanel(page);
  assert.ok(await page.evaluate(() => crossOriginIsolated), 'headers are kept, too');
  await expectNoVectors(page, problems);
  await expectNoDocumentation(given);
  await site.start();
  await page.click('.words-waiting [data-press=retry]');
  await page.waitForSelector('.words-learned', { timeout: ANSWER });
  await expectOthersAlone(given);
});

inFullRun('a new build of the page while the old one is open', () => {
  offlineTest('a new build is there with the next visit, and kept in turn', async (given) => {
    const { site, context, url, page: old, problems } = given;
    assert.equal((await cachesOf(old)).length, 1);
    await site.stop();
    site.deploy(second);
    await site.start();
    const { page, problems: more } = await visitor(context, url);
    await latePanel(page);
    assert.deepEqual(await buildOf(page), secondBuild);
    await until(page, async () => (await navigator.serviceWorker.ready).waiting);
    // The files of the first build are gone from the server; the tab that is still open has them all the same.
    await old.bringToFront(); // a page that is not seen draws nothing
    await latePanel(old);
    assert.deepEqual(await buildOf(old), firstBuild);
    await site.stop();
    await old.close();
    await page.close();
    // The old worker ends once the browser has noticed that its last tab is gone, which may take a moment.
    const deadline = performance.now() + PATIENCE.wait;
    let { page: later, problems: most } = await visitorWithoutServer(context, url, deadline);
    while ((await buildOf(later)).html === firstBuild.html && performance.now() < deadline) {
      more.push(...most);
      await later.close();
      ({ page: later, problems: most } = await visitorWithoutServer(context, url, deadline));
    }
    await latePanel(later);
    assert.deepEqual(await buildOf(later), secondBuild);
    await until(later, async () => (await caches.keys()).length === 1);
    assert.deepEqual([...problems, ...more, ...most], []);
  });
});

inFullRun('half a build that is fetched offline', () => {
  offlineTest('half a build is not kept, and the old one stays whole', async (given) => {
    const { site, context, url, page: old } = given;
    const [before] = await cachesOf(old);
    await site.stop();
    site.deploy(second);
    const assets = join(site.folder, 'assets');
    const usage = readdirSync(assets).find((name) => /^use-.*js$/.test(name));
    appendFileSync(join(assets, usage), '// not what the build wrote');
    await site.start();
    const failed = await old.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      const found = new Promise((done) => {
        registration.addEventListener('updatefound', () => {
          const { installing } = registration;
          installing.addEventListener('statechange', () => done(installing.state));
        });
      });
      await registration.update();
      return found;
    });
    assert.equal(failed, 'redundant');
    assert.deepEqual(await cachesOf(old), [before]);
    await site.stop();
    await old.close();
    const { page, problems } = await visitor(context, url);
    await everyPanel(page);
    assert.deepEqual(await buildOf(page), firstBuild);
    await expectNoVectors(page, problems);
  });
});

/** The documentation has the address of a folder, as the page has, and is never answered by the page: no network, no answer. */
async function expectNoDocumentation({ context, url }) {
  const tab = await context.newPage();
  await assert.rejects(tab.goto(`${url}docs/`, { timeout: ANSWER }), /ERR_/);
  await tab.close();
}

async function expectDocumentation({ context, url }) {
  const tab = await context.newPage();
  await tab.goto(`${url}docs/`);
  assert.match(await tab.textContent('h1'), /documentation/);
  assert.ok(await tab.evaluate(() => navigator.serviceWorker.controller !== null));
  await tab.close();
}

/** What is not of the page is fetched as ever, and not kept. */
async function expectOthersAlone({ page, url, context }) {
  await expectDocumentation({ context, url });
  const status = await page.evaluate(async () => (await fetch('nothing-here.txt')).status);
  assert.notEqual(status, 0);
  const kept = await page.evaluate(async () => {
    const [name] = await caches.keys();
    const cache = await caches.open(name);
    return (await cache.keys()).map((request) => request.url);
  });
  assert.ok(kept.includes(url) && kept.some((file) => file.endsWith('.wasm')));
  assert.ok(!kept.some((file) => /threads|qkv\.html|docs/.test(file)), 'what it never asks for');
  assert.equal(context.pages().length, 1);
}

/** Counts in the page how often it asks for a service worker, which it does once it is loaded. */
function countRegistrations() {
  const { register } = ServiceWorkerContainer.prototype;
  window.registrations = 0;
  ServiceWorkerContainer.prototype.register = function (...line) {
    window.registrations++;
    return register.apply(this, line);
  };
}

inFullRun('what an embedded panel keeps', () => {
  offlineTest('an embedded panel keeps nothing', async ({ url }) => {
    const context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE.wait);
    try {
      await context.addInitScript(countRegistrations);
      const asked = async (address) => {
        const { page } = await visitor(context, address); // after its load event
        return page.evaluate(() => window.registrations);
      };
      assert.equal(await asked(`${url}?embed=map`), 0);
      assert.equal(await asked(url), 1, 'the page itself does ask');
    } finally {
      await context.close();
    }
  });
});

inFullRun('offline in Firefox', () => {
  test(
    'page: offline: Firefox, after one visit it works without its server',
    { timeout: PATIENCE.test },
    async () => {
      const site = await startSite();
      site.deploy(first);
      const fox = await firefox.launch();
      try {
        const { page, problems } = await firefox.openPage(fox, await site.start());
        await settle(page);
        await isKept(page);
        await site.stop();
        await page.reload();
        await settle(page);
        await everyPanel(page);
        assert.ok(await page.evaluate(() => crossOriginIsolated));
        // As in expectNoVectors(), in the words of Firefox.
        assert.equal(problems.length, 1, problems.join('\n'));
        assert.match(problems[0], /Failed to load .*\/models\/words-/);
      } finally {
        await fox.close();
        await site.stop();
      }
    },
  );
});
