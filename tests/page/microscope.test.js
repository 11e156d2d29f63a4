// @run full, or after changes in web/src/features/microscope web/src/ui
// The microscope in Chromium: with the model that the page has loaded, by pointer and by keyboard, in a link, and by the rules of access.
import assert from 'node:assert/strict';
import { takeAll, tooWide, violations } from './support/panel.js';
import { inFullRun } from '../support/js/full.js';
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
    const told = () => page.textContent('.microscope-maps > div:last-child .microscope-described');
    assert.match(
      await told(),
      /^Head 0\.3: with its clean output at all tokens, \d+% of the difference/,
    );
    // What the keyboard led to stays described when another head is scrolled under a pointer that rests.
    await page.hover('#microscope [data-map=z] [data-cell="1.1"]');
    await page.focus('#microscope [data-map=z] [data-cell="0.2"]');
    await page.keyboard.press('ArrowRight');
    await page.evaluate(async () => {
      const [one, other] = ['0.1', '1.1'].map((place) =>
        document.querySelector(`#microscope [data-map=z] [data-cell="${place}"]`),
      );
      const row = other.getBoundingClientRect().top - one.getBoundingClientRect().top;
      scrollBy({ top: -row, behavior: 'instant' });
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    assert.match(await told(), /^Head 0\.3:/);
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

inFullRun('the microscope on a phone', () => {
  pageTest(
    'microscope: on a phone, in Chinese, nothing is wider than the screen',
    { fragment: '#v=1&lang=zh', locale: 'zh-CN', width: 390, height: 844 },
    async (page) => {
      await mapped(page);
      assert.deepEqual(await tooWide(page, 'microscope'), []);
      assert.deepEqual(await violations(page, '#microscope'), []);
      for (const row of await page.locator('.pass-opens .pass-row').all()) {
        assert.ok((await row.boundingBox()).height >= 24, 'rows are as high as a finger needs');
      }
      for (const zoom of ['[data-row="0"]', '[data-row="3"]']) {
        await page.click(`.pass-opens${zoom} .pass-row`, { position: { x: 300, y: 20 } });
        await settle(page);
        assert.deepEqual(await tooWide(page, 'microscope'), [], zoom);
      }
      assert.match(await placeOf(page), /0\.3$/);
      await page.waitForSelector('.pass-inside:not([hidden])');
      assert.deepEqual(await violations(page, '#microscope'), []);
      // Of maps that are wider than the screen the end is seen, where the answer is made.
      const { x, width: wide } = await page
        .locator('[data-map=residual] [data-cell="0.14"]')
        .boundingBox();
      assert.ok(x >= 0 && x + wide <= 390, `the last token is at ${x}`);
      const cells = await page.locator('#microscope [data-map=z] [data-cell]').all();
      for (const cell of cells) {
        const { width, height } = await cell.boundingBox();
        assert.ok(width >= 24 && height >= 24, `${width} × ${height}`);
      }
    },
  );
});

/** The place in the picture of the pass, as the path says it. */
const placeOf = (page) => page.textContent('.pass-path [aria-current]');

pageTest(
  'microscope: the picture of the pass is zoomed by keys, wheel and fingers, and a link leads to the same place',
  { fragment: '#v=1&lang=en', screen: { hasTouch: true } },
  async (page) => {
    await visit(page, 'microscope');
    await page.click('#microscope [data-do=load]');
    await page.waitForSelector('.pass-picture');
    await settle(page);
    // What a reader of the screen hears of the picture has the numbers of the worker, which are tested in Node.
    const told = () => page.textContent('.pass-described');
    await page.focus('.pass-opens[data-row="0"]');
    assert.match(await told(), /^Layer 0 gives \+12\.51\./);
    await page.keyboard.press('ArrowUp');
    assert.match(await told(), /^Layer 1 gives −3\.10\./);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('+');
    await addressed(page, 'micz=0');
    assert.equal(await placeOf(page), 'layer 0');
    // The focus goes along, to the head that gives most; Enter opens it.
    const focused = () =>
      page.evaluate(
        () => document.activeElement.getAttribute('data-row') ?? document.activeElement.textContent,
      );
    assert.equal(await focused(), '3');
    await page.keyboard.press('Enter');
    await addressed(page, 'micz=0.3');
    await page.waitForSelector('.pass-inside:not([hidden])');
    assert.equal(await placeOf(page), 'head 0.3');
    assert.equal(await focused(), 'head 0.3');
    assert.match(await told(), /gives \+7\.02\. Most is read of 10 “␣John” 95\.6%/);
    assert.match(
      await page.textContent('.pass-cell'),
      /query 14 “␣to” reads key 10 “␣John” with weight 0\.956/,
    );
    assert.deepEqual(await violations(page, '#microscope'), []);
    const link = await page.evaluate(() => location.href);
    await page.keyboard.press('Escape');
    await addressed(page, 'micz=0');
    assert.equal(await focused(), '3', 'where one came from');
    await page.keyboard.press('-');
    await page.waitForFunction(() => !location.hash.includes('micz'));
    assert.deepEqual(await violations(page, '#microscope'), []);

    // By the wheel, with Ctrl alone.
    const box = await page.locator('.pass-opens[data-row="1"] .pass-row').boundingBox();
    await page.mouse.move(box.x + 40, box.y + box.height / 2);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -120);
    await addressed(page, 'micz=1');
    await page.waitForTimeout(350); // another gesture
    await page.mouse.wheel(0, 120);
    await page.waitForFunction(() => !location.hash.includes('micz'));
    await page.keyboard.up('Control');

    // By two fingers.
    await page.evaluate(() => {
      const target = document.querySelector('.pass-opens[data-row="1"]');
      const touch = (identifier, clientX) =>
        new Touch({ identifier, target, clientX, clientY: 100 });
      const send = (type, apart) =>
        target.dispatchEvent(
          new TouchEvent(type, { bubbles: true, touches: [touch(0, 100), touch(1, 100 + apart)] }),
        );
      send('touchstart', 50);
      send('touchmove', 90);
    });
    await addressed(page, 'micz=1');

    // A token by its column, and the link.
    await page.click('.pass-token[data-at="10"]');
    await addressed(page, 'micz=1&mict=10');
    assert.match(await page.getAttribute('.pass-picture', 'aria-label'), /^Layer 1 at token 10/);
    await page.goto('about:blank');
    await page.goto(link);
    await visit(page, 'microscope');
    await page.click('#microscope [data-do=load]');
    await page.waitForSelector('.pass-inside:not([hidden])');
    assert.equal(await placeOf(page), 'head 0.3');
  },
);
