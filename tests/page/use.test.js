// The page in Chromium, in use: by pointer and keyboard, and without its engine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import * as support from './support/page.js';

const { nextFrame, pointAt, readNumber, set, settle, snapshot, tensors, visit, weightOf } = support;
const { site, pageTest } = support.useSite();

// ---- hands ----

pageTest(
  'page: pointing at a cell tells its numbers; a click pins it, another lets go',
  {},
  async (page) => {
    const told = async () => {
      const weight = readNumber(await page.textContent('qkv-readout .weight'));
      return { weight, pair: await page.textContent('qkv-readout .pair') };
    };
    await set(page, { source: 'random' });
    const all = await tensors(page);
    const cell = { row: 9, col: 2 };
    const at = await pointAt(page, cell);
    await settle(page);
    const exact = weightOf(all, 0, cell.row, cell.col);
    const first = await told();
    assert.ok(Math.abs(first.weight / exact - 1) < 1e-5, 'six digits');
    assert.match(first.pair, /tired.*9.*→.*sat.*2/s);
    const row = all.heads[0].weights.slice(9 * 11, 9 * 11 + 10);
    const rank = row.filter((weight) => weight > exact).length;
    const score = readNumber(await page.textContent('.score'));
    assert.ok(Math.abs(score / all.heads[0].scores[9 * 11 + 2] - 1) < 1e-5);
    assert.match(await page.textContent('.rank'), new RegExp(`^${rank + 1} of 10$`));
    await page.mouse.click(at.x, at.y);
    await pointAt(page, { row: 5, col: 1 });
    await settle(page);
    assert.deepEqual(await told(), first, 'held while the pointer is elsewhere');
    assert.equal((await snapshot(page)).query, 9, 'its row is the query now');
    await page.mouse.click(at.x, at.y);
    await pointAt(page, { row: 5, col: 1 });
    await settle(page);
    assert.notDeepEqual(await told(), first);
  },
);

pageTest('map: the mark in the legend stands where the weight of the cell is', {}, async (page) => {
  await pointAt(page, { row: 0, col: 0 });
  await settle(page);
  const mark = page.locator('.legend-now');
  assert.ok(await mark.isVisible());
  const left = await mark.evaluate((element) => element.style.left);
  assert.equal(
    left,
    '100%',
    'the first token reads itself alone: its weight is 1, the end of the legend',
  );
});

pageTest('page: choosing a token fills the others by its weights', {}, async (page) => {
  await page.locator('.chip', { hasText: 'because' }).click();
  await nextFrame(page);
  await settle(page);
  const { query, tokens } = await snapshot(page);
  const all = await tensors(page);
  assert.equal(tokens[query], 'because');
  const shares = await page.locator('.chip .share').allTextContents();
  shares.forEach((share, col) => {
    if (col > query) assert.equal(share, '–');
    else assert.ok(Math.abs(Number(share) - weightOf(all, 0, query, col)) <= 5.1e-4);
  });
});

pageTest(
  'page: the keyboard walks the map and the live region says where it is',
  {},
  async (page) => {
    await set(page, { source: 'random' });
    const region = page.locator('qkv-picture .matrix-stage ~ [role=status]');
    const said = async (wanted, is = true) => {
      await page.waitForFunction(
        ({ wanted, is }) =>
          document
            .querySelector('qkv-picture .matrix-stage ~ [role=status]')
            .textContent.includes(wanted) === is,
        { wanted, is },
      );
    };
    const plot = page.locator('qkv-picture .matrix-plot');
    await plot.focus();
    const { shown } = await snapshot(page);
    const all = await tensors(page);
    await page.keyboard.press('ArrowUp');
    const row = shown.row - 1;
    const weight = weightOf(all, 0, row, shown.col);
    const before = `query ${row} “because”, key ${shown.col} “the”: weight ${weight.toPrecision(6)}`;
    await said(before);
    await page.keyboard.press('m');
    await said(before, false);
    const rank = Number(/rank (\d+)/.exec(await region.textContent())?.[1]);
    assert.ok(rank >= 2, 'm goes to a smaller weight of the row');
    await page.keyboard.press('End');
    await said('masked');
    await page.keyboard.press('Home');
    await said(`key 0 “The”`);
    assert.equal(await plot.locator('[role=gridcell]').getAttribute('aria-colindex'), '1');
    await page.keyboard.press('Enter');
    assert.deepEqual((await snapshot(page)).shown, { row, col: 0, pinned: true });
    await page.keyboard.press('Escape');
    assert.equal((await snapshot(page)).shown.pinned, false);
    await page.keyboard.press('Control+Home');
    await said('query 0 “The”, key 0 “The”: weight 1.00000, rank 1 of 1');
  },
);

