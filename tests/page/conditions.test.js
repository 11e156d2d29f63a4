// The page on a phone: touch, three pixels of the screen for one of CSS, 390 px; in the full run with a processor six times as slow and a
// network of 50 kB/s with two seconds to the server.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { root } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { pause } from '../support/js/patience.js';
import { folder, serve } from '../support/js/server.js';
import { engineTest } from './support/other_engines.js';
import * as support from './support/page.js';
import { tooWide } from './support/panel.js';

const { openPage, set, settle, snapshot, visit } = support;
const { site, pageTest } = support.useSite();

const SCALE = 3;
const screen = { deviceScaleFactor: SCALE, hasTouch: true, isMobile: true };
const PHONE = { width: 390, height: 844, screen };
const phoneTest = (title, body, prepare = () => undefined) =>
  pageTest(title, { ...PHONE, prepare }, body);

/** A finger that goes from the middle of an element by (dx, dy), in steps. Resolves to where it ends. */
async function drag(page, selector, [dx, dy]) {
  const element = page.locator(selector).first();
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const devtools = await page.context().newCDPSession(page);
  const touch = (type, touchPoints) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints });
  await touch('touchStart', [{ x, y }]);
  for (const part of [0.2, 0.4, 0.6, 0.8, 1]) {
    await touch('touchMove', [{ x: x + part * dx, y: y + part * dy }]);
  }
  await touch('touchEnd', []);
  await devtools.detach();
  await settle(page);
  return { x: x + dx, y: y + dy };
}

/** Asserts of the visible ones of these canvases that they have a pixel for each pixel of the screen. */
async function expectSharp(page, selector, least) {
  const canvases = await page.locator(selector).evaluateAll((list) =>
    list
      .filter((canvas) => canvas.checkVisibility())
      .map(({ className, width, height, clientWidth, clientHeight }) => {
        return { className, painted: [width, height], shown: [clientWidth, clientHeight] };
      }),
  );
  assert.ok(canvases.length >= least, `${canvases.length} canvases`);
  for (const { className, painted, shown } of canvases) {
    painted.forEach((pixels, i) =>
      assert.ok(
        Math.abs(pixels - SCALE * shown[i]) <= SCALE,
        `${className}: ${painted} pixels for ${shown}`,
      ),
    );
  }
}

phoneTest(
  'page: phone: the first view is sharp, fits, and a tap on a token chooses it',
  async (page) => {
    assert.equal(await page.evaluate(() => devicePixelRatio), SCALE);
    await visit(page, 'map');
    await expectSharp(page, '.matrix-labels, .matrix-cells, .head canvas', 5);
    const [content, window] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      innerWidth,
    ]);
    assert.ok(content <= window, `${content} in ${window}`);
    const { tokens } = await snapshot(page);
    const wanted = tokens.indexOf('because');
    await page.locator('.chips .chip').nth(wanted).tap();
    await settle(page);
    assert.equal((await snapshot(page)).query, wanted);
  },
);

phoneTest(
  'temperature: phone: a finger drags the dot sideways, and scrolls up and down',
  async (page) => {
    await visit(page, 'temperature');
    const HANDLE = 'qkv-panel-temperature .plot-handle';
    const temperature = async () => (await snapshot(page)).state.temperature;
    // To the end: a browser that takes the drag for a scroll cancels it after the first steps.
    const finger = await drag(page, HANDLE, [60, 0]);
    const dot = await page.locator(HANDLE).boundingBox();
    assert.ok(Math.abs(dot.x + dot.width / 2 - finger.x) < 3, `${dot.x} for ${finger.x}`);
    const dragged = await temperature();
    assert.ok(dragged > 1.3, `${dragged}`);
    const before = await page.evaluate(() => scrollY);
    await drag(page, HANDLE, [0, -160]);
    await page.waitForFunction((from) => scrollY > from + 50, before);
    assert.equal(await temperature(), dragged);
  },
);

