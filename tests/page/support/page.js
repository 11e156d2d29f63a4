// One browser and one server for all tests of the page, and the ways to look at it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { serve } from '../../../tools/serve.js';
import { PATIENCE } from '../../support/js/patience.js';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const examples = {
  en: 'The cat sat on the mat because it was tired.',
  zh: '猫坐在垫子上，因为它累了。',
};

/** The panels of the page, in their order. */
const table = readFileSync(new URL('../../../web/src/panels/table.ts', import.meta.url), 'utf8');
export const panels = table.match(/PANEL_IDS = \[([^\]]*)\]/)[1].match(/\w+/g);

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
    timeout: PATIENCE.wait,
  });

export async function startSite() {
  const server = await serve({ port: 0 });
  const browser = await launch();
  return {
    url: server.url,
    browser,
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** A fresh visitor. `problems` gathers what must not happen on a page that works. */
export async function openPage({ browser, url }, options = {}) {
  const { width = 1280, height = 900, locale = 'en-US', fragment = '', prepare } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    locale,
    colorScheme: options.colorScheme ?? 'light',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(PATIENCE.wait);
  const page = await context.newPage();
  const problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(`request to ${request.url()}`);
  });
  await prepare?.(page);
  await page.goto(url + fragment);
  return { page, problems, close: () => context.close() };
}

/** For one file of tests: a server and a browser, and a test() that is handed a page which works. */
export function useSite() {
  let site;
  before(async () => {
    site = await startSite();
  });
  after(async () => {
    await site?.close();
  });

  /** Opens the page, waits for its first answer, runs the test, and asks that nothing went wrong. */
  function pageTest(name, options, body) {
    test(name, { timeout: PATIENCE.test }, async () => {
      const { page, problems, close } = await openPage(site, options);
      try {
        await settle(page);
        await body(page);
        assert.deepEqual(problems, []);
      } finally {
        await close();
      }
    });
  }
  return { site: () => site, pageTest };
}

/** Waits until the frame on the screen, and all that follows it, is the answer to the state as it is now. */
export async function settle(page) {
  await page.waitForFunction(() => {
    const { state, tokens, frame, report, studies: known } = window.__qkv.snapshot();
    if (!frame || report?.id !== frame.id) return false;
    const { layer, view, shift, row, studies, masks, positions, layout } = frame.request;
    const { temperature } = frame;
    const { widths } = studies;
    const agrees = (asked) => Object.entries(asked ?? {}).every(([key, v]) => state[key] === v);
    const same = ['source', 'positions', 'mask', 'temperature', 'seed'];
    return (
      layer.tokens.join('\0') === tokens.join('\0') &&
      same.every((key) => layer[key] === state[key]) &&
      view.head === Math.min(state.head, frame.numHeads - 1) &&
      (view.show === state.show || state.look === 'arcs') &&
      JSON.stringify(layer.numbers) === JSON.stringify(state.numbers) &&
      shift === state.shift &&
      layout === state.layout &&
      agrees(masks) &&
      agrees(positions) &&
      row.query === state.rowQuery &&
      row.masked === state.rowMasked &&
      row.scale === state.rowScale &&
      row.subtractMax === state.rowMax &&
      (temperature === null || known.temperature?.id === temperature.of.id) &&
      (widths === null ||
        (widths === state.sample && known.widths?.sample === widths && known.widths.complete)) &&
      (tokens.length === 0 || report.check !== null)
    );
  });
  await nextFrame(page);
}

/** Drawing happens on the next frame of the screen; the one after that has it. */
export function nextFrame(page) {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
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

/** The arguments of the oracle's layer(). */
export function layerOf({ x, wq, wk, bq, request }) {
  const { mask, temperature } = request.layer;
  return { x, wq, wk, bq, mask, temperature };
}

/** The weights, or entropies, of all heads one after another. */
export const allOf = ({ heads }, what) => heads.flatMap((head) => head[what]);

export const weightOf = ({ heads, request }, head, row, col) =>
  heads[head].weights[row * request.layer.tokens.length + col];

export const meanEntropies = ({ heads }) =>
  heads.map(({ entropy }) => entropy.reduce((a, b) => a + b) / entropy.length);

/**
 * RGB of the `size` x `size` pixels around the middle of each given cell, read from a copy: reading a
 * canvas again and again makes the browser warn.
 */
export function pixelsAt(page, matrix, cells, size = 1) {
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

/** Whether the panels near the screen have their scripts; runs in the page. */
const nearOnesAreThere = () =>
  [...document.querySelectorAll('main > section[id]')].every((section) => {
    const { top, bottom } = section.getBoundingClientRect();
    const far = bottom < -600 || top > innerHeight + 600;
    return far || customElements.get(`qkv-panel-${section.id}`);
  });

/** Waits until a link has led to a panel; those above it arrive meanwhile and push it down. */
export async function arrive(page, id) {
  await page.waitForFunction((name) => customElements.get(`qkv-panel-${name}`), id);
  await page.waitForFunction(nearOnesAreThere);
  await settle(page);
  await page.waitForFunction((name) => {
    const { y } = document.getElementById(name).getBoundingClientRect();
    return y >= 0 && y < 500;
  }, id);
}

/** Brings a panel onto the screen, and with it its script and its pictures. */
export async function visit(page, id) {
  // Twice: panels above it arrive, too, as far as they are near, and then push it down.
  for (let time = 0; time < 2; time++) {
    await page.evaluate((name) => document.getElementById(name).scrollIntoView(), id);
    await page.waitForFunction(nearOnesAreThere);
    await settle(page);
    await nextFrame(page);
  }
  // It asks for its numbers when it is in sight.
  await page.waitForFunction((name) => {
    document.getElementById(name).scrollIntoView();
    const { temperature, widths } = window.__qkv.snapshot().frame?.request.studies ?? {};
    return { temperature, scale: typeof widths === 'number' }[name] ?? true;
  }, id);
  await settle(page);
  await nextFrame(page);
}

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
