// @run full, or after changes in web/src/features/map web/src/engine web/src/ui
// The page in Chromium: its pixels against its numbers.
import assert from 'node:assert/strict';
import { colourOf } from './support/oracle.js';
import * as support from './support/page.js';

const { nextFrame, pixelsAt, set, snapshot, tensors, visit, weightOf } = support;
const { pageTest } = support.useSite();

pageTest('map: every cell has the colour of its weight', {}, async (page) => {
  assert.ok(await page.evaluate(() => window.__qkv.paintsInWorker), 'painted in the worker');
  await set(page, { source: 'random' });
  await everyCell(page);
  await set(page, { look: 'arcs' });
  await set(page, { look: 'map', seed: 8 });
  const { surfaces } = (await snapshot(page)).frame.request;
  assert.ok(surfaces.map, 'what comes back onto the screen is asked for');
  await everyCell(page);
});

const withoutOffscreen = (page) =>
  page.addInitScript(() => delete HTMLCanvasElement.prototype.transferControlToOffscreen);

pageTest(
  'map: where canvases cannot be handed over, the pixels come back',
  { prepare: withoutOffscreen, fragment: '#v=1&src=random' },
  async (page) => {
    assert.ok(!(await page.evaluate(() => window.__qkv.paintsInWorker)));
    await everyCell(page);
  },
);

async function everyCell(page) {
  for (const [head, show] of [
    [0, 'weights'],
    [2, 'sqrt'],
    [3, 'log'],
  ]) {
    await set(page, { head, show });
    await nextFrame(page);
    const all = await tensors(page);
    const count = all.request.layer.tokens.length;
    const cells = [];
    for (let row = 0; row < count; row++) {
      for (let col = 0; col <= row; col++) cells.push({ row, col });
    }
    const pixels = (await pixelsAt(page, 'qkv-picture', cells)).flat();
    cells.forEach(({ row, col }, i) => {
      const wanted = colourOf(weightOf(all, head, row, col), show);
      const off = pixels[i].map((value, c) => Math.abs(value - wanted[c]));
      assert.ok(Math.max(...off) <= 1, `${show} ${row},${col}: ${pixels[i]} is not ${wanted}`);
    });
    const distinct = new Set(pixels.map(String));
    assert.ok(distinct.size > 10, 'a picture of one colour proves nothing');
  }
}

pageTest(
  'map: scores and differences: zero is neutral, signs have their sides',
  {},
  async (page) => {
    await visit(page, 'map');
    await set(page, { source: 'random', show: 'scores' });
    await nextFrame(page);
    const check = async (valueOf) => {
      const { frame } = await snapshot(page);
      const count = frame.request.layer.tokens.length;
      let largest = 0;
      for (let row = 0; row < count; row++) {
        for (let col = 0; col <= row; col++) {
          largest = Math.max(largest, Math.abs(valueOf(row * count + col)));
        }
      }
      assert.ok(Math.abs(frame.range / largest - 1) < 1e-6, 'the ends of the scale');
      for (let row = 1; row < count; row++) {
        const [[pixel]] = await pixelsAt(page, 'qkv-picture', [{ row, col: row - 1 }]);
        const share = valueOf(row * count + row - 1) / largest;
        const [red, , blue] = pixel;
        if (Math.abs(share) < 0.1) continue;
        assert.equal(red > blue, share > 0, `row ${row}: ${share} is ${pixel}`);
      }
    };
    const scores = await tensors(page);
    await check((at) => Number(scores.heads[0].scores[at]));
    await set(page, { show: 'weights', other: 3 });
    await nextFrame(page);
    const { heads } = await tensors(page);
    await check((at) => heads[0].weights[at] - heads[3].weights[at]);
  },
);

pageTest(
  'map: with more tokens than pixels the largest weight of a pixel is shown',
  {},
  async (page) => {
    await visit(page, 'map');
    await set(page, { length: 1024, head: 1 });
    await nextFrame(page);
    const { frame } = await snapshot(page);
    const { width } = frame.request.surfaces.map;
    assert.ok(width < 1024);
    assert.ok(await page.isVisible('.pooled'));
    // The head of the previous token: a diagonal of weights near 1, one cell wide, nowhere broken.
    const cells = Array.from({ length: 60 }, (_, i) => ({ row: 17 * i + 4, col: 17 * i + 3 }));
    const areas = await pixelsAt(page, 'qkv-picture', cells, 3);
    const yellow = ([red, , blue]) => red > 220 && blue < 130; // masked cells beside it are white
    const broken = cells.filter((_, i) => !areas[i].some(yellow));
    assert.deepEqual(broken, []);
  },
);

pageTest(
  'map: while the temperature is dragged, the rows that are drawn are true',
  { fragment: '#v=1&T=1024&src=random' },
  async (page) => {
    await visit(page, 'map');
    await page.evaluate(() => {
      const slider = document.querySelector('#tau');
      slider.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
      slider.value = '60';
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await page.waitForFunction(() => {
      const { state, frame } = window.__qkv.snapshot();
      return frame.step > 1 && frame.request.layer.temperature === state.temperature;
    });
    await nextFrame(page);
    const { frame } = await snapshot(page);
    const { width, height } = frame.request.surfaces.map;
    const groups = Math.ceil(1024 / frame.step);
    const places = [20, 99, 200, 250].map((group) => ({
      row: (group + 1) * frame.step - 1,
      x: Math.floor(group * (width / groups) * 0.7),
      y: Math.floor(((group + 0.5) * height) / groups),
    }));
    const rows = await page.evaluate(async (list) => {
      const { heads } = await window.__qkv.tensors();
      const [{ weights }] = heads;
      return list.map(({ row }) => Array.from(weights.subarray(row * 1024, row * 1024 + row + 1)));
    }, places);
    const pixels = await page.evaluate((list) => {
      const { canvas } = document.querySelector('qkv-picture qkv-matrix');
      const blank = new OffscreenCanvas(canvas.width, canvas.height);
      const copy = blank.getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      return list.map(({ x, y }) => [...copy.getImageData(x, y, 1, 1).data.slice(0, 3)]);
    }, places);
    places.forEach(({ row, x }, i) => {
      const here = rows[i].filter((_, col) => Math.floor((col * width) / 1024) === x);
      const wanted = colourOf(Math.max(...here), 'weights');
      const off = pixels[i].map((value, c) => Math.abs(value - wanted[c]));
      assert.ok(Math.max(...off) <= 1, `row ${row}: ${pixels[i]} is not ${wanted}`);
    });
    await page.evaluate(() => dispatchEvent(new PointerEvent('pointerup')));
    await page.waitForFunction(() => window.__qkv.snapshot().frame.step === 1);
  },
);

pageTest('map: masked cells are hatched, and not with colours of the map', {}, async (page) => {
  const [area] = await pixelsAt(page, 'qkv-picture', [{ row: 1, col: 8 }], 20);
  const colours = [...new Set(area.map(String))];
  assert.equal(colours.length, 2, 'the surface and the strokes');
  const ramp = Array.from({ length: 256 }, (_, i) => colourOf(i / 255, 'weights'));
  for (const colour of colours) {
    const rgb = colour.split(',').map(Number);
    const nearest = ramp.map((r) => Math.max(...r.map((value, c) => Math.abs(value - rgb[c]))));
    assert.ok(Math.min(...nearest) > 20);
  }
});
