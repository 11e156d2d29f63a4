// The panel about masks and order, in Chromium: weights under exactly the mask of the grid, its brush, its shuffle.
import assert from 'node:assert/strict';
import { colourOf, layer } from './support/oracle.js';
import { csvOf, panelTests, take, takeAll } from './support/panel.js';
import * as support from './support/page.js';

const { layerOf, nextFrame, pixelsAt, readNumber, set, settle, snapshot, tensors, visit } = support;
const { pageTest } = support.useSite();

/** Brings the panel onto the screen and waits for its numbers. */
async function open(page) {
  await visit(page, 'masks');
  await page.waitForFunction(() => window.__qkv.snapshot().frame?.masks);
  await settle(page);
}

const masksOf = async (page) => (await snapshot(page)).frame.masks;

const grid = (count, mayRead) =>
  Array.from({ length: count ** 2 }, (_, at) =>
    Number(mayRead(Math.floor(at / count), at % count)),
  );

/** The mask that a link holds: four hexadecimal digits a row, the first key the highest bit. */
function unpack(paint, count) {
  return grid(count, (row, col) => {
    const bits = parseInt(paint.slice(4 * row, 4 * row + 4), 16);
    return (bits >> (15 - col)) & 1;
  });
}

/** Asks that the weights on the grid are those of the formula under `mask`, and 0 where it says so. */
async function agrees(page, mask) {
  const { masks, request } = (await snapshot(page)).frame;
  assert.deepEqual(masks.mask, mask);
  const all = await tensors(page);
  const exact = layer({ ...layerOf(all), mask });
  const count = masks.tokens.length;
  const from = request.view.head * count ** 2;
  let most = 0;
  masks.weights.forEach((weight, at) => {
    if (mask[at] === 0) assert.equal(weight, 0, `masked at ${at}`);
    const off = Math.abs(weight - exact.weights[from + at]);
    assert.ok(off <= exact.bounds[from + at], `weight ${at} is off by ${off}`);
    most = Math.max(most, weight);
  });
  const rows = Array.from({ length: count }, (_, i) => mask.slice(i * count, (i + 1) * count));
  rows.forEach((row, i) => {
    const sum = masks.weights.slice(i * count, (i + 1) * count).reduce((a, b) => a + b);
    const wanted = row.includes(1) ? 1 : 0;
    assert.ok(Math.abs(sum - wanted) < 2e-6, `row ${i} sums to ${sum}`);
    assert.ok(Math.abs(masks.entropy[i] - exact.entropy[request.view.head * count + i]) < 1e-4);
  });
  const empty = rows.flatMap((row, i) => (row.includes(1) ? [] : [i]));
  assert.deepEqual(masks.empty, empty);
  assert.ok(most > 0 || empty.length === count);
}

