// Why scores are divided by sqrt(d), in Chromium: the numbers that the engine found, as drawn and written.
import assert from 'node:assert/strict';
import { exampleSaid } from './support/texts.js';
import * as support from './support/page.js';

const { nextFrame, readNumber, set, settle, snapshot, visit } = support;
const { site, pageTest } = support.useSite();

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

pageTest('scale: the curves stand where the axes say', {}, async (page) => {
  await visit(page, 'scale');
  const { results } = (await snapshot(page)).studies.scale;
  for (const [figure, what, scale] of [
    ['entropies', 'entropy', (v) => v],
    ['variances', 'variance', Math.log],
  ]) {
    const seen = await page.evaluate(
      ([panel, name]) => {
        const root = document.querySelector(`${panel} [data-figure=${name}]`);
        const dots = (kind) =>
          [...root.querySelectorAll(`.plot-${kind}-point`)].map((dot) => [
            Number(dot.getAttribute('cx')),
            Number(dot.getAttribute('cy')),
          ]);
        const marks = [...root.querySelectorAll('text.plot-label')].map((e) => ({
          value: Number(e.textContent),
          anchor: e.getAttribute('text-anchor'),
          x: Number(e.getAttribute('x')),
          y: Number(e.getAttribute('y')) - 4,
        }));
        return { plain: dots('plain'), scaled: dots('scaled'), marks };
      },
      [PANEL, figure],
    );
    const side = seen.marks.filter(({ anchor, value }) => anchor === 'end' && value > 0);
    const below = seen.marks.filter(({ anchor, value }) => anchor === 'middle' && value >= 4);
    const [low, high] = [side[0], side.at(-1)];
    const y = (v) =>
      low.y +
      ((scale(v) - scale(low.value)) / (scale(high.value) - scale(low.value))) * (high.y - low.y);
    for (const kind of ['plain', 'scaled']) {
      results.forEach((result, i) => {
        const [cx, cy] = seen[kind][i];
        assert.ok(Math.abs(cy - y(result[kind][what])) < 0.3, `${figure} ${kind} ${result.width}`);
        const mark = below.find(({ value }) => value === result.width);
        if (mark) assert.ok(Math.abs(cx - mark.x) < 0.2);
      });
    }
  }
});

pageTest(
  'scale: slider, box and button; the link brings the same numbers to anyone',
  {},
  async (page) => {
    await visit(page, 'scale');
    const slider = page.locator('#width');
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    await settle(page);
    assert.equal((await snapshot(page)).state.width, 128);
    const { results } = (await snapshot(page)).studies.scale;
    const { plain, scaled } = results[5];
    assert.equal(
      await slider.getAttribute('aria-valuetext'),
      `d = 128: variance ${plain.variance.toPrecision(3)}, mean entropy ${plain.entropy.toPrecision(3)} nats, after division ${scaled.entropy.toPrecision(3)}`,
    );
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await settle(page);
    assert.equal((await snapshot(page)).state.width, 4);
    await page.check('#divided');
    await page.click('.draw');
    await settle(page);
    const second = await snapshot(page);
    assert.equal(second.state.sample, 2);
    assert.ok(second.state.divided);
    assert.notDeepEqual(second.studies.scale.results, results);
    assert.match(await page.textContent(`${PANEL} [data-said]`), /^d = 4: variance/);
    await page.click('.language');
    await settle(page);
    assert.equal(await page.textContent(`${PANEL} [data-said]`), '', 'nothing is left in English');
    await page.click('.language');
    await settle(page);
    // The link follows a moment later.
    const fragment = `#v=1&lang=en&${exampleSaid()}&d=4&div=1&draw=2`;
    await page.waitForFunction((hash) => location.hash === hash, fragment);
    const other = await support.openPage(site(), { fragment: `?embed=scale${fragment}` });
    try {
      await visit(other.page, 'scale');
      await nextFrame(other.page);
      const there = await snapshot(other.page);
      assert.deepEqual(there.studies.scale.results, second.studies.scale.results);
      assert.ok(await other.page.isChecked('#divided'));
      assert.ok(!(await other.page.isVisible('#tau')), 'it needs no sentence');
      await other.page.click('#scale .menu summary');
      assert.deepEqual(other.problems, []);
    } finally {
      await other.close();
    }
  },
);

pageTest(
  'scale: what is no longer asked for is dropped, and nothing is drawn out of sight',
  {},
  async (page) => {
    await visit(page, 'scale');
    const seen = await page.evaluate(async () => {
      const complete = new Set();
      window.__qkv.set({ sample: 3 });
      window.__qkv.set({ sample: 4 });
      while (!complete.has(4)) {
        await new Promise(requestAnimationFrame);
        const { scale: widths } = window.__qkv.snapshot().studies;
        if (widths.complete) complete.add(widths.sample);
      }
      return [...complete];
    });
    assert.ok(!seen.includes(3), `${seen}`);
    await visit(page, 'use');
    await set(page, { sample: 5 }); // and settled: the worker has nothing left to do
    assert.equal((await snapshot(page)).studies.scale.sample, 4);
  },
);
