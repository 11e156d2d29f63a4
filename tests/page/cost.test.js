// @run full, or after changes in web/src/features/cost web/src/ui
// What it costs, in Chromium: the numbers of a shape as written, and the benchmark by its button.
import assert from 'node:assert/strict';
import * as support from './support/page.js';
import { PATIENCE, until } from '../support/js/patience.js';

const { settle, snapshot, visit } = support;
const { pageTest } = support.useSite();

const PANEL = 'qkv-panel-cost';
const UNITS = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
const number = (text) => {
  const [, value, prefix] = text.match(/^([\d.]+) ([kMGTPE]?)/);
  return Number(value) * (UNITS[prefix] ?? 1);
};
const SECONDS = { µs: 1e-6, ms: 1e-3, s: 1 };
const seconds = (time) => parseFloat(time) * SECONDS[time.split(' ')[1]];
const near = (got, wanted, what) =>
  assert.ok(Math.abs(got - wanted) <= 6e-3 * Math.abs(wanted), `${what}: ${got}, ${wanted}`);

pageTest('cost: the tables have the counts of the shape that is chosen', {}, async (page) => {
  await visit(page, 'cost');
  const read = async (what) => number(await page.textContent(`${PANEL} [data-${what}]`));
  // Llama 3 8B by hand: 2 T times its matrices, and 4 P h d_k L for the scores and the sum over V.
  await page.selectOption('#cost-preset', 'llama8');
  await settle(page);
  const [T, d, L] = [8192, 4096, 32];
  const pairs = (T * (T + 1)) / 2;
  const projections = 2 * T * L * (2 * d * d + 2 * d * 1024);
  const feedForward = 2 * T * L * 3 * d * 14336;
  const logits = 2 * T * d * 128256;
  near(await read('pass=projections'), projections, 'projections');
  near(await read('pass=scores'), 2 * pairs * d * L, 'scores');
  near(await read('pass=feedForward'), feedForward, 'feed-forward');
  near(await read('pass=total'), projections + 4 * pairs * d * L + feedForward + logits, 'total');
  near(await read('bytes=cache'), 2 * L * T * 1024 * 2, 'cache');
  near(await read('bytes=square'), 32 * T * T * 2, 'T x T');
  near(await read('bytes=weights'), 2 * 8_029_995_008, 'weights');
  await page.fill('#cost-numKvHeads', '5');
  await page.keyboard.press('Tab');
  await settle(page);
  const { costShape } = (await snapshot(page)).state;
  assert.equal(costShape.numKvHeads, 4, 'heads share evenly');
  assert.equal(await page.inputValue('#cost-preset'), 'own');
  near(await read('bytes=cache'), 2 * L * T * 512 * 2, 'cache of 4 heads');
});

pageTest(
  'cost: nothing is measured before the button; then there are rows, and Stop ends it',
  {},
  async (page) => {
    const workers = page.workers().length;
    await visit(page, 'cost');
    assert.equal(page.workers().length, workers);
    assert.ok(!(await page.isVisible(`${PANEL} .bench-result`)));
    await page.focus(`${PANEL} .bench-run`);
    await page.keyboard.press('Enter');
    const filled = (least) => {
      const all = [...document.querySelectorAll('.bench-table tbody tr')];
      const cells = all.map((row) => [...row.querySelectorAll('th, .bench-cell > span')]);
      const done = cells.filter((row) => row.length === 9);
      return done.length >= least && done.map((row) => row.map((cell) => cell.textContent));
    };
    const found = await page.waitForFunction(filled, 2, { timeout: PATIENCE.wait });
    const rows = await found.jsonValue();
    assert.deepEqual([rows[0][0], rows[1][0]], ['64', '128']);
    for (const [tokens, time, flops, bytes] of rows) {
      near(parseFloat(flops) * 1e9 * seconds(time), 4 * tokens ** 2 * 64, 'GFLOP/s times seconds');
      const more = number(bytes) - 4 * tokens ** 2;
      assert.ok(more > -1e3 && more < 600 * tokens, `${bytes} for T = ${tokens}`);
    }
    assert.ok(await page.evaluate(() => document.activeElement.matches('.bench-stop')));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement.matches('.bench-run'));
    await until(
      () => page.workers().length === workers,
      () => 'its worker has ended',
    );
  },
);