pageTest('every kind of mask is what it says, and the weights follow it', {}, async (page) => {
  await open(page);
  const count = 11;
  const kinds = [
    [{ maskKind: 'none' }, () => true],
    [{ maskKind: 'causal' }, (i, j) => j <= i],
    [{ maskKind: 'window', maskSize: 4 }, (i, j) => j <= i && i - j < 4],
    [{ maskKind: 'window', maskSize: 1 }, (i, j) => i === j],
    [{ maskKind: 'padding', maskSize: 3 }, (_i, j) => j < 8],
    [{ maskKind: 'prefix', maskSize: 5 }, (i, j) => j <= i || j < 5],
  ];
  for (const look of [
    { source: 'random', head: 2 },
    { source: 'constructed', head: 3, temperature: 3 },
  ]) {
    await set(page, look);
    for (const [choice, mayRead] of kinds) {
      await set(page, choice);
      await agrees(page, grid(count, mayRead));
    }
  }
  await page.locator('[name=mask-kind][value=prefix] + span').click();
  await page.locator('#mask-size').focus();
  await page.keyboard.press('ArrowRight');
  await settle(page);
  await agrees(
    page,
    grid(count, (i, j) => j <= i || j < 6),
  );
  assert.equal(await page.getAttribute('#mask-size', 'aria-valuetext'), '6 tokens of the prefix');
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

pageTest('a pointer paints cells, and the first decides what a stroke does', {}, async (page) => {
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
  await page.waitForFunction((paint) => location.hash.includes(`mp=${paint}`), state.maskPaint);
  await page.reload();
  await open(page);
  await agrees(page, wanted);
});

pageTest('a finger taps a cell, paints sideways, and scrolls otherwise', {}, async (page) => {
  await open(page);
  await showGrid(page);
  const plot = page.locator('qkv-mask-grid .matrix-plot');
  assert.equal(await plot.evaluate((e) => getComputedStyle(e).touchAction), 'pan-y');
  const send = async (type, cell) => {
    const [clientX, clientY] = await placeOf(page, cell);
    await plot.evaluate(
      (element, [name, init]) => {
        element.setPointerCapture = () => {}; // no real finger is down
        element.dispatchEvent(
          new PointerEvent(name, { bubbles: true, pointerType: 'touch', ...init }),
        );
      },
      [type, { clientX, clientY, pointerId: 7 }],
    );
  };
  const before = (await masksOf(page)).mask;
  await send('pointerdown', { row: 0, col: 5 });
  await send('pointercancel', { row: 3, col: 5 }); // the page took it for scrolling
  await settle(page);
  assert.deepEqual((await masksOf(page)).mask, before);
  await send('pointerdown', { row: 0, col: 5 });
  await send('pointerup', { row: 0, col: 5 });
  await settle(page);
  before[5] = 1;
  assert.deepEqual((await masksOf(page)).mask, before);
  await send('pointerdown', { row: 1, col: 5 });
  await send('pointermove', { row: 1, col: 7 });
  await send('pointerup', { row: 1, col: 7 });
  await settle(page);
  for (const col of [5, 6, 7]) before[11 + col] = 1;
  assert.deepEqual((await masksOf(page)).mask, before);
});

pageTest('the keyboard paints, and hears what came of it', {}, async (page) => {
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
  await said('query 1 “cat”, key 1 “cat”: masked, as is the whole row: all zeros');
  await settle(page);
  wanted[12] = 0;
  await agrees(page, wanted);
  await page.keyboard.press(' ');
  await said('query 1 “cat”, key 1 “cat”: weight 1.00000');
});

pageTest('rows without any key are zeros, and the panel says so', {}, async (page) => {
  const paint = '0000ffff0000'.padEnd(64, 'f');
  await set(page, { source: 'random', maskKind: 'painted', maskPaint: paint });
  await open(page);
  await agrees(page, unpack(paint, 11));
  const { masks } = (await snapshot(page)).frame;
  for (const row of [0, 2]) {
    assert.deepEqual(masks.weights.slice(row * 11, row * 11 + 11), new Array(11).fill(0));
    assert.equal(masks.entropy[row], 0);
  }
  const note = page.locator('.empty-rows');
  assert.match(await note.textContent(), /^Nothing to read for 0 “The”, 2 “sat”\. .*all zeros/);
  await set(page, { maskKind: 'padding', maskSize: 16 });
  assert.equal((await masksOf(page)).empty.length, 11, 'nothing but padding');
  await set(page, { maskKind: 'causal' });
  assert.ok(!(await note.isVisible()));
});

pageTest('the pixels are the weights, and masked cells are hatched', {}, async (page) => {
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

pageTest('painted masks in links are clamped to the grid', {}, async (page) => {
  const read = (mp) =>
    page.evaluate((raw) => window.__qkv.parseFragment(`#v=1&mk=painted&mp=${raw}`, 'en'), mp);
  const whole = 'f'.repeat(64);
  for (const [raw, wanted] of [
    ['', whole],
    ['xyz', whole],
    ['12 4', whole],
    ['8', '8'.padEnd(64, 'f')],
    ['AbC0', 'abc0'.padEnd(64, 'f')],
    ['0'.repeat(70), '0'.repeat(64)],
  ]) {
    const state = await read(raw);
    assert.equal(state.maskPaint, wanted, raw);
    const link = await page.evaluate((value) => window.__qkv.formatFragment(value), state);
    const again = await page.evaluate((hash) => window.__qkv.parseFragment(hash, 'zh'), link);
    assert.deepEqual(again, state);
  }
  const sizes = await page.evaluate(() =>
    ['0', '99', '-3', '2.6'].map(
      (ms) => window.__qkv.parseFragment(`#v=1&ms=${ms}`, 'en').maskSize,
    ),
  );
  assert.deepEqual(sizes, [1, 16, 1, 3]);
});

pageTest('of a long text the first 16 tokens are taken', {}, async (page) => {
  await set(page, { source: 'random', length: 64, maskKind: 'padding', maskSize: 2 });
  await open(page);
  const { tokens, mask } = await masksOf(page);
  assert.deepEqual(tokens, (await snapshot(page)).tokens.slice(0, 16));
  assert.deepEqual(
    mask,
    grid(16, (_i, j) => j < 14),
  );
  assert.match(await page.textContent('qkv-mask-choice .about'), /first 16 of 64 tokens/);
});

// ---- order ----

/** The output of the whole page's layer on these words: another way to the numbers of the panel. */
async function outputOf(page, words, patch) {
  await set(page, { text: words.join(' '), ...patch });
  const { output, x } = await tensors(page);
  return { output, width: x.length / words.length };
}

pageTest(
  'shuffled: the labels move along, and the differences are those of the layer',
  {},
  async (page) => {
    const words = ['red', 'green', 'blue', 'white', 'black'];
    await set(page, { text: words.join(' '), source: 'random', maskKind: 'prefix', maskSize: 2 });
    await open(page);
    assert.ok(!(await page.isVisible('.swaps')));
    assert.ok(await page.isDisabled('.as-written'));
    await page.click('.shuffle');
    await settle(page);
    const { masks, request } = (await snapshot(page)).frame;
    assert.notDeepEqual(masks.order, [0, 1, 2, 3, 4]);
    assert.deepEqual([...masks.order].sort(), [0, 1, 2, 3, 4]);
    const shuffled = masks.order.map((i) => words[i]);
    assert.deepEqual(masks.tokens, shuffled);
    assert.equal(await page.textContent('.sequence'), `Now: ${shuffled.join(' · ')}`);
    const labels = await page.evaluate(
      () => document.querySelector('qkv-mask-grid qkv-matrix').model.rowLabels,
    );
    assert.deepEqual(labels, shuffled);
    assert.match(
      await page.textContent('qkv-mask-grid .told'),
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
    assert.ok(without.free < 1e-6, `${without.free} is more than rounding`);
    const shown = async (name) => readNumber(await page.textContent(`[data-swap=${name}]`));
    for (const [name, value] of [
      ['without-free', without.free],
      ['without-masked', without.masked],
      ['sinusoidal-free', sinusoidal.free],
      ['sinusoidal-masked', sinusoidal.masked],
    ]) {
      assert.ok(Math.abs((await shown(name)) - value) <= 0.051 * value, name);
    }
    assert.match(await page.textContent('.mask-why'), /breaks the symmetry too/);

    // The same by typing the words in both orders, under the mask of the map.
    await set(page, { maskKind: 'causal' });
    const causal = (await masksOf(page)).swaps;
    const { weights } = await masksOf(page);
    for (const [positions, of] of [
      ['none', causal.without],
      ['sinusoidal', causal.sinusoidal],
    ]) {
      for (const [mask, value] of [
        ['none', of.free],
        ['causal', of.masked],
      ]) {
        const plain = await outputOf(page, words, { positions, mask });
        const moved = await outputOf(page, shuffled, { positions, mask });
        let most = 0;
        moved.output.forEach((out, at) => {
          const from = masks.order[Math.floor(at / plain.width)] * plain.width + (at % plain.width);
          most = Math.max(most, Math.abs(out - plain.output[from]));
        });
        assert.ok(Math.abs(most - value) < 1e-6, `${positions} ${mask}: ${most}, shown ${value}`);
        if (mask === 'causal' || positions === 'sinusoidal') assert.ok(value > 1e-2);
      }
    }
    // What the grid showed of the shuffled tokens is what these words give when they are typed so.
    const all = await tensors(page);
    const head = all.heads[request.view.head].weights;
    head.forEach((weight, at) => assert.ok(Math.abs(weight - weights[at]) < 1e-6));
  },
);

pageTest('a mask that no token notices leaves the symmetry whole', {}, async (page) => {
  await set(page, { source: 'random', maskKind: 'none', maskShuffle: 5 });
  await open(page);
  const { swaps, order } = await masksOf(page);
  assert.ok(swaps.without.masked < 1e-6 && swaps.sinusoidal.masked > 1e-2);
  assert.match(await page.textContent('.mask-why'), /leaves the symmetry whole/);
  await page.waitForFunction(() => location.hash.includes('mo=5'));
  await page.reload();
  await open(page);
  assert.deepEqual((await masksOf(page)).order, order, 'same link, same order');
  await page.click('.as-written');
  await settle(page);
  assert.equal((await masksOf(page)).swaps, null);
});

pageTest('numbers of one’s own have an order, and no positions', {}, async (page) => {
  await set(page, { source: 'yours', maskShuffle: 3 });
  await open(page);
  const { tokens, swaps, order, weights } = await masksOf(page);
  assert.deepEqual(
    tokens,
    order.map((i) => `x${i + 1}`),
  );
  assert.ok(swaps.without.free < 1e-6 && swaps.without.masked > 1e-3);
  assert.equal(swaps.sinusoidal, null);
  assert.equal(await page.textContent('[data-swap=sinusoidal-free]'), '–');
  const { q, k } = (await snapshot(page)).state.numbers;
  const score = (i, j) => {
    const [a, b] = [order[i] * 2, order[j] * 2];
    return (q[a] * k[b] + q[a + 1] * k[b + 1]) / Math.SQRT2;
  };
  const [e0, e1] = [score(1, 0), score(1, 1)].map(Math.exp);
  assert.ok(Math.abs(weights[3] - e0 / (e0 + e1)) < 1e-6);
});

// ---- the panel as such ----

pageTest('nothing is computed for it while it is not on the screen', {}, async (page) => {
  const { frame } = await snapshot(page);
  assert.equal(frame.request.masks, null);
  await set(page, { maskKind: 'window' });
  assert.ok(!(await snapshot(page)).frame.ran.includes('masks'));
  await open(page);
  await set(page, { maskSize: 2 });
  const { ran } = (await snapshot(page)).frame;
  assert.ok(ran.includes('masks') && ran.includes('paint masks'));
  assert.ok(!ran.includes('head'), 'the map is not touched');
});

pageTest('without words there is nothing to mask', {}, async (page) => {
  await open(page);
  await set(page, { text: '' });
  await nextFrame(page);
  assert.ok(!(await page.isVisible('qkv-mask-grid qkv-matrix')));
  assert.match(await page.textContent('qkv-mask-grid .placeholder'), /first word/);
  await set(page, { text: 'one' });
  assert.ok(await page.isVisible('qkv-mask-grid qkv-matrix'));
  assert.ok(await page.isDisabled('.shuffle'));
});

const forced = (page) => page.emulateMedia({ forcedColors: 'active' });

pageTest('forced colours keep hatching apart from weights', { prepare: forced }, async (page) => {
  await open(page);
  await nextFrame(page);
  const [area] = await pixelsAt(page, 'qkv-mask-grid', [{ row: 0, col: 8 }], 15);
  assert.equal(new Set(area.map(String)).size, 2);
});

pageTest('masks: every file holds its numbers', {}, async (page) => {
  await set(page, { source: 'random', maskKind: 'window' });
  await open(page);
  const { svg, data } = await takeAll(page, 'masks');
  const { mask } = await masksOf(page);
  const drawn = svg.match(/<rect x=[^>]*>/g).map((cell) => Number(!cell.includes('url(#masked)')));
  assert.deepEqual(drawn, mask, 'hatched as on the page');
  assert.deepEqual(data.masks.weights, (await masksOf(page)).weights);
});

panelTests(pageTest, 'masks', async (page) => {
  await open(page);
  const maskPaint = '0000'.padEnd(64, 'f');
  await set(page, { maskKind: 'painted', maskPaint, maskShuffle: 9 });
});
