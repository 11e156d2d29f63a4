// @run full, or after changes in web/src/features/scale web/src/ui
// Why scores are divided by sqrt(d), in Chromium: the numbers that the engine found, as drawn and written.
import assert from 'node:assert/strict';
import * as support from './support/page.js';

const { readNumber, set, snapshot, visit } = support;
const { pageTest } = support.useSite();

const PANEL = 'qkv-panel-scale';

const numberOf = async (page, name) =>
  readNumber(await page.textContent(`${PANEL} [data-number=${name}]`));

const labels = (page, figure) =>
  page.locator(`${PANEL} [data-figure=${figure}] text.plot-label`).allTextContents();

pageTest('scale: the numbers and drawings are of the width that is chosen', {}, async (page) => {
  await visit(page, 'scale');
  const { results } = (await snapshot(page)).studies.scale;
  for (const [width, divided] of [
    [64, false],
    [4, false],
    [4, true],
    [1024, true],
    [1024, false],
  ]) {
    await set(page, { width, divided });
    const { plain, scaled } = results.find((each) => each.width === width);
    const shown = divided ? scaled : plain;
    const near = async (name, value) => {
      const got = await numberOf(page, name);
      assert.ok(
        Math.abs(got - value) <= 6e-4 * Math.abs(value) + 5e-4,
        `${name}: ${got}, ${value}`,
      );
    };
    await near('variance', shown.variance);
    await near('before', plain.entropy);
    await near('after', scaled.entropy);
    await near('law', Math.log(64) - 0.5);
    const drawn = await page.evaluate((panel) => {
      const figure = document.querySelector(`${panel} [data-figure=histogram]`);
      const bars = [...figure.querySelectorAll('.plot-bar')];
      const curve = figure.querySelector('.plot-density').getAttribute('d');
      return {
        heights: bars.map((bar) => Number(bar.getAttribute('height'))),
        bottom: Number(bars[0].getAttribute('y')) + Number(bars[0].getAttribute('height')),
        ys: curve
          .split(/[ML]/)
          .filter(Boolean)
          .map((pair) => Number(pair.split(' ')[1])),
      };
    }, PANEL);
    const counts = shown.counts.filter((n) => n > 0);
    const unit = Math.max(...drawn.heights) / Math.max(...counts);
    counts.forEach((n, i) => assert.ok(Math.abs(drawn.heights[i] - n * unit) < 0.02));
    // The top of the density: 4096 scores, bins a quarter of a standard deviation wide.
    const peak = (drawn.bottom - Math.min(...drawn.ys)) / unit;
    assert.ok(Math.abs(peak - 4096 / 4 / Math.sqrt(2 * Math.PI)) < 1, `${peak}`);
    const ticks = (await labels(page, 'histogram')).map(readNumber).filter(Number.isFinite);
    const reach = 4 * (divided ? 1 : Math.sqrt(width));
    assert.ok(Math.min(...ticks) >= -reach && Math.min(...ticks) < -reach / 2, `${ticks}`);
    const words = await page.textContent(`${PANEL} .verdict`);
    assert.match(
      words,
      width === 4 ? /still below/ : new RegExp(`temperature τ = ${Math.sqrt(width)}`),
    );
  }
});
