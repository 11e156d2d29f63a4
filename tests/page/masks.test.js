// @run full, or after changes in web/src/features/masks web/src/ui
// The panel about masks and order, in Chromium: the mask that is chosen and painted, its pixels, its shuffle.
import assert from 'node:assert/strict';
import { grid, unpack } from './support/grid.js';
import { colourOf } from './support/oracle.js';
import { csvOf, take } from './support/panel.js';
import * as support from './support/page.js';

const { addressed, nextFrame, pixelsAt, readNumber, set, settle, snapshot, visit } = support;
const { pageTest } = support.useSite();

const open = (page) => visit(page, 'masks');

const masksOf = async (page) => (await snapshot(page)).frame.masks;

/** Asks that this mask is the one that the weights are computed under; that they follow it is for numbers/masks. */
async function agrees(page, mask) {
  assert.deepEqual((await masksOf(page)).mask, mask);
}

pageTest('masks: every kind is chosen, and its size set', {}, async (page) => {
  await open(page);
  for (const [kind, mayRead] of [
    ['none', () => true],
    ['causal', (i, j) => j <= i],
    ['window', (i, j) => j <= i && i - j < 3],
    ['padding', (_i, j) => j < 8],
    ['prefix', (i, j) => j <= i || j < 3],
  ]) {
    await page.locator(`[name=mask-kind][value=${kind}] + span`).click();
    await settle(page);
    await agrees(page, grid(11, mayRead));
  }
  await page.locator('#mask-size').focus();
  await page.keyboard.press('ArrowRight');
  await settle(page);
  await agrees(
    page,
    grid(11, (i, j) => j <= i || j < 4),
  );
  assert.equal(await page.getAttribute('#mask-size', 'aria-valuetext'), '4 tokens of the prefix');
});

/** The middle of a cell of the grid, on the screen. */
function placeOf(page, cell) {
  return page.evaluate((target) => {
    const matrix = document.querySelector('qkv-mask-grid qkv-matrix');
    const { x, y } = matrix.cellCentre(target);
    const box = matrix.canvas.getBoundingClientRect();
    const scale = box.width / matrix.size.width;
    return [box.left + x * scale, box.top + y * scale];
  }, cell);
}

const showGrid = (page) =>
  page.evaluate(() =>
    document.querySelector('.masks-card qkv-matrix').scrollIntoView({ block: 'center' }),
  );

pageTest(
  'masks: a pointer paints cells, and the first decides what a stroke does',
  {},
  async (page) => {
    await set(page, { source: 'random' });
    await open(page);
    await showGrid(page);
    const wanted = grid(11, (i, j) => j <= i);
    await page.mouse.click(...(await placeOf(page, { row: 2, col: 9 })));
    await settle(page);
    wanted[2 * 11 + 9] = 1;
    await agrees(page, wanted);
    assert.equal((await snapshot(page)).state.maskKind, 'painted');
    assert.ok(await page.isChecked('[name=mask-kind][value=painted]'));
    // From (7, 3) down to (10, 3): the first may be read, so all of them are masked, also what a hand skips.
    await page.mouse.move(...(await placeOf(page, { row: 7, col: 3 })));
    await page.mouse.down();
    await page.mouse.move(...(await placeOf(page, { row: 10, col: 3 })));
    await page.mouse.up();
    await settle(page);
    for (const row of [7, 8, 9, 10]) wanted[row * 11 + 3] = 0;
    await agrees(page, wanted);
    // From a masked cell over one that may be read already: it stays so.
    await page.mouse.move(...(await placeOf(page, { row: 4, col: 5 })));
    await page.mouse.down();
    await page.mouse.move(...(await placeOf(page, { row: 4, col: 3 })), { steps: 7 });
    await page.mouse.up();
    await settle(page);
    wanted[4 * 11 + 5] = 1;
    await agrees(page, wanted);
    const { state } = await snapshot(page);
    assert.deepEqual(unpack(state.maskPaint, 11), wanted);
    await addressed(page, `mp=${state.maskPaint}`);
    await page.reload();
    await open(page);
    await agrees(page, wanted);
  },
);

