// The page in Chromium by the rules of accessibility, and as others see it: without script, in forced colours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colourOf } from './support/oracle.js';
import * as support from './support/page.js';

const { settle, snapshot, tensors, visit, weightOf } = support;
const { site, pageTest } = support.useSite();

test('page: without script there are the sentences, their chips and their maps', async () => {
  const { browser, url } = site();
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await context.newPage();
    await page.goto(url);
    assert.match(await page.textContent('noscript'), /JavaScript is off/);
    for (const [lang, text] of Object.entries(support.examples)) {
      const chips = page.locator(`.chips[lang^=${lang}] .token`);
      const tokens = await chips.allTextContents();
      assert.equal(tokens.join(''), text.replace(/ /g, ''));
      assert.ok(await chips.first().isVisible());
      const cells = page.locator(`.first-map[lang^=${lang}] .first-cells rect`);
      assert.equal(await cells.count(), tokens.length ** 2);
    }
    const cells = page.locator('.first-map[lang=en] .first-cells rect');
    const live = await support.openPage(site());
    try {
      await settle(live.page);
      const all = await tensors(live.page);
      for (const [row, col] of [
        [7, 1],
        [7, 7],
        [9, 1],
        [0, 0],
        [10, 4],
      ]) {
        const fill = await cells.nth(row * 11 + col).getAttribute('fill');
        const wanted = colourOf(weightOf(all, 0, row, col), 'weights');
        const rgb = [1, 3, 5].map((at) => parseInt(fill.slice(at, at + 2), 16));
        rgb.forEach((value, c) =>
          assert.ok(Math.abs(value - wanted[c]) <= 1, `${row},${col}: ${fill}`),
        );
      }
    } finally {
      await live.close();
    }
  } finally {
    await context.close();
  }
});

test('page: until the engine is there the map of the build stands in its place', async () => {
  let answer;
  const held = new Promise((resolve) => (answer = resolve));
  const prepare = (page) =>
    page.route('**/*.wasm', async (route) => {
      await held;
      await route.continue();
    });
  const { page, problems, close } = await support.openPage(site(), { prepare });
  try {
    await page.waitForSelector('.matrix-plot .first-cells');
    // Above it stands the picture of the chapter; what has come into sight is painted.
    await page.waitForFunction(() => customElements.get('qkv-panel-lookup'));
    await page.evaluate(() => document.getElementById('map').scrollIntoView());
    const place = () =>
      page.evaluate(() => {
        const { x, y, width } = document
          .querySelector('qkv-picture .matrix-cells')
          .getBoundingClientRect();
        return [x, y, width];
      });
    const before = await place();
    assert.equal(
      await page.locator('.chip', { hasText: 'cat' }).locator('.share').textContent(),
      '.998',
    );
    assert.equal(await page.locator('.chip').count(), 11);
    answer();
    await settle(page);
    await page.waitForFunction(() => !document.querySelector('.first-cells'));
    // Less than a pixel is what a line of text becomes with other numbers in it.
    const after = await place();
    const isStill = after.every((value, i) => Math.abs(value - before[i]) < 1);
    assert.ok(isStill, `${before} became ${after}: nothing moves when it comes alive`);
    assert.deepEqual(problems, []);
  } finally {
    await close();
  }
});

pageTest(
  'page: the link past its head leads to the sentence, and leaves it and the settings as they are',
  { fragment: '#v=1&lang=en&x=my+own+words&tau=3' },
  async (page) => {
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement.matches('.skip')));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement.id === 'text');
    await settle(page);
    const { state } = await snapshot(page);
    assert.deepEqual([state.text, state.temperature], ['my own words', 3]);
    assert.equal(await page.inputValue('#text'), 'my own words');
  },
);

const forced = (page) => page.emulateMedia({ forcedColors: 'active' });

pageTest(
  'page: forced colours keep every mark, and nothing moves by itself',
  { prepare: forced },
  async (page) => {
    await visit(page, 'row');
    const looks = await page.evaluate(() => {
      const style = (selector) => getComputedStyle(document.querySelector(selector));
      return {
        chosen: style('.chip :checked + .face').outlineStyle,
        bar: style('[data-cell=weight] i').backgroundColor,
        product: style('[data-cell=product] i').backgroundColor,
        track: style('[data-cell=weight] .bar').backgroundColor,
        // The page has no animations, so it needs no other look for readers who ask for less motion.
        moving: [...document.querySelectorAll('*')]
          .filter((element) => {
            const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(element);
            return (
              transitionDuration !== '0s' || animationName !== 'none' || scrollBehavior !== 'auto'
            );
          })
          .map((element) => element.className || element.localName),
      };
    });
    assert.equal(looks.chosen, 'solid');
    assert.notEqual(looks.bar, looks.track);
    assert.notEqual(looks.product, looks.track);
    assert.deepEqual(looks.moving, []);
  },
);

