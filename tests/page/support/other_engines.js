// What every browser beside Chromium must show: that the page lives, that its numbers are those of the formula, and that its controls
// work. Chromium has tests of its own for each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFullRun } from '../../support/js/full.js';
import { PATIENCE, until } from '../../support/js/patience.js';
import { colourOf, excess, layer } from './oracle.js';
import * as support from './page.js';

const { addressed, allOf, arrive, examples, layerOf, nextFrame, pixelsAt } = support;
const { set, settle, snapshot, tensors, visit, weightOf } = support;

/** A test that gets a page of `open()` and asserts that nothing went wrong on it. */
export function engineTest(name, open, body, options = {}) {
  test(name, { timeout: PATIENCE.test, ...options }, async () => {
    const { page, problems, close } = await open();
    try {
      await settle(page);
      await body(page);
      assert.deepEqual(await problems(), []);
    } finally {
      await close();
    }
  });
}

/**
 * Registers the tests. `open({ fragment, width, height })` opens a page as a new visitor: { page, problems, close }. Tests that ask for nothing of that share a
 * page, because to load it takes more than most tests.
 */
export function testsOfEngine(browser, open, skip = false) {
  let shared;
  async function sharedPage() {
    if (shared && (await shared.problems()).length === 0) await support.beginAgain(shared.page);
    else shared = await open({});
    return { ...shared, close: () => undefined };
  }
  const title = (what) => `page: ${browser}: ${what}`;
  const pageTest = (name, options, body) => {
    const plain = Object.keys(options).length === 0;
    engineTest(name, () => (plain ? sharedPage() : open(options)), body, { skip });
  };

  pageTest(title('comes alive with the example and what it computed itself'), {}, async (page) => {
    const { engine, frame, tokens } = await snapshot(page);
    assert.equal(engine.kind, 'ready');
    assert.deepEqual(tokens, [...examples.en.match(/\w+|\./g)]);
    assert.match(frame.info.isa, /^wasm/);
    const shares = await page.evaluate(() =>
      [...document.querySelectorAll('.chip .share')].map((share) => share.textContent),
    );
    assert.equal(shares.length, tokens.length);
    assert.ok(frame.query.weights[1] > 0.9, 'it reads cat');
    for (const id of ['row', 'positions', 'checks', 'use']) await visit(page, id);
  });

  pageTest(title('weights and entropies equal the formula in float64'), {}, async (page) => {
    for (const [source, mask, temperature] of [
      ['constructed', 'causal', 1],
      ['random', 'window', 0.2],
      ['random', 'none', 5],
    ]) {
      await set(page, { text: `${examples.en} ${examples.zh}`, source, mask, temperature });
      const all = await tensors(page);
      const exact = layer(layerOf(all));
      const weights = allOf(all, 'weights');
      assert.ok(excess(weights, exact.weights, exact.bounds) <= 0, `${source} ${mask}`);
      const wrong = layer({ ...layerOf(all), temperature: temperature * 1.01 });
      assert.ok(excess(weights, wrong.weights, exact.bounds) > 0, 'a bound that tells 1 % apart');
      const off = allOf(all, 'entropy').map((h, i) => Math.abs(h - exact.entropy[i]));
      assert.ok(Math.max(...off) < 1e-4 * Math.max(1, 1 / temperature));
    }
  });

  pageTest(title('every cell has the colour of its weight'), {}, async (page) => {
    await set(page, { source: 'random' });
    const all = await tensors(page);
    const cells = [10, 9, 7].flatMap((row) => [0, 2, 5].map((col) => ({ row, col })));
    const wanted = cells.map(({ row, col }) => colourOf(weightOf(all, 0, row, col), 'weights'));
    const isWrong = (pixel, i) => pixel.some((value, c) => Math.abs(value - wanted[i][c]) > 1);
    let pixels = [];
    // The worker's picture comes to the canvas when a browser next composes, on a busy machine later than the next frame.
    await until(
      async () => {
        pixels = (await pixelsAt(page, 'qkv-picture', cells)).flat();
        return !pixels.some(isWrong);
      },
      () => {
        const i = pixels.findIndex(isWrong);
        return `the colour of ${cells[i].row},${cells[i].col}, ${pixels[i]}, is ${wanted[i]}`;
      },
    );
    assert.ok(new Set(pixels.map(String)).size > 4, 'a picture of one colour proves nothing');
  });

  pageTest(title('a tap on a token fills the others by its weights'), {}, async (page) => {
    const { tokens } = await snapshot(page);
    const wanted = tokens.indexOf('because');
    await page.click(`.chips .chip:nth-of-type(${wanted + 1})`);
    await nextFrame(page);
    await settle(page);
    const { query } = await snapshot(page);
    assert.equal(query, wanted);
    const all = await tensors(page);
    const shares = await page.evaluate(() =>
      [...document.querySelectorAll('.chip .share')].map((share) => share.textContent),
    );
    shares.forEach((share, col) => {
      if (col > query) assert.equal(share, '–');
      else assert.ok(Math.abs(Number(share) - weightOf(all, 0, query, col)) <= 5.1e-4);
    });
  });

  pageTest(
    title('the temperature moves by keyboard, and the numbers with it'),
    {},
    async (page) => {
      const entropy = (all) => all.heads[4].entropy.reduce((sum, h) => sum + h);
      const before = entropy(await tensors(page));
      for (let presses = 0; presses < 5; presses++) await page.press('#tau', 'ArrowRight');
      await settle(page);
      const { state } = await snapshot(page);
      assert.ok(state.temperature > 1);
      const spoken = await page.evaluate(() =>
        document.querySelector('#tau').getAttribute('aria-valuetext'),
      );
      assert.match(spoken, new RegExp(`temperature ${state.temperature}`));
      assert.ok(entropy(await tensors(page)) > before);
      await page.press('#tau', 'ArrowLeft');
      await settle(page);
      assert.ok((await snapshot(page)).state.temperature < state.temperature);
    },
  );

  pageTest(title('typing changes tokens and weights'), {}, async (page) => {
    await page.fill('#text', '你好 world');
    await settle(page);
    const { frame, tokens } = await snapshot(page);
    assert.equal(tokens.join(' '), '你好 world');
    assert.equal(frame.query.weights.length, tokens.length);
  });

  pageTest(
    title('a link leads to its panel and brings back its state'),
    { fragment: '#v=1&p=checks&src=random&seed=9&tau=0.7' },
    async (page) => {
      await arrive(page, 'checks');
      const { seed, source, temperature } = (await snapshot(page)).state;
      assert.deepEqual([source, seed, temperature], ['random', 9, 0.7]);
    },
  );

  inFullRun(`languages, a trained model and a phone in ${browser}`, () => {
    // On a page of its own, as what is remembered stays with the visitor.
    const own = { width: 1280 };
    pageTest(title('the language turns, and the theme is kept'), own, async (page) => {
      await page.click('.language');
      await settle(page);
      assert.equal((await snapshot(page)).state.text, examples.zh);
      const lang = () => page.evaluate(() => document.documentElement.lang);
      assert.equal(await lang(), 'zh-CN');
      assert.match(await page.textContent('h1'), /\p{Script=Han}/u);
      const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = await paper();
      await page.click('.theme'); // auto -> light
      await page.click('.theme'); // light -> dark
      await nextFrame(page);
      const dark = await paper();
      assert.notEqual(dark, light);
      await addressed(page, 'lang=zh');
      await page.reload();
      await settle(page);
      assert.equal(await paper(), dark);
      assert.equal(await lang(), 'zh-CN');
    });

    // On a page of its own, as the model stays.
    pageTest(title('a trained model is taken apart, and its pass is zoomed'), own, async (page) => {
      await visit(page, 'microscope');
      await page.click('#microscope [data-do=load]');
      const there = (selector) =>
        page.waitForFunction((of) => document.querySelector(of) !== null, selector);
      const told = async (selector, pattern) => {
        await page.waitForFunction(
          ([of, source]) => new RegExp(source).test(document.querySelector(of)?.textContent),
          [selector, pattern.source],
        );
        return pattern
          .exec(await page.textContent(selector))
          .slice(1)
          .map(Number);
      };
      await there('.microscope-bars li');
      await page.click('#microscope .maps');
      const cell = '#microscope [data-map=z] button[data-cell="0.3"]';
      await there(cell);
      assert.deepEqual(await told(cell, /^(\d+)%$/), [100]);
      // The picture of the pass: the model, a layer, a head, whose vectors are painted.
      const isNear = ([found], wanted) => assert.ok(Math.abs(found - wanted) < 0.02, `${found}`);
      isNear(await told('.pass-described', /^Layer 0 gives \+([\d.]+)\. /), 12.51);
      await page.click('.pass-opens[data-row="0"] .plot-title');
      await told('.pass-path [aria-current]', /^(layer 0)$/);
      await page.click('.pass-opens[data-row="3"] .plot-title');
      await told('.pass-path [aria-current]', /^(head 0\.3)$/);
      isNear(await told('.pass-cell', /reads key 10 “␣John” with weight (0\.\d+)\.$/), 0.956);
      // Sixteen numbers are painted in more than eight colours. The picture is asked more than once: a loaded machine answers late.
      await page.waitForFunction(() => {
        const canvas = document.querySelector('[data-vector=z]');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, 1);
        const colours = Array.from({ length: canvas.width }, (_, i) =>
          data.slice(4 * i, 4 * i + 4).join(),
        );
        return new Set(colours).size > 8;
      });
      await page.press('.pass-path [aria-current]', 'Escape');
      await told('.pass-path [aria-current]', /^(layer 0)$/);
      // Without head 0.3 the answer is another.
      await page.click(cell);
      const after = '.microscope-next tbody tr:first-child td:nth-child(3) .value';
      await page.waitForFunction(
        (of) => Number.parseFloat(document.querySelector(of).textContent) < 50,
        after,
      );
      isNear(await told(after, /^([\d.]+)%$/), 8.1);
    });

    pageTest(
      title('390 px have no horizontal scroll'),
      { width: 390, height: 844 },
      async (page) => {
        for (const id of ['row', 'positions', 'checks', 'use']) await visit(page, id);
        const [content, window] = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          innerWidth,
        ]);
        assert.ok(content <= window, `${content} in ${window}`);
      },
    );
  });
}
