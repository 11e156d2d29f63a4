// @run full, or after changes in web/src/features/learn web/src/ui
// Watch it learn, in Chromium: what the panel trains is what it shows, and the reader's hands do what they say.
import assert from 'node:assert/strict';
import * as support from './support/page.js';

const { set, visit } = support;
const { pageTest } = support.useSite();

const PANEL = 'qkv-panel-learn';
/** A run that is done in a moment. */
const QUICK = { learnTask: 'reverse', learnWidth: 16, learnHeads: 2, learnSpeed: 'full' };

const press = (page, what) => page.click(`${PANEL} [data-do=${what}]`);
const text = (page, selector) => page.textContent(`${PANEL} ${selector}`);

/** Waits until a run rests after so many steps, and returns what the page knows of it. */
const rested = (page, steps) =>
  page.waitForFunction(
    ([panel, least]) => {
      const { playing, current } = document.querySelector(panel).training;
      return !playing && current?.step >= least && current.latest?.step === current.step;
    },
    [PANEL, steps],
  );

pageTest('learn: nothing is started before a press, and one step is one step', {}, async (page) => {
  const workers = [];
  page.on('worker', (worker) => workers.push(worker.url()));
  await visit(page, 'learn');
  await set(page, QUICK);
  assert.equal(workers.length, 0);
  await press(page, 'step');
  await rested(page, 1);
  assert.equal(workers.length, 1);
  await support.nextFrame(page);
  assert.match(await text(page, '.learn-status'), /^Step 1 ·/);
  // The maps are the weights, pixel by pixel.
  const seen = await page.evaluate(async (panel) => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { latest } = document.querySelector(panel).training.current;
    const [canvas] = document.querySelectorAll(`${panel} .learn-maps canvas`);
    const { data } = canvas.getContext('2d').getImageData(0, 0, 16, 16);
    const [scores] = document.querySelectorAll(`${panel} .learn-maps .learn-scores`);
    return {
      ...{ side: canvas.width, blue: Array.from({ length: 256 }, (_, i) => data[4 * i]) },
      ...{ weights: [...latest.weights.slice(0, 256)], score: latest.scores[0] },
      told: scores.textContent,
    };
  }, PANEL);
  assert.equal(seen.side, 16);
  // Red rises with the weight on this scale, but for its first steps.
  const order = seen.weights.map((weight, i) => [weight, seen.blue[i]]).sort(([a], [b]) => a - b);
  assert.ok(order.at(-1)[1] >= order[128][1]);
  assert.match(seen.told, new RegExp(seen.score.toFixed(2)));
});

pageTest(
  'learn: it learns, the scrubber goes back, and a second run stands beside it',
  {},
  async (page) => {
    await visit(page, 'learn');
    await set(page, { ...QUICK, learnWidth: 32 });
    await page.check(`${PANEL} input[value=yes]`);
    await press(page, 'play');
    await rested(page, 400);
    await support.nextFrame(page);
    assert.match(
      await text(page, '.learn-guess'),
      /You said: yes\. In this run it reached 95% at step/,
    );
    assert.match(
      await text(page, '.learn-births'),
      /mirrored position: layer 1, head \d passes 0\.5 at step/,
    );
    assert.match(await text(page, '.learn-right'), /^16 of 16/);
    const first = await page.evaluate((panel) => {
      const { current } = document.querySelector(panel).training;
      return {
        loss: [...current.loss.slice(0, 5)],
        latest: [...current.latest.weights.slice(0, 64)],
      };
    }, PANEL);

    await page.focus(`${PANEL} [name=scrub]`);
    await page.keyboard.press('Home');
    await page.waitForFunction(
      (panel) => document.querySelector(panel).training.current.shown?.step === 0,
      PANEL,
    );
    await page.waitForFunction(
      (panel) =>
        document.querySelector(`${panel} .learn-looked span`).textContent.startsWith('Step 0.'),
      PANEL,
    );
    await press(page, 'live');
    await support.nextFrame(page);
    await support.nextFrame(page);
    assert.match(await text(page, '.learn-looked'), /^Latest step, 400/);

    await set(page, { learnCompare: true, learnPositions: 'none' });
    await support.nextFrame(page);
    assert.match(await text(page, '.learn-note'), /previous settings/);
    await press(page, 'step');
    await rested(page, 1);
    await page.waitForSelector(`${PANEL} .learn-maps-a canvas`);
    await support.nextFrame(page);
    const difference = await text(page, '.learn-difference');
    assert.match(difference, /Positions: none\. A \(dashed\): Positions: learned\. .* same rows/);
    const [a, b] = await page.evaluate((panel) => {
      const { kept, current } = document.querySelector(panel).training;
      return [[...kept[0].loss.slice(0, 5)], [...current.loss]];
    }, PANEL);
    assert.deepEqual(a, first.loss);
    assert.notEqual(a[0], b[0]);
  },
);

pageTest('learn: a map is enlarged with its tokens, by keyboard too', {}, async (page) => {
  await visit(page, 'learn');
  await set(page, QUICK);
  await press(page, 'step');
  await rested(page, 1);
  await page.focus(`${PANEL} .learn-map >> nth=1`);
  await page.keyboard.press('Enter');
  await page.waitForSelector(`${PANEL} qkv-matrix .matrix-plot`, { state: 'visible' });
  await page.focus(`${PANEL} .matrix-plot`);
  await page.keyboard.press('Control+Home');
  await support.nextFrame(page);
  const told = await text(page, '.learn-cell');
  const weight = await page.evaluate(
    (panel) => document.querySelector(panel).training.current.latest.weights[256],
    PANEL,
  );
  assert.match(told, /^query 0 “\w”, key 0 “\w”: weight/);
  const written = support.readNumber(told.split('weight ')[1]);
  assert.ok(Math.abs(written - weight) <= 5e-4 * weight, `${told}, ${weight}`);
});

pageTest(
  'learn: an experiment is a link, and the estimator finds 1 / sigma^2',
  {},
  async (page) => {
    await visit(page, 'learn');
    await page.click(`${PANEL} [data-experiment=overfit]`);
    await page.waitForSelector(`${PANEL} [data-do=heads]`, { state: 'visible' });
    assert.equal(await page.inputValue(`${PANEL} [name=samples]`), '64');
    const link = await page.getAttribute(`${PANEL} [data-experiment=noise]`, 'href');
    assert.match(link, /^#v=1.*p=learn.*le=noise/);
    await page.click(`${PANEL} [data-experiment=noise]`);
    await press(page, 'noise');
    await page.waitForFunction(
      (panel) => document.querySelector(panel).training.noise?.done,
      PANEL,
    );
    await page.waitForFunction(
      (panel) =>
        document.querySelector(`${panel} .learn-noise-errors`).textContent.includes('600 steps'),
      PANEL,
    );
    const bars = await page.evaluate(
      (panel) =>
        [...document.querySelectorAll(`${panel} .plot-bar`)].map((bar) =>
          Number(bar.getAttribute('height')),
        ),
      PANEL,
    );
    const sum = 16 + 4 + 1 + 0.25;
    const total = bars.reduce((x, y) => x + y);
    [16, 4, 1, 0.25].forEach((precision, i) => {
      assert.ok(Math.abs(bars[i] / total - precision / sum) < 0.03, `${bars}`);
    });
  },
);
