// The page in Chromium, opened once: what is under the pointer and what is said of it, chips, the order of heads,
// names, links, motion, languages. Quick enough to be asked about any fault that only a browser shows.
import assert from 'node:assert/strict';
import * as support from './support/page.js';

const { pointAt, readNumber, set, settle, snapshot, tensors, useSite, weightOf } = support;
const { pageTest } = useSite();

/** Pointing at a cell tells that cell and its numbers, to eyes and to a screen reader. */
async function checkPointing(page) {
  const all = await tensors(page);
  const { tokens } = all.request.layer;
  const count = tokens.length;
  const grid = page.locator('qkv-picture .matrix-plot');
  const attribute = (name) => grid.getAttribute(name);
  assert.match(await attribute('aria-label'), new RegExp(`${count} queries by ${count} keys`));
  assert.deepEqual(
    [await attribute('aria-rowcount'), await attribute('aria-colcount')],
    [String(count), String(count)],
  );
  for (const cell of [
    { row: 5, col: 1 },
    { row: 9, col: 2 },
  ]) {
    const at = await pointAt(page, cell);
    // Near its lower right corner, too, it is the same cell.
    const { width } = await page.locator('qkv-picture .cross-cell').boundingBox();
    await page.mouse.move(at.x + 0.4 * width, at.y + 0.4 * width);
    await settle(page);
    const exact = weightOf(all, 0, cell.row, cell.col);
    const weight = readNumber(await page.textContent('qkv-readout .weight'));
    assert.ok(Math.abs(weight / exact - 1) < 1e-5, `${weight}, not ${exact}`);
    const [query, key] = [tokens[cell.row], tokens[cell.col]];
    assert.equal(await page.textContent('qkv-readout .query'), query);
    assert.equal(await page.textContent('qkv-readout .key'), key);
    const said = await grid.locator('[role=gridcell]').textContent();
    assert.ok(said.startsWith(`query ${cell.row} “${query}”, key ${cell.col} “${key}”`), said);
  }
}

/** Every chip is filled from below by the weight that the query gives it. */
async function checkChips(page) {
  const all = await tensors(page);
  const { query } = await snapshot(page);
  const chips = await page.locator('.chip').evaluateAll((list) =>
    list.map((chip) => ({
      fill: 1 - Number(chip.querySelector('rect').getAttribute('y')),
      share: chip.querySelector('.share').textContent,
      name: chip.querySelector('input').ariaLabel,
    })),
  );
  assert.ok(chips.length > 5);
  chips.forEach(({ fill, share, name }, col) => {
    const exact = weightOf(all, 0, query, col);
    assert.ok(Math.abs(fill - exact) < 1e-3, `chip ${col} is filled to ${fill}, not ${exact}`);
    if (col > query) assert.equal(share, '–');
    else assert.ok(Math.abs(Number(share) - exact) <= 5.1e-4);
    assert.ok(name.startsWith(`${col} “`), name);
  });
}

/** Heads stand in the order of the number that they are sorted by, the smallest first. */
async function checkHeads(page) {
  for (const order of ['entropy', 'distance', 'first']) {
    await set(page, { order });
    const { report } = await snapshot(page);
    const shown = await page
      .locator('.head:not([hidden]) input')
      .evaluateAll((list) => list.map(({ value }) => Number(value)));
    const values = shown.map((head) => report.heads[head][order]);
    assert.equal(values.length, 4);
    assert.deepEqual(
      values,
      [...values].sort((a, b) => a - b),
      order,
    );
  }
  await set(page, { order: 'number' });
}

/** Every control says what it is, also where nothing is written in it. */
async function checkNames(page) {
  const nameless = await page.locator('button, input, select, textarea').evaluateAll((list) =>
    list
      .filter((control) => {
        const labels = [...(control.labels ?? [])].map((label) => label.textContent);
        const titles = (control.getAttribute('aria-labelledby') ?? '')
          .split(' ')
          .map((id) => document.getElementById(id)?.textContent);
        const said = [control.ariaLabel, control.textContent, ...labels, ...titles];
        return !said.some((text) => text?.trim());
      })
      .map((control) => control.outerHTML),
  );
  assert.deepEqual(nameless, []);
}

/** The panel's own link is what its menu copies. */
async function checkLink(page) {
  await page.click('#map .menu summary');
  await page.click('#map [data-do=link]');
  await page.waitForFunction(() => document.querySelector('#map .menu [role=status]').textContent);
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /#v=1&lang=en&p=map&x=[^&]*&src=random/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#map .menu').evaluate((menu) => menu.open), false);
}

/** Who asked for less motion gets none. Nothing moves today, so a transition is made for every element. */
async function checkMotion(page) {
  const moving = () =>
    page.evaluate(() => {
      const all = [...document.querySelectorAll('body, body *')];
      for (const element of all) element.style.transition = 'opacity 1s';
      const times = all.map((element) => getComputedStyle(element).transitionDuration);
      for (const element of all) element.style.transition = '';
      return times.filter((time) => time !== '0s').length;
    });
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  assert.ok((await moving()) > 100);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  assert.equal(await moving(), 0);
}

/** The language turns words, title and example; a text of one's own stays. */
async function checkLanguages(page) {
  const told = async () => [
    await page.evaluate(() => document.documentElement.lang),
    await page.title(),
    (await snapshot(page)).state.text,
  ];
  const english = await told();
  assert.deepEqual([english[0], english[2]], ['en', support.examples.en]);
  await page.click('.language');
  await settle(page);
  const chinese = await told();
  assert.deepEqual([chinese[0], chinese[2]], ['zh-CN', support.examples.zh]);
  assert.match(chinese[1], /\p{Script=Han}/u);
  await set(page, { text: 'my own words' });
  await page.click('.language');
  await settle(page);
  assert.deepEqual(await told(), ['en', english[1], 'my own words']);
}

pageTest('page: pointing, chips, heads, names, links, motion and languages', {}, async (page) => {
  await set(page, { source: 'random' });
  await checkPointing(page);
  await page.mouse.move(0, 0);
  await settle(page);
  await checkChips(page);
  await checkHeads(page);
  await checkNames(page);
  await checkLink(page);
  await checkMotion(page);
  await checkLanguages(page);
});
