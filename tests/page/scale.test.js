// Why scores are divided by sqrt(d), in Chromium: the numbers of the panel against float64 and against chance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build } from 'esbuild';
import { random as generator } from './support/oracle.js';
import * as support from './support/page.js';

const { nextFrame, readNumber, set, settle, snapshot, visit } = support;
const { site, pageTest } = support.useSite();

const U = 2 ** -24;
const PANEL = 'qkv-panel-scale';
const KEYS = 64;
const ROWS = 64;
const WIDTHS = [4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** The page's own generator, which says what q and k are; nothing else of the page is used here. */
const { normals, hashText } = await (async () => {
  const file = new URL('../../web/src/engine/random.ts', import.meta.url).pathname;
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'esm',
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
})();

const sum = (values) => values.reduce((a, b) => a + b, 0);
const mean = (values) => sum(values) / values.length;

function entropy(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b));
  const powers = scores.map((s) => Math.exp(s - most));
  const total = sum(powers);
  return sum(powers.map((e) => (e > 0 ? -(e / total) * Math.log(e / total) : 0)));
}

/** q.k of a sample in float64, row by row, and the largest sum of |q_c k_c| of any of them. */
function products(width, sample) {
  const fill = normals(hashText(`width ${width}`, sample));
  let size = 0;
  const rows = Array.from({ length: ROWS }, () => {
    const [q, k] = [new Float32Array(width), new Float32Array(KEYS * width)];
    fill(q);
    fill(k);
    return Array.from({ length: KEYS }, (_, j) => {
      let dot = 0;
      let sizes = 0;
      for (let c = 0; c < width; c++) {
        const product = q[c] * k[j * width + c];
        dot += product;
        sizes += Math.abs(product);
      }
      size = Math.max(size, sizes);
      return dot;
    });
  });
  return { rows, size };
}

const varianceOf = (values) => mean(values.map((v) => v * v)) - mean(values) ** 2;

test('the generator draws from N(0, 1)', () => {
  const count = 200_000;
  const draws = new Float32Array(count);
  normals(hashText('a test', 5))(draws);
  const moment = (power) => mean(Array.from(draws, (x) => x ** power));
  // Standard errors of the means of x, x^2, x^3 and x^4 are sqrt(1, 2, 15, 96 / count).
  const within = (value, wanted, variance) =>
    assert.ok(Math.abs(value - wanted) <= 5 * Math.sqrt(variance / count), `${value}: ${wanted}`);
  within(moment(1), 0, 1);
  within(moment(2), 1, 2);
  within(moment(3), 0, 15);
  within(moment(4), 3, 96);
  // By Kolmogorov and Smirnov: chance exceeds 2.2 / sqrt(count) once in ten thousand.
  const sorted = draws.sort();
  const density = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  let [below, at, most] = [0, -9, 0];
  for (let x = -9; x <= 9; x += 0.001) {
    below += (density(x) + 4 * density(x + 0.0005) + density(x + 0.001)) / 6000;
    while (at + 9 < count && sorted[at + 9] <= x + 0.001) at++;
    most = Math.max(most, Math.abs((at + 9) / count - below));
  }
  assert.ok(most <= 2.2 / Math.sqrt(count), `farthest from the distribution: ${most}`);
  const again = new Float32Array(10);
  normals(hashText('a test', 5))(again);
  const other = new Float32Array(10);
  normals(hashText('a test', 6))(other);
  assert.notDeepEqual(again, other);
});

/** How far a variance measured on independent rows that share a query may be from d: one standard deviation. */
const varianceError = (d) => Math.sqrt((2 * d + (2 * (d * d + 2 * d)) / KEYS) / ROWS);

pageTest(
  'scores and entropies equal the formulas in float64, and obey chance',
  {},
  async (page) => {
    await visit(page, 'scale');
    for (const sample of [1, 2]) {
      await set(page, { sample });
      const { widths: study } = (await snapshot(page)).studies;
      assert.deepEqual(
        study.results.map(({ width }) => width),
        WIDTHS,
      );
      const scaledEntropies = [];
      let worstEntropy = 0;
      for (const { width, plain, scaled } of study.results) {
        const { rows, size } = products(width, sample);
        const root = Math.sqrt(width);
        // The bound of a sum of d products in float32, whatever its order, as a share of sqrt(d).
        assert.ok(study.error.scores < ((width + 2) * U * size) / root || width < 1024);
        for (const [spread, factor] of [
          [plain, 1],
          [scaled, Math.fround(1 / root)],
        ]) {
          const all = rows.flat().map((s) => s * factor);
          const entropies = rows.map((row) => entropy(row.map((s) => s * factor)));
          const off = Math.abs(spread.entropy - mean(entropies));
          worstEntropy = Math.max(worstEntropy, off);
          assert.ok(off <= 2e-5, `entropy of ${width}: ${off}`);
          const exact = varianceOf(all);
          assert.ok(Math.abs(spread.variance / exact - 1) < 1e-5, `variance of ${width}`);
          const deviation = factor === 1 ? root : 1;
          const counts = new Array(32).fill(0);
          for (const score of all) {
            const bin = Math.floor((score / deviation + 4) * 4);
            if (bin >= 0 && bin < 32) counts[bin]++;
          }
          const moved = sum(counts.map((n, i) => Math.abs(n - spread.counts[i])));
          assert.ok(moved <= 4, `a score on an edge may fall to either side: ${moved}`);
          const error = Math.sqrt(
            sum(entropies.map((h) => (h - mean(entropies)) ** 2)) / (ROWS - 1) / ROWS,
          );
          assert.ok(Math.abs(spread.entropyError / error - 1) < 1e-3);
        }
        const sure = 5 * varianceError(width);
        assert.ok(Math.abs(plain.variance - width) <= sure, `Var(q.k) = ${plain.variance}`);
        assert.ok(Math.abs(scaled.variance - 1) <= sure / width, `${scaled.variance}`);
        assert.ok(sure < width, 'a bound that could be exceeded');
        scaledEntropies.push(scaled.entropy);
      }
      assert.ok(study.error.entropy > 0 && study.error.entropy < 5e-5);
      assert.ok(worstEntropy <= study.error.entropy, 'the mean is no worse than the worst row');
      const entropies = study.results.map(({ plain }) => plain.entropy);
      assert.ok(
        entropies.every((h, i) => i === 0 || h < entropies[i - 1]),
        'wider is sharper',
      );
      assert.ok(Math.max(...scaledEntropies) - Math.min(...scaledEntropies) < 0.15);
    }
  },
);

