// One browser and one server for all tests of the page, and the ways to look at it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { serve } from '../../tools/serve.js';
import { numHeads } from './page-oracle.js';

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

async function startBrowser() {
  const server = await serve({ port: 0 });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
  });
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
    site = await startBrowser();
  });
  after(async () => {
    await site?.close();
  });

  /** Opens the page, waits for its first answer, runs the test, and asks that nothing went wrong. */
  function pageTest(name, options, body) {
    test(name, { timeout: 60_000 }, async () => {
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

/** Waits until the frame on the screen is the answer to the state as it is now. */
export async function settle(page) {
  await page.waitForFunction(() => {
    const { state, tokens, frame } = window.__qkv.snapshot();
    if (!frame) return false;
    const { request } = frame;
    const same = ['positions', 'causal', 'temperature', 'seed', 'shift'];
    return (
      request.tokens.join('\0') === tokens.join('\0') &&
      same.every((key) => request[key] === state[key])
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

/** State and tensors, the typed arrays as plain ones. */
export function snapshot(page) {
  return page.evaluate(() =>
    JSON.parse(
      JSON.stringify(window.__qkv.snapshot(), (_key, value) =>
        ArrayBuffer.isView(value) ? Array.from(value) : value,
      ),
    ),
  );
}

/** The arguments of the oracle's layer(), taken from a frame. */
export function layerOf({ x, projections, request }) {
  const { causal, temperature, tokens } = request;
  return { x, wq: projections.wq, wk: projections.wk, tokens: tokens.length, causal, temperature };
}

export const weightOf = (frame, head, row, col) => {
  const count = frame.request.tokens.length;
  return frame.weights[(head * count + row) * count + col];
};

export function meanEntropies({ entropy, request }) {
  const count = request.tokens.length;
  return Array.from({ length: numHeads }, (_, head) => {
    const rows = entropy.slice(head * count, (head + 1) * count);
    return rows.reduce((a, b) => a + b) / count;
  });
}

/**
 * RGB of the `size` x `size` pixels around the middle of each given cell, read from a copy: reading a
 * canvas again and again makes the browser warn.
 */
export function pixelsAt(page, panel, cells, size = 1) {
  return page.evaluate(
    ([name, list, side]) => {
      const matrix = document.querySelector(`${name} qkv-matrix`);
      const { width, height } = matrix.canvas;
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
    [panel, cells, size],
  );
}

/** Moves the pointer to the middle of a cell of the enlarged map. */
export async function pointAt(page, cell) {
  const at = await page.evaluate((target) => {
    const matrix = document.querySelector('qkv-map qkv-matrix');
    matrix.scrollIntoView({ block: 'center' });
    const { x, y } = matrix.cellCentre(target);
    const box = matrix.canvas.getBoundingClientRect();
    const scale = box.width / matrix.canvas.width;
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
