// @run full, or after changes in web/src/features/pair web/src/ui
// Where one score comes from, in Chromium: its numbers add up as they stand there, and hands choose the key.
import assert from 'node:assert/strict';
import { addressed, readNumber, set, settle, snapshot, useSite, visit } from './support/page.js';

const { pageTest } = useSite();

/** The numbers of a table, row by row, without the number of the component. */
const tableOf = async (page, name) => {
  const rows = await page.$$eval(`.components[data-of=${name}] tbody tr`, (list) =>
    list.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
  );
  return rows.map((row) => row.map(readNumber));
};

const stepsOf = async (page) => {
  const texts = await page.locator('.pair-steps dd').allTextContents();
  return texts.map(readNumber);
};

const sum = (list) => list.reduce((a, b) => a + b, 0);

/** Everything on the panel, added up by the reader of it. */
async function addsUp(page, width) {
  await settle(page);
  const { frame, query } = await snapshot(page);
  const { key } = frame.pair;
  const score = await tableOf(page, 'score');
  assert.equal(score.length, width);
  const [dot, scaled, tempered, weight] = await stepsOf(page);
  assert.ok(Math.abs(sum(score.map(([, , product]) => product)) - dot) < width * 1e-4);
  assert.ok(Math.abs(dot / Math.sqrt(width) - scaled) < 1e-4);
  assert.ok(Math.abs(scaled - frame.query.scores[key]) < 6e-5, 'the score of the map');
  assert.ok(Math.abs(scaled / frame.request.layer.temperature - tempered) < 1e-3);
  assert.ok(Math.abs(weight - frame.query.weights[key]) < 6e-5, 'the weight of the map');
  const value = await tableOf(page, 'value');
  value.forEach(([v, part, output], c) => {
    assert.ok(Math.abs(v * weight - part) < 1e-3, `component ${c}`);
    assert.ok(Math.abs(output - frame.pair.output[c]) < 6e-5);
  });
  assert.equal(await page.locator('.pair-list :checked').inputValue(), String(key));
  return { key, query };
}

pageTest(
  'pair: sixteen products add up to the score of “it → cat”, and its weight',
  {},
  async (page) => {
    await visit(page, 'pair');
    const { key } = await addsUp(page, 16);
    assert.equal(key, 1);
    const [dot, score] = await stepsOf(page);
    assert.deepEqual([Math.round(dot), score.toFixed(2)], [69, '17.17']);
    assert.match(await page.textContent('.pair-score h3'), /it → cat/);
    assert.match(await page.textContent('.pair-check'), /score is off by \d.*×10⁻/);
    const bar = await page
      .locator('[data-of=score] .bar i')
      .first()
      .evaluate((i) => i.style.width);
    assert.ok(parseFloat(bar) > 85, `the first product is the longest: ${bar}`);
  },
);

pageTest(
  'pair: another key by click and by arrow keys, another head, query and source',
  {},
  async (page) => {
    await visit(page, 'pair');
    await page.locator('.pair-row').nth(4).click();
    assert.equal((await addsUp(page, 16)).key, 4);
    await page.keyboard.press('ArrowDown');
    assert.equal((await addsUp(page, 16)).key, 5);
    assert.equal(await page.evaluate(() => document.activeElement.value), '5');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal((await addsUp(page, 16)).key, 3);
    await addressed(page, 'pk=3');
    await page.click('.pair-strongest');
    assert.equal((await addsUp(page, 16)).key, 1);
    await set(page, { source: 'random', head: 2, mask: 'none', temperature: 0.5, query: 2 });
    const { query } = await addsUp(page, 16);
    assert.equal(query, 2);
    assert.match(await page.textContent('.pair-made'), /random weights, seed 7/);
    await set(page, { source: 'yours', query: 0 });
    await addsUp(page, 2);
    await set(page, { source: 'constructed', length: 100, query: 90, temperature: 1 });
    await addsUp(page, 16);
    assert.match(await page.textContent('.pair-rest'), /\d+ more/);
    await set(page, { text: '', length: null, query: null });
    assert.ok(await page.isVisible('.pair-waiting'));
    assert.ok(!(await page.isVisible('.pair-parts')));
  },
);