/** Presses and pauses the training of a small model; `waiting` looks at the page until the first step. */
async function trainsAndPauses(page, waiting = () => undefined) {
  await visit(page, 'learn');
  await set(page, { learnTask: 'reverse', learnWidth: 16, learnHeads: 2, learnSpeed: 'full' });
  assert.deepEqual(await tooWide(page, 'learn'), []);
  const training = () =>
    page.evaluate(() => {
      const { current, playing } = document.querySelector('qkv-panel-learn').training;
      return { step: current?.step ?? 0, playing };
    });
  await page.locator('qkv-panel-learn [data-do=play]').tap();
  await waiting();
  await page.waitForFunction(
    () => document.querySelector('qkv-panel-learn').training.current?.step >= 10,
  );
  await page.locator('qkv-panel-learn [data-do=play]').tap();
  await page.waitForFunction(() => !document.querySelector('qkv-panel-learn').training.playing);
  await settle(page);
  const { step } = await training();
  await support.nextFrame(page);
  assert.deepEqual(await training(), { step, playing: false });
  assert.match(
    await page.textContent('qkv-panel-learn .learn-status'),
    /^Step \d+ · training loss/,
  );
}

/** Fetches a model and lets it write; `waiting` looks at the page until the model is there. */
async function loadsAndWrites(page, waiting = () => undefined) {
  await visit(page, 'model');
  await page.locator('[data-model=austen] .load').tap();
  await waiting();
  await page.waitForSelector('.model-near li');
  await settle(page);
  await visit(page, 'model');
  assert.deepEqual(await tooWide(page, 'model'), []);
  await expectSharp(page, 'qkv-model-embeddings canvas', 1);
  const write = page.locator('.model-card .write');
  await write.tap();
  await page.waitForFunction(
    () => document.querySelector('.model-written .written').textContent.length > 3,
  );
  await write.tap();
  await page.waitForFunction(
    () => document.querySelector('.model-card .write').textContent === 'Write',
  );
}

/** Two seconds to the server, and 50 kB/s for all answers together: served so, because workers are not throttled with their page. */
function slowly(respond, { latency = 2000, rate = 50 } = {}) {
  let free = performance.now();
  return async (path) => {
    const found = respond(path);
    const begin = Math.max(free, performance.now() + latency);
    free = begin + (found?.body?.length ?? 0) / rate;
    await pause(free - performance.now());
    return found;
  };
}

/** What `look` in the page says at each moment until `done` holds: the different answers, in their order. */
const watched = (page, look, done) =>
  page.evaluate(`(async () => {
    const heard = [];
    for (;;) {
      const said = (${look})();
      if (said !== heard.at(-1)) heard.push(said);
      if ((${done})()) return heard;
      await new Promise(requestAnimationFrame);
    }
  })()`);

inFullRun('phones with a slow processor or a slow network', () => {
  const slowProcessor = async (page) => {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 6 });
  };
  phoneTest(
    'learn: phone: with a processor six times as slow it trains and pauses',
    (page) => trainsAndPauses(page),
    slowProcessor,
  );
  phoneTest(
    'model: phone: with a processor six times as slow a model loads and writes',
    (page) => loadsAndWrites(page),
    slowProcessor,
  );

  let slow;
  before(async () => {
    const headers = {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    };
    const files = folder(join(root, 'dist/web'), headers);
    slow = await serve(slowly((path) => files(path === '/' ? '/index.html' : path)));
  });
  after(() => slow?.close());

  engineTest(
    'page: phone: on a slow network every wait has a word',
    async () => {
      const { page, problems, close } = await openPage(
        { browser: site().browser, url: `${slow.url}/` },
        PHONE,
      );
      return { page, problems: () => problems, close };
    },
    async (page) => {
      await loadsAndWrites(page, async () => {
        const heard = await watched(
          page,
          () => document.querySelector('.model-progress:not([hidden])')?.innerText ?? '',
          () => document.querySelector('.model-near li'),
        );
        assert.ok(
          heard.some((text) => /austen|Austen/.test(text)),
          JSON.stringify(heard),
        );
      });
      await trainsAndPauses(page, async () => {
        const heard = await watched(
          page,
          () => document.querySelector('qkv-panel-learn .learn-status').innerText,
          () => document.querySelector('qkv-panel-learn').training.current?.step > 0,
        );
        assert.ok(heard.length > 0 && heard.every(Boolean), JSON.stringify(heard));
      });
    },
  );
});
