// One browser and one server for all tests of a file, and the ways to look at the page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../../tools/serve.js';
import * as chromium from '../../support/js/chromium.js';
import { PATIENCE } from '../../support/js/patience.js';

export { allOf, layerOf, weightOf } from './oracle.js';
export { panelIds as panels } from './panel_ids.js';

export const examples = {
  en: 'The cat sat on the mat because it was tired.',
  zh: '猫坐在垫子上，因为它累了。',
};

/** The fonts of the tests, whatever else is installed; glyphs are not fitted to the pixels of a screen. */
const fonts = fileURLToPath(new URL('fonts.conf', import.meta.url));
export const launch = (args = [], { windowed = false } = {}) =>
  chromium.launch({
    windowed,
    args: ['--font-render-hinting=none', '--disable-lcd-text', ...args],
    env: { FONTCONFIG_FILE: fonts },
  });

/** For pictures, which everybody is to have alike: without windows Chromium takes another font where Latin stands in Chinese. */
export const PICTURED = { windowed: true };

export async function startSite(options) {
  const [server, browser] = await Promise.all([serve({ port: 0 }), launch([], options)]);
  return {
    url: server.url,
    browser,
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

const VISITOR = { width: 1280, height: 900, locale: 'en-US', colorScheme: 'light' };

/**
 * The page is kept for when there is no network by a worker that fetches all of it, which is for
 * offline.test.js alone.
 */
const keepsNothing = () => delete Navigator.prototype.serviceWorker;

/** Who was here before: the introduction is for introduction.test.js alone. */
export const hasSeenIntroduction = () => {
  try {
    localStorage.setItem('qkv-introduction', 'seen');
  } catch {
    // A page that has no storage shows none.
  }
};

/** A tab of its own, with Playwright's options of `screen`. `problems` gathers what must not happen on a page that works. */
async function newTab({ browser, url }, visitor) {
  const { width, height, locale, colorScheme, introduction = false, screen = {} } = visitor;
  const context = await browser.newContext({
    ...screen,
    viewport: { width, height },
    locale,
    colorScheme,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(PATIENCE.wait);
  await context.addInitScript(keepsNothing);
  if (!introduction) await context.addInitScript(hasSeenIntroduction);
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(`request to ${request.url()}`);
  });
  return { page, problems, close: () => context.close() };
}

/** A fresh visitor, after `prepare(page)`. */
export async function openPage(site, { fragment = '', prepare, ...options } = {}) {
  const tab = await newTab(site, { ...VISITOR, ...options });
  await prepare?.(tab.page);
  await tab.page.goto(site.url + fragment);
  return tab;
}

/** A page as it was when it was opened, without loading it: its state, and what hands leave behind. */
export async function beginAgain(page, language = 'en') {
  await page.evaluate((name) => {
    document.activeElement?.blur();
    for (const menu of document.querySelectorAll('details[open]')) menu.open = false;
    scrollTo(0, 0);
    window.__qkv.set(window.__qkv.parseFragment('', name));
  }, language);
}

/** Whether a visitor is like most: of them the next one may find the page of the last. */
const isPlain = ({ fragment, width, height, colorScheme, fresh }) =>
  !fragment &&
  !fresh &&
  width === VISITOR.width &&
  height === VISITOR.height &&
  colorScheme === VISITOR.colorScheme;

/**
 * Visitors of the same language take turns in one tab, each with an empty storage, as a new tab costs more than twice
 * the processor time of a page in one that is there. Those who look alike take turns in one page, too: to load it and
 * to see its panels for the first time takes more than most tests. `fresh` asks for one that nobody has used.
 */
function tabsOf(site) {
  const tabs = new Map();

  /** Loads the page in a tab that is there. */
  async function load({ page, problems }, { fragment, width, height, colorScheme }) {
    // Of the same origin and isolation, so that the browser keeps its process: another one took a tenth more time.
    await page.goto(`${site.url}favicon.svg`);
    problems.length = 0;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, forcedColors: null, reducedMotion: null });
    await page.mouse.move(0, 0);
    await page.goto(site.url + fragment);
  }

  async function open(options) {
    const visitor = { ...VISITOR, fragment: '', ...options };
    const { locale } = visitor;
    if (!tabs.has(locale)) tabs.set(locale, await newTab(site, visitor));
    const tab = tabs.get(locale);
    const { page } = tab;
    if (tab.shared && isPlain(visitor)) {
      await page.mouse.move(0, 0);
      await page.emulateMedia({ forcedColors: null, reducedMotion: null });
      await beginAgain(page, locale.slice(0, 2));
    } else {
      await load(tab, visitor);
    }
    tab.shared = isPlain(visitor);
    return tab;
  }

  return {
    open,
    /** After a test: what it wanted to be remembered, which is the theme, takes another page to be forgotten. */
    async leave(tab) {
      const size = tab.page.viewportSize();
      const resized = size.width !== VISITOR.width || size.height !== VISITOR.height;
      const chosen = await tab.page.evaluate(() => {
        const values = Object.values(localStorage);
        localStorage.clear();
        return values.some((value) => value !== 'auto' && value !== 'seen');
      });
      if (chosen || resized) tab.shared = false;
    },
    /** After a test that failed nobody knows what is in its tab. */
    async drop(locale = VISITOR.locale) {
      await tabs.get(locale)?.close();
      tabs.delete(locale);
    },
  };
}