inFullRun('six hundred presses of Tab', () => {
  pageTest(
    'page: Tab reaches every control, and each shows that it has the focus',
    { fresh: true },
    async (page) => {
      await set(page, { source: 'random' });
      for (const id of support.panels) await visit(page, id);
      await page.evaluate(() => {
        scrollTo(0, 0);
        document.activeElement.blur();
      });
      const wanted = new Set([
        '.skip',
        '.share',
        '.teacher',
        '.language',
        '.theme',
        '#text',
        '#tau',
        '#temperature-number',
        '#choose-head',
        '#choose-mask',
        '#choose-positions',
        '#choose-length',
        '#choose-tokenizer',
        '#choose-source',
        '#seed',
        '#new-seed',
        '.chip input',
        '.menu summary',
        '[name=look]',
        '[name=show]',
        '#minus',
        'qkv-picture .matrix-plot',
        '#sort',
        '.head input',
        '[name=row-query]',
        '.more-keys',
        '#row-scale',
        '#row-max',
        '.break',
        '.to-map',
        'input[data-of=q]',
        'input[data-of=v]',
        'input[data-key]',
        '.plot-handle',
        '.again',
        '#width',
        '#divided',
        '.draw',
        '[name=mask-kind]',
        'qkv-mask-grid .matrix-plot',
        '.shuffle',
        'qkv-encoding .matrix-plot',
        '#position',
        '#position-number',
        '#shift',
        '[name=pair-layout]',
        '[name=pair]',
        '[name=scheme]',
        'qkv-scheme .matrix-plot',
        '#rotaryQ',
        '#rotaryK',
        '#hold',
        '.copy',
      ]);
      for (let presses = 0; presses < 600 && wanted.size > 0; presses++) {
        await page.keyboard.press('Tab');
        const { reached, ring, html } = await page.evaluate(
          async (selectors) => {
            const look = () => {
              const active = document.activeElement;
              const drawn = active.matches('.face, .segmented input, .chip input, .head input')
                ? active.nextElementSibling
                : active;
              return {
                reached: selectors.filter((selector) => active.matches(selector)),
                ring: getComputedStyle(drawn).outlineStyle,
                html: active.outerHTML.slice(0, 120),
              };
            };
            // What Tab led to may be drawn with the next frame.
            for (let i = 0; i < 2 && look().ring === 'none'; i++)
              await new Promise(requestAnimationFrame);
            return look();
          },
          [...wanted],
        );
        reached.forEach((selector) => wanted.delete(selector));
        assert.notEqual(ring, 'none', `no focus ring after ${presses + 1} tabs: ${html}`);
      }
      assert.deepEqual([...wanted], []);
    },
  );
});

pageTest(
  'page: targets are large enough for a finger',
  { width: 390, height: 844 },
  async (page) => {
    await page.click('.unfold');
    const small = await page.evaluate(() =>
      [
        ...document.querySelectorAll(
          'button, input, select, summary, textarea, .face, .segmented span',
        ),
      ]
        .filter(
          (element) => element.checkVisibility() && !element.closest('label .visually-hidden'),
        )
        .filter((element) => !element.matches('.chip input, .head input, .segmented input'))
        .map((element) => ({
          name: element.className || element.id,
          box: element.getBoundingClientRect(),
        }))
        .filter(({ box }) => box.width < 24 || box.height < 24)
        .map(({ name, box }) => `${name}: ${box.width} x ${box.height}`),
    );
    assert.deepEqual(small, []);
  },
);

// ---- no engine ----

test(
  'page: a worker that did not come is asked for again, and paints',
  { timeout: PATIENCE.test },
  async () => {
    const prepare = (page) => page.route('**/worker-*.js', (route) => route.abort());
    const { page, close } = await support.openPage(site(), { prepare });
    try {
      await page.locator('.failure').waitFor();
      await page.click('.theme'); // what happens meanwhile must not get in the way
      await page.unroute('**/worker-*.js');
      await page.locator('.failure button').click();
      await settle(page);
      await nextFrame(page);
      const [[pixel]] = await support.pixelsAt(page, 'qkv-picture', [{ row: 7, col: 1 }]);
      assert.ok(pixel[0] > 220 && pixel[2] < 130, `it reads cat: ${pixel}`);
    } finally {
      await close();
    }
  },
);

// That the sentence is there in Chinese, too, is for numbers/catalogues.test.js.
test('page: without the engine the page says so', { timeout: PATIENCE.test }, async () => {
  const prepare = (page) => page.route('**/*.wasm', (route) => route.abort());
  const { page, close } = await support.openPage(site(), { prepare });
  try {
    const failure = page.locator('.failure');
    await failure.waitFor();
    const text = await failure.innerText();
    assert.match(text, /could not load the WebAssembly file/);
    assert.match(text, /load_failed: .{10}/, 'the message of the engine');
    assert.ok((await page.locator('.chip').count()) > 5, 'the sentence is there');
    assert.ok(await page.isVisible('qkv-picture .placeholder'));
    assert.ok(!(await page.isVisible('qkv-readout')));
    await page.unroute('**/*.wasm');
    await failure.locator('button').click();
    await settle(page);
    assert.ok(!(await failure.isVisible()), 'a second try may succeed');
  } finally {
    await close();
  }
});