/** E[H] over rows of 64 scores, by another generator and the library's own logarithm. */
function expectedEntropy(width, scale, rows) {
  const next = generator(width);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const found = Array.from({ length: rows }, () => {
    // Given q, the scores are independent and normal with variance |q|^2.
    const length = Math.sqrt(sum(Array.from({ length: width }, () => normal() ** 2)));
    return entropy(Array.from({ length: KEYS }, () => normal() * length * scale));
  });
  const centre = mean(found);
  const variance = sum(found.map((h) => (h - centre) ** 2)) / (rows - 1);
  return { centre, variance };
}

pageTest('mean entropies are those that chance leads to', {}, async (page) => {
  await visit(page, 'scale');
  const { results } = (await snapshot(page)).studies.widths;
  const trials = 20_000;
  for (const { width, plain, scaled } of results.filter((each) => each.width <= 64)) {
    for (const [spread, scale] of [
      [plain, 1],
      [scaled, 1 / Math.sqrt(width)],
    ]) {
      const { centre, variance } = expectedEntropy(width, scale, trials);
      const sure = 5 * Math.sqrt(variance / ROWS + variance / trials);
      assert.ok(
        Math.abs(spread.entropy - centre) <= sure,
        `${width}: ${spread.entropy}, ${centre}`,
      );
    }
    // What is shown as the law is close to the truth, and the page says by how much it is not.
    const { centre } = expectedEntropy(width, 1 / Math.sqrt(width), trials);
    assert.ok(Math.abs(Math.log(64) - 0.5 - centre) < 0.07, `${centre}`);
  }
});

const numberOf = async (page, name) =>
  readNumber(await page.textContent(`${PANEL} [data-number=${name}]`));

const labels = (page, figure) =>
  page.locator(`${PANEL} [data-figure=${figure}] text.plot-label`).allTextContents();

pageTest('the numbers and drawings are of the width that is chosen', {}, async (page) => {
  await visit(page, 'scale');
  const { results } = (await snapshot(page)).studies.widths;
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

pageTest('the curves stand where the axes say', {}, async (page) => {
  await visit(page, 'scale');
  const { results } = (await snapshot(page)).studies.widths;
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

pageTest('slider, box and button; the link brings the same numbers to anyone', {}, async (page) => {
  await visit(page, 'scale');
  const slider = page.locator('#width');
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.equal((await snapshot(page)).state.width, 128);
  const { results } = (await snapshot(page)).studies.widths;
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
  assert.notDeepEqual(second.studies.widths.results, results);
  assert.match(await page.textContent(`${PANEL} [data-said]`), /^d = 4: variance/);
  await page.waitForFunction(() => location.hash.includes('draw=2'));
  const fragment = await page.evaluate(() => location.hash);
  assert.equal(fragment, '#v=1&lang=en&d=4&div=1&draw=2');
  const other = await support.openPage(site(), { fragment: `?embed=scale${fragment}` });
  try {
    await visit(other.page, 'scale');
    await nextFrame(other.page);
    const there = await snapshot(other.page);
    assert.deepEqual(there.studies.widths.results, second.studies.widths.results);
    assert.ok(await other.page.isChecked('#divided'));
    assert.ok(!(await other.page.isVisible('#tau')), 'it needs no sentence');
    await other.page.click('#scale .menu summary');
    assert.deepEqual(other.problems, []);
  } finally {
    await other.close();
  }
});

pageTest('a width in a link is a power of two within the limits', {}, async (page) => {
  const widths = await page.evaluate(() =>
    ['5', '6', '100', '0', '-3', '1e9', 'x'].map(
      (d) => window.__qkv.parseFragment(`#v=1&d=${d}`, 'en').width,
    ),
  );
  assert.deepEqual(widths, [4, 8, 128, 4, 4, 1024, 64]);
});

pageTest(
  'what is no longer asked for is dropped, and nothing is drawn out of sight',
  {},
  async (page) => {
    await visit(page, 'scale');
    const seen = await page.evaluate(async () => {
      const complete = new Set();
      window.__qkv.set({ sample: 3 });
      window.__qkv.set({ sample: 4 });
      while (!complete.has(4)) {
        await new Promise(requestAnimationFrame);
        const { widths } = window.__qkv.snapshot().studies;
        if (widths.complete) complete.add(widths.sample);
      }
      return [...complete];
    });
    assert.ok(!seen.includes(3), `${seen}`);
    await visit(page, 'use');
    await set(page, { sample: 5 });
    await page.waitForTimeout(300);
    assert.equal((await snapshot(page)).studies.widths.sample, 4);
  },
);