/** For one file of tests: a server and a browser, and a test() that is handed a page which works. */
export function useSite() {
  let site;
  let tabs;
  before(async () => {
    site = await startSite();
    tabs = tabsOf(site);
  });
  after(async () => {
    await site?.close();
  });

  /** Opens the page, waits for its first answer, runs the test, and asks that nothing went wrong. */
  function pageTest(name, options, body) {
    test(name, { timeout: PATIENCE.test }, async () => {
      const own = options.prepare && (await openPage(site, options));
      const tab = own || (await tabs.open(options));
      const { page, problems } = tab;
      try {
        await settle(page);
        await body(page);
        assert.deepEqual(problems, []);
        if (!own) await tabs.leave(tab);
      } catch (error) {
        if (!own) await tabs.drop(options.locale);
        throw error;
      } finally {
        await own?.close();
      }
    });
  }
  return { site: () => site, pageTest };
}

/** Runs `work(argument)` in the page; says after how long it had not come to an end, and what it was waiting for. */
function within(page, work, argument) {
  return page.evaluate(work, [PATIENCE.wait, argument]);
}

/**
 * Waits until everything that was requested is answered and drawn. Twice in a row: what was drawn may take another
 * room, whose canvas is then painted anew. Fails at once when the page cannot settle: its script did not run, or
 * its engine failed.
 */
export function settle(page) {
  return within(page, async ([patience]) => {
    const deadline = performance.now() + patience;
    for (let calm = 0; calm < 2;) {
      await new Promise(requestAnimationFrame);
      if (!window.__qkv) {
        // Scripts of a page run before it is complete.
        if (document.readyState !== 'complete') continue;
        throw new Error('not settled: the script of the page did not run to its end');
      }
      if (window.__qkv.settled()) {
        calm += 1;
        continue;
      }
      calm = 0;
      const { engine, frame, state } = window.__qkv.snapshot();
      if (engine.kind === 'failed') {
        throw new Error(`the engine failed: ${engine.failure.code}: ${engine.failure.message}`);
      }
      if (performance.now() > deadline) {
        throw new Error(`not settled: ${JSON.stringify({ engine, frame: frame?.id, state })}`);
      }
    }
  });
}