pageTest(
  'page: painting happens in the worker, and a drag at 1024 tokens is watched',
  { fragment: '#v=1&T=1024' },
  async (page) => {
    assert.ok(await page.evaluate(() => window.__qkv.paintsInWorker));
    await visit(page, 'map');
    const seen = await page.evaluate(async () => {
      const tasks = [];
      const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
      observer.observe({ type: 'longtask' });
      const slider = document.querySelector('#tau');
      const frames = new Map();
      let sampled = 0;
      slider.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
      // However long the worker takes: the hand moves until some frames have come of fewer rows.
      for (let step = 0; step < 20 || sampled < 4 || frames.size < 4; step++) {
        slider.value = String((step % 90) - 45);
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        await new Promise(requestAnimationFrame);
        const { frame } = window.__qkv.snapshot();
        if (frame.step > 1 && !frames.has(frame.id)) sampled++;
        frames.set(frame.id, frame.time);
      }
      const told = document.querySelector('.sampled').checkVisibility();
      dispatchEvent(new PointerEvent('pointerup'));
      const times = [...frames.values()].sort((a, b) => a - b);
      return {
        told,
        frames: times.length,
        p95: times[Math.floor(times.length * 0.95)],
        longest: Math.max(0, ...tasks.map((task) => task.duration)),
      };
    });
    // Reported, not asserted: a busy machine would fail for no fault of the page.
    console.log(
      `drag at T = 1024: ${seen.frames} frames, 95 % of them within ${seen.p95.toFixed(1)} ms of the ` +
        `worker, longest task of the page ${seen.longest.toFixed(0)} ms`,
    );
    assert.ok(seen.told, 'the page says that they are of fewer rows');
    await page.waitForFunction(() => window.__qkv.snapshot().frame.step === 1);
    await settle(page);
    assert.ok(!(await page.isVisible('.sampled')), 'at rest all rows are computed');
    const { frame, state } = await snapshot(page);
    assert.equal(frame.request.layer.temperature, state.temperature, 'the latest request wins');
    assert.equal(await page.evaluate(() => document.querySelectorAll('.chip').length), 64);
  },
);

test('page: a Tab that is quicker than the panels goes into them, not past them', async () => {
  const prepare = (page) =>
    page.route(/assets\/(pair|row|temperature)-[^/]*\.js$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      await route.continue();
    });
  const { page, close } = await support.openPage(site(), { prepare });
  try {
    await settle(page);
    await page.focus('#map .menu summary');
    await page.evaluate(() => {
      window.entered = [];
      document.addEventListener('focusin', ({ target }) => {
        const id = target.closest('[data-panel]')?.closest('section[id]')?.id;
        if (id && !window.entered.includes(id)) window.entered.push(id);
      });
    });
    const entered = () => page.evaluate(() => window.entered);
    for (let i = 0; i < 400 && !(await entered()).includes('learn'); i++) {
      await page.keyboard.press('Tab');
    }
    assert.deepEqual(await entered(), ['map', 'flow', 'row', 'learn']);
  } finally {
    await close();
  }
});

test('page: the slider of the temperature is as wide whatever the engine says, and its number is whole', async () => {
  for (const source of ['constructed', 'random']) {
    const { page, close } = await support.openPage(site(), {
      fragment: `#v=1&lang=en&src=${source}`,
    });
    try {
      await settle(page);
      const widths = await page.evaluate(() => {
        const slider = document.querySelector('#tau');
        const text = document.querySelector('.engine-text');
        return ['engine running', '12.3 ms per frame', '引擎运行中'].map((said) => {
          text.textContent = said;
          return slider.getBoundingClientRect().width;
        });
      });
      assert.equal(new Set(widths).size, 1, `${source}: ${widths}`);
      // Beside the settings: a row of its own would take height from what is below the bar.
      const middles = await page.evaluate(() =>
        ['.engine', '#choose-length'].map((of) => {
          const { top, bottom } = document.querySelector(of).getBoundingClientRect();
          return (top + bottom) / 2;
        }),
      );
      if (source === 'constructed') assert.ok(Math.abs(middles[0] - middles[1]) < 20, `${middles}`);
      // Whatever a box may hold has room beside the arrows of the browser.
      const cut = await page.evaluate(() => {
        const context = document.createElement('canvas').getContext('2d');
        return [...document.querySelectorAll('.instruments input[type=number]')]
          .filter((box) => box.checkVisibility())
          .filter((box) => {
            const { font, paddingLeft, paddingRight } = getComputedStyle(box);
            const room = box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
            context.font = font;
            const longest = box.step === 'any' ? '0.05625' : box.max;
            return context.measureText(longest).width + 18 > room;
          })
          .map(({ id }) => id);
      });
      assert.deepEqual(cut, [], source);
    } finally {
      await close();
    }
  }
});
