// The microscope in Chromium: with the model that the page has loaded, by pointer and by keyboard, in a link, and by the rules of access.
import assert from 'node:assert/strict';
import { takeAll, tooWide, violations } from './support/panel.js';
import * as support from './support/page.js';

const { addressed, settle, visit } = support;
const { pageTest } = support.useSite();

const CELL = '#microscope [data-map=z] [data-cell="0.3"]';
const numbersIn = (text) =>
  text
    .replaceAll('−', '-')
    .match(/-?\d+(?:\.\d+)?/g)
    .map(Number);

/** The panel with the model of names and its maps. */
async function mapped(page) {
  await visit(page, 'microscope');
  await page.click('#microscope [data-do=load]');
  await page.waitForSelector('.microscope-bars li');
  await page.click('#microscope .maps');
  await page.waitForSelector('#microscope [data-map=z]');
  await settle(page);
}

pageTest(
  'microscope: one model is there for both panels, and a head that is cut changes what follows',
  { fragment: '#v=1&lang=en' },
  async (page) => {
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await mapped(page);
    assert.equal(asked.filter((url) => url.endsWith('.safetensors')).length, 1);
    const before = await page.textContent('.microscope-next tbody tr:first-child td:nth-child(2)');
    assert.ok(numbersIn(before)[0] > 90, before);

    // By keyboard: one stop for a map, arrows lead on, what has the focus is told, and Enter cuts the head.
    await page.focus('#microscope [data-map=z] [tabindex="0"]');
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
    assert.ok(await page.locator(CELL).evaluate((cell) => cell === document.activeElement));
    const told = await page.textContent('.microscope-maps > div:last-child .microscope-told');
    assert.match(told, /^Head 0\.3: with its clean output at all tokens, \d+% of the difference/);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`${CELL}[aria-pressed=true]`);
    await page.waitForFunction(() => {
      const cells = document.querySelectorAll('.microscope-next tbody tr:first-child .value');
      return cells[0].textContent !== cells[1].textContent;
    });
    const after = await page.textContent('.microscope-next tbody tr:first-child td:nth-child(3)');
    assert.ok(numbersIn(after)[0] < 50, after);

    // The bars are what the package gives, and their sum is said.
    const values = await page.locator('.microscope-bars .value').allTextContents();
    const sum = values.flatMap(numbersIn).reduce((all, value) => all + value, 0);
    const [total] = numbersIn(await page.textContent('.microscope-total'));
    assert.ok(Math.abs(sum - total) < 0.005 * (values.length + 1), `${sum} and ${total}`);

    // An edge: the last token reads "Mary" no more.
    await page.selectOption('#microscope-edgeHead', '0.1');
    await page.selectOption('#microscope-edgeKey', '3');
    await page.click('#microscope [data-do=edge]');
    await page.waitForSelector('.microscope-cuts li:nth-child(2)');
    await addressed(page, 'mich=0.3&mice=0.1.14.3');
    await page.click('#microscope [data-do=back]');
    await page.waitForFunction(() => !document.querySelector('.microscope-cuts li'));
    await addressed(page);
    assert.ok(!(await page.evaluate(() => location.hash)).includes('mic'));

    assert.deepEqual(await violations(page, '#microscope'), []);
    const { data } = await takeAll(page, 'microscope');
    assert.equal(data.microscope.maps.maps.length, 3);
  },
);

pageTest(
  'microscope: other prompts are read at once, and what does not fit is said',
  { fragment: '#v=1&lang=en' },
  async (page) => {
    await mapped(page);
    await page.fill(
      '#microscope-corrupt',
      'When Mary and John went to the shop, Mary gave a book to John',
    );
    await page.waitForSelector('.microscope-problem:not([hidden])');
    assert.match(
      await page.textContent('.microscope-problem'),
      /has 15 tokens and the corrupt one 16/,
    );
    assert.ok(await page.isDisabled('#microscope .maps'));
    assert.equal(
      await page.locator('#microscope [data-map]').count(),
      0,
      'maps of before are gone',
    );
    await page.fill(
      '#microscope-corrupt',
      'When Mary and John went to the shop, Emma gave a book to',
    );
    await page.waitForSelector('.microscope-problem', { state: 'hidden' });
    assert.ok(await page.isEnabled('#microscope .maps'));
  },
);

pageTest(
  'microscope: on a phone, in Chinese, nothing is wider than the screen',
  { fragment: '#v=1&lang=zh', locale: 'zh-CN', width: 390, height: 844 },
  async (page) => {
    await mapped(page);
    assert.deepEqual(await tooWide(page, 'microscope'), []);
    assert.deepEqual(await violations(page, '#microscope'), []);
    const cells = await page.locator('#microscope [data-map=z] [data-cell]').all();
    for (const cell of cells) {
      const { width, height } = await cell.boundingBox();
      assert.ok(width >= 24 && height >= 24, `${width} × ${height}`);
    }
  },
);