/** Drawing happens on the next frame of the screen; the one after that has it. */
export function nextFrame(page) {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/**
 * Waits until the address says the state, and has this part in it: it follows 300 ms after a change, and a page that
 * tests share still has the address of the last one until then.
 */
export async function addressed(page, part = '') {
  await page.waitForFunction(() => {
    const { formatFragment, snapshot } = window.__qkv;
    return location.hash === formatFragment({ ...snapshot().state, panel: null });
  });
  const address = await page.evaluate(() => location.hash);
  assert.ok(address.includes(part), `${address} says ${part}`);
}

/** Changes the state as the controls do, and waits for the answer. */
export async function set(page, patch) {
  await page.evaluate((value) => window.__qkv.set(value), patch);
  await settle(page);
}

const plain = `(value) => JSON.parse(JSON.stringify(value, (_key, part) =>
  ArrayBuffer.isView(part) ? Array.from(part) : part === Infinity || part === -Infinity ? String(part) : part))`;

/** The state and what is on the screen, typed arrays as plain ones. */
export function snapshot(page) {
  return page.evaluate(`(${plain})(window.__qkv.snapshot())`);
}

/** Everything the worker holds: the inputs of the layer, and weights, scores and entropies of every head. */
export function tensors(page) {
  return page.evaluate(`window.__qkv.tensors().then(${plain})`);
}

export const meanEntropies = ({ heads }) =>
  heads.map(({ entropy }) => entropy.reduce((a, b) => a + b) / entropy.length);

/**
 * RGB of the `size` x `size` pixels around the middle of each given cell, read from a copy: reading a
 * canvas again and again makes the browser warn.
 */
export async function pixelsAt(page, matrix, cells, size = 1) {
  if (matrix === 'qkv-picture') await visit(page, 'map'); // painted is what is on the screen
  return page.evaluate(
    ([name, list, side]) => {
      const matrix = document.querySelector(`${name} qkv-matrix`);
      const { width, height } = matrix.size;
      const copy = new OffscreenCanvas(width, height);
      const context = copy.getContext('2d', { willReadFrequently: true });
      context.drawImage(matrix.canvas, 0, 0);
      return list.map((cell) => {
        const { x, y } = matrix.cellCentre(cell);
        const half = side >> 1;
        const { data } = context.getImageData(x - half, y - half, side, side);
        return Array.from({ length: side * side }, (_, i) => [...data.slice(4 * i, 4 * i + 3)]);
      });
    },
    [matrix, cells, size],
  );
}

/**
 * Waits until a panel is there, and with it those near the screen, and stays where it is with nothing left to do:
 * panels above it arrive, too, and push it down. `show` brings it onto the screen.
 */
function calm(page, id, show) {
  return within(
    page,
    async ([patience, { id, show }]) => {
      const deadline = performance.now() + patience;
      const section = () => document.getElementById(id);
      const near = () =>
        [...document.querySelectorAll('main > section[id]:not(.folded)')].every((other) => {
          const { top, bottom } = other.getBoundingClientRect();
          const far = bottom < -600 || top > innerHeight + 600;
          const busy = other.querySelector('[aria-busy=true]') !== null;
          return far || (customElements.get(`qkv-panel-${other.id}`) && !busy);
        });
      // It may be in a laboratory that is closed.
      if (show) document.querySelector(`[aria-controls~=${id}][aria-expanded=false]`)?.click();
      let place = NaN;
      for (let calm = 0; calm < 3;) {
        if (show) section().scrollIntoView();
        await new Promise(requestAnimationFrame);
        const { y } = section().getBoundingClientRect();
        const still = y === place && (show || (y >= 0 && y < 500));
        place = y;
        const ready = still && near() && window.__qkv.sees(id) && window.__qkv.settled();
        calm = ready ? calm + 1 : 0;
        if (performance.now() > deadline) throw new Error(`${id} at ${y}: near ${near()}`);
      }
    },
    { id, show },
  );
}

/** Waits until a link has led to a panel. */
export const arrive = (page, id) => calm(page, id, false);

/** Brings a panel onto the screen, and with it its script, its pictures and its numbers. */
export const visit = (page, id) => calm(page, id, true);

/** Moves the pointer to the middle of a cell of the enlarged map. */
export async function pointAt(page, cell) {
  const at = await page.evaluate((target) => {
    const matrix = document.querySelector('qkv-picture qkv-matrix');
    matrix.scrollIntoView({ block: 'center' });
    const { x, y } = matrix.cellCentre(target);
    const box = matrix.canvas.getBoundingClientRect();
    const scale = box.width / matrix.size.width;
    return { x: box.left + x * scale, y: box.top + y * scale };
  }, cell);
  await page.mouse.move(at.x, at.y);
  await nextFrame(page);
  return at;
}

/** A number as the page writes it, read back: 4.1×10⁻⁷ and 0.123456. */
export function readNumber(text) {
  const plain = text.replace('−', '-').replace(/×10(⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)/, (_all, power) => {
    const digits = [...power].map((c) => (c === '⁻' ? '-' : '⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(c)));
    return `e${digits.join('')}`;
  });
  return Number(plain);
}
