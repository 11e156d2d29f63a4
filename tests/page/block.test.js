// @run full, or after changes in web/src/features/block web/src/ui
// The transformer block in Chromium: its taps as the core gave them, its curves by a press, and another sentence read.
import assert from 'node:assert/strict';
import * as support from './support/page.js';
import { PATIENCE } from '../support/js/patience.js';

const { readNumber, set, settle, snapshot, visit } = support;
const { pageTest } = support.useSite();

const PANEL = 'qkv-panel-block';
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const near = (got, wanted, what) =>
  assert.ok(Math.abs(got - wanted) <= 6e-3 * Math.abs(wanted), `${what}: ${got}, ${wanted}`);

pageTest(
  'block: every tap tells its norms, and a click or an arrow key shows its matrix',
  {},
  async (page) => {
    await visit(page, 'block');
    for (const patch of [{}, { blockNorm: 'post', source: 'random', mask: 'none' }]) {
      await set(page, patch);
      const { frame, state } = await snapshot(page);
      const { block } = frame;
      assert.equal(block.place, state.blockNorm);
      for (const [id, { norms }] of Object.entries(block.norms)) {
        if (id === 'weights') continue;
        const read = async (what) =>
          readNumber(await page.textContent(`${PANEL} [data-${what}=${id}]`));
        near(await read('mean'), mean(norms), `mean of ${id}`);
        near(await read('token'), norms[frame.request.view.query], `token of ${id}`);
      }
      const shown = await page.locator(`${PANEL} .block-heads tbody tr`).count();
      assert.equal(shown, frame.numHeads);
    }
    // Post-norm: the heads read X itself, as the map does.
    await set(page, { blockTap: 'weights', look: 'arcs' });
    const { frame } = await snapshot(page);
    assert.deepEqual(frame.block.shown.data, frame.matrix);
    await page.check(`${PANEL} [name=block-tap][value=hidden]`, { force: true });
    await page.keyboard.press('ArrowDown');
    await settle(page);
    const after = await snapshot(page);
    assert.equal(after.state.blockTap, 'forward');
    assert.equal(after.frame.block.shown.id, 'forward');
    const told = await page.textContent(`${PANEL} qkv-block-map .described`);
    const { query } = after.frame.request.view;
    near(
      readNumber(told.split(': ')[1]),
      after.frame.block.shown.data[query * 64],
      'the told number',
    );
    await set(page, { source: 'yours' });
    assert.ok(await page.isVisible(`${PANEL} .placeholder`));
    assert.ok(!(await page.isVisible(`${PANEL} .card:not(.any-text)`)));
  },
);

pageTest(
  'block: no worker runs before the press; the curves are those of the settings',
  {},
  async (page) => {
    const workers = page.workers().length;
    await visit(page, 'block');
    assert.equal(page.workers().length, workers);
    await set(page, { blockDepth: 3 });
    await page.click(`${PANEL} .block-run`);
    const done = () =>
      page.waitForFunction(
        (panel) => {
          const part = document.querySelector(`${panel} qkv-block-depth`);
          return (
            part.result &&
            part.querySelector('.block-status').textContent === '' &&
            part.result.request.depth
          );
        },
        PANEL,
        { timeout: PATIENCE.wait },
      );
    assert.equal(await (await done()).jsonValue(), 3);
    assert.equal(page.workers().length, workers + 1);
    const result = await page.evaluate(
      (panel) => document.querySelector(`${panel} qkv-block-depth`).result,
      PANEL,
    );
    const { pre, post } = result.curves;
    assert.equal(pre.stream.middle.length, 4);
    const { frame } = await snapshot(page);
    near(
      pre.stream.middle[0],
      mean(frame.block.norms.input.norms),
      'the stream begins with the sentence',
    );
    near(post.stream.middle[3], 8, 'after post-norm a row has length sqrt(64)');
    near(pre.gradient.middle[3], 1, 'the gradient at the output');
    const words = await page.textContent(`${PANEL} .block-found`);
    assert.ok(words.includes(pre.stream.middle[3].toPrecision(3)), words);
    for (const figure of ['stream', 'gradient']) {
      const circles = page.locator(`${PANEL} [data-figure=${figure}] circle`);
      assert.equal(await circles.count(), 8);
    }
  },
);

pageTest('block: the sentence reads another one, whose words find each other', {}, async (page) => {
  await visit(page, 'block');
  await set(page, { head: 2 });
  await page.fill('#block-context', 'A mat and a cat');
  await settle(page);
  const { frame, state } = await snapshot(page);
  assert.equal(state.blockContext, 'A mat and a cat');
  const { rows, cols, weights } = frame.block.cross;
  assert.deepEqual(cols, ['A', 'mat', 'and', 'a', 'cat']);
  for (const word of ['cat', 'mat']) {
    const weight = weights[rows.indexOf(word) * cols.length + cols.indexOf(word)];
    assert.ok(weight > 0.9, `${word}: ${weight}`);
  }
  for (let row = 0; row < rows.length; row++) {
    const sum = weights.slice(row * cols.length, (row + 1) * cols.length).reduce((a, b) => a + b);
    assert.ok(Math.abs(sum - 1) < 1e-5);
  }
});

pageTest(
  'block: a model that writes dates is trained by a press, and reads what is typed',
  {},
  async (page) => {
    await visit(page, 'block');
    await page.click(`${PANEL} .dates-train`);
    await page.waitForSelector(`${PANEL} .dates-written`, { timeout: PATIENCE.wait });
    const [, right] = /writes (\d+) without/.exec(await page.textContent(`${PANEL} .dates-status`));
    assert.ok(Number(right) >= 190, `${right} of 200`);
    await page.fill('#block-date', '24 December 2011');
    await page.waitForFunction(() =>
      /2011-12-24/.test(document.querySelector('.dates-written')?.textContent),
    );
    assert.match(await page.textContent(`${PANEL} .dates-verdict`), /^This is right/);
    const map = page.locator(`${PANEL} .dates-maps qkv-matrix canvas.matrix-cells`).first();
    const painted = await map.evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(data.filter((_, i) => i % 4 === 0)).size;
    });
    assert.ok(painted > 3, 'weights have colours');
  },
);