pageTest('masks: the keyboard paints, and hears what came of it', {}, async (page) => {
  await set(page, { source: 'random' });
  await open(page);
  const plot = page.locator('qkv-mask-grid .matrix-plot');
  await plot.focus();
  const said = (wanted) =>
    page.waitForFunction(
      (text) =>
        document
          .querySelector('qkv-mask-grid .matrix-stage ~ [role=status]')
          .textContent.includes(text),
      wanted,
    );
  const top = await page.evaluate(() => scrollY);
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowDown');
  await said('query 1 “cat”, key 0 “The”: weight');
  await page.keyboard.press(' ');
  await said('query 1 “cat”, key 0 “The”: masked, weight 0');
  await settle(page);
  const wanted = grid(11, (i, j) => j <= i);
  wanted[11] = 0;
  await agrees(page, wanted);
  assert.equal(await page.evaluate(() => scrollY), top, 'Space does not scroll');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await said('query 1 “cat”, key 1 “cat”: masked, like the whole row: all zeros');
  await settle(page);
  wanted[12] = 0;
  await agrees(page, wanted);
  await page.keyboard.press(' ');
  await said('query 1 “cat”, key 1 “cat”: weight 1.00000');
});

pageTest('masks: the pixels are the weights, and masked cells are hatched', {}, async (page) => {
  const paint = 'f0f00f0f'.padEnd(64, '5');
  await set(page, { source: 'random', maskKind: 'painted', maskPaint: paint });
  await open(page);
  await nextFrame(page);
  const { mask, weights } = await masksOf(page);
  const cells = mask.map((_, at) => ({ row: Math.floor(at / 11), col: at % 11 }));
  const areas = await pixelsAt(page, 'qkv-mask-grid', cells, 15);
  areas.forEach((area, at) => {
    const colours = new Set(area.map(String));
    assert.equal(colours.size, mask[at] ? 1 : 2, `cell ${at}`);
    if (!mask[at]) return;
    const wanted = colourOf(weights[at], 'weights');
    area[0].forEach((value, c) => assert.ok(Math.abs(value - wanted[c]) <= 1, `cell ${at}`));
  });
});

// ---- order ----

pageTest(
  'masks: shuffled: the labels move along, and the differences are those of the layer',
  {},
  async (page) => {
    const words = ['red', 'green', 'blue', 'white', 'black'];
    await set(page, { text: words.join(' '), source: 'random', maskKind: 'prefix', maskSize: 2 });
    await open(page);
    assert.ok(!(await page.isVisible('.swaps')));
    assert.ok(await page.isDisabled('.as-written'));
    // One order of 119 moves the two tokens of the prefix alone, which see each other: that one keeps the symmetry.
    let masks;
    do {
      await page.click('.shuffle');
      await settle(page);
      masks = await masksOf(page);
      assert.notDeepEqual(masks.order, [0, 1, 2, 3, 4]);
    } while (`${masks.order}` === '1,0,2,3,4');
    assert.deepEqual([...masks.order].sort(), [0, 1, 2, 3, 4]);
    const shuffled = masks.order.map((i) => words[i]);
    assert.deepEqual(masks.tokens, shuffled);
    assert.equal(await page.textContent('.sequence'), `Now: ${shuffled.join(' · ')}`);
    const labels = await page.evaluate(
      () => document.querySelector('qkv-mask-grid qkv-matrix').model.rowLabels,
    );
    assert.deepEqual(labels, shuffled);
    assert.match(
      await page.textContent('qkv-mask-grid .described'),
      new RegExp(`“${shuffled[4]}”.*“${shuffled[0]}”`),
    );
    const table = csvOf(await take(page, 'masks', 'csv'));
    assert.deepEqual(table[0].slice(1), shuffled);
    assert.deepEqual(
      table.slice(1).map(([label]) => label),
      shuffled,
    );
    table
      .slice(1)
      .forEach((row, i) =>
        row.slice(1).forEach((value, j) => assert.equal(Number(value), masks.weights[5 * i + j])),
      );

    const { without, sinusoidal } = masks.swaps;
    const shown = async (name) => readNumber(await page.textContent(`[data-swap=${name}]`));
    for (const [name, value] of [
      ['without-free', without.free],
      ['without-masked', without.masked],
      ['sinusoidal-free', sinusoidal.free],
      ['sinusoidal-masked', sinusoidal.masked],
    ]) {
      assert.ok(Math.abs((await shown(name)) - value) <= 0.051 * value, name);
    }
    assert.match(await page.textContent('.mask-why'), /breaks the symmetry even without positions/);
  },
);

pageTest('masks: forced colours keep hatching apart from weights', {}, async (page) => {
  await page.emulateMedia({ forcedColors: 'active' }); // access.test.js begins with them
  await open(page);
  await nextFrame(page);
  const [area] = await pixelsAt(page, 'qkv-mask-grid', [{ row: 0, col: 8 }], 15);
  assert.equal(new Set(area.map(String)).size, 2);
});
