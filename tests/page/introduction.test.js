// The first minute, in Chromium: one sentence at a time, until it is done; skipped, remembered, brought back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { full, leaveToFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import { arrive, openPage, settle, snapshot, useSite } from './support/page.js';
import { poorText, violations } from './support/panel.js';
import { textsOf } from './support/texts.js';

const { site } = useSite();

/** A visitor who has not been here. */
function firstVisit(name, options, body) {
  test(`introduction: ${name}`, { timeout: PATIENCE.test }, async () => {
    const { page, problems, close } = await openPage(site(), { introduction: true, ...options });
    try {
      await settle(page);
      await body(page);
      assert.deepEqual(problems, []);
    } finally {
      await close();
    }
  });
}

const shown = (page) => page.isVisible('.first-minute');
const said = (page) => page.textContent('qkv-first-minute [role=status]');
const focused = (page) => page.evaluate(() => document.activeElement?.localName);
const step = (page, name) =>
  page.waitForFunction((wanted) => document.documentElement.dataset.introduction === wanted, name);
const plain = (text) => text.replace(/\[\w\|([^\]]+)\]/g, '$1');

firstVisit('a word, the temperature, and doors, by keyboard alone', {}, async (page) => {
  const english = textsOf('en');
  await step(page, 'tap');
  assert.ok((await said(page)).startsWith(plain(english['intro.tap'])));
  assert.match(await said(page), /Escape/);
  assert.equal(await focused(page), 'body', 'focus stays where it is');
  await page.focus('.chip :checked');
  await page.keyboard.press('ArrowLeft');
  await step(page, 'slide');
  assert.equal(await said(page), plain(english['intro.slide']));
  assert.equal(await focused(page), 'input');
  await page.press('#tau', 'End');
  await step(page, 'doors');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tau');
  assert.deepEqual(await violations(page, 'qkv-sentence'), []);
  assert.deepEqual(await poorText(page), []);
  const doors = await page.locator('.door').allTextContents();
  assert.equal(doors[0], english['intro.compute']);
  assert.equal(doors.at(-1), english['intro.use']);
  await page.focus('.door');
  await page.keyboard.press('Enter');
  await arrive(page, 'pair');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'pair');
  const { state } = await snapshot(page);
  assert.ok(state.temperature > 1 && state.query === 6, 'what was done stays');
  assert.ok(!(await shown(page)));
  await page.goto(site().url);
  await settle(page);
  assert.ok(!(await shown(page)), 'it is remembered');
});

firstVisit('is skipped by Esc and by its button, and comes back when asked', {}, async (page) => {
  await page.click('#map .menu summary');
  await page.keyboard.press('Escape');
  assert.ok(await shown(page), 'Esc closed the menu');
  await page.focus('#text');
  await page.keyboard.press('Escape');
  assert.ok(!(await shown(page)));
  assert.equal(await said(page), '');
  await page.reload();
  await settle(page);
  assert.ok(!(await shown(page)));
  const name = await page.getAttribute('.introduction', 'aria-label');
  assert.equal(name, textsOf('en')['bar.introduction']);
  await page.click('.introduction');
  await step(page, 'tap');
  await page.click('.first-minute-skip');
  assert.ok(!(await shown(page)));
});

firstVisit('what is done before it is asked for is not asked for', {}, async (page) => {
  await page.press('#tau', 'End');
  await settle(page);
  await step(page, 'tap');
  await page.click('.language');
  await settle(page);
  assert.match(await page.textContent('.first-minute-text'), /\p{Script=Han}{4}/u);
  await page.locator('.chip').first().click();
  await step(page, 'doors');
});

test('introduction: not on a link, on one panel alone, on paper, or without words', async () => {
  const { page, close } = await openPage(site(), { introduction: true, fragment: 'favicon.svg' });
  for (const fragment of ['#v=1&tau=2', '?embed=map']) {
    await page.goto(site().url + fragment);
    await settle(page);
    assert.ok(!(await shown(page)), fragment);
  }
  await page.goto(site().url);
  await settle(page);
  assert.ok(await shown(page));
  await page.emulateMedia({ media: 'print' });
  assert.ok(!(await shown(page)));
  assert.ok(await page.isVisible('#chips-caption'));
  await page.emulateMedia({ media: 'screen' });
  await page.fill('#text', '');
  await settle(page);
  assert.ok(!(await shown(page)));
  await close();
});

/** The introduction comes and goes without anything moving. */
function watchShifts() {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) {
      if (!hadRecentInput) window.shifts.push(value);
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

if (!full) leaveToFullRun('the introduction at 1280 px and on two more screens');
for (const width of full ? [390, 1280] : [390]) {
  const prepare = (page) => page.addInitScript(watchShifts);
  firstVisit(
    `moves nothing and stands on the screen, ${width} px`,
    { width, prepare },
    async (page) => {
      await step(page, 'tap');
      const places = () =>
        page.$$eval('h1, .chip, #chips-caption, #map h2', (all) =>
          all.map((element) => JSON.stringify(element.getBoundingClientRect())),
        );
      const before = await places();
      const box = await page.locator('.first-minute').boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= width && box.y + box.height <= 900);
      const chips = await page.locator('.chips').boundingBox();
      assert.ok(box.y >= chips.y + chips.height - 4, 'the words are not covered');
      assert.ok(box.height < 130, `a note of ${box.height} px`);
      await page.keyboard.press('Escape');
      assert.deepEqual(await places(), before);
      if (width > 600) return; // there the toolbar of the map pushes its picture down, with or without a note
      const shifts = await page.evaluate(() => window.shifts);
      assert.ok(shifts.reduce((a, b) => a + b, 0) < 0.01, `${shifts}`);
    },
  );
}

const usual = [
  [390, 700, 'en-US'],
  [320, 560, 'zh-CN'],
];
const others = [
  [390, 844, 'zh-CN'],
  [640, 400, 'en-US'],
];
for (const [width, height, locale] of full ? [...usual, ...others] : usual) {
  firstVisit(
    `covers no words and says nothing twice, ${width} x ${height}, ${locale}`,
    { width, height, locale },
    async (page) => {
      await step(page, 'tap');
      const look = () =>
        page.evaluate(() => {
          const note = document.querySelector('.first-minute').getBoundingClientRect();
          const covered = [...document.querySelectorAll('#text, .chip, h1')].filter((element) => {
            const box = element.getBoundingClientRect();
            return box.bottom > note.top + 4 && box.top < note.bottom - 4;
          });
          return covered.map(({ textContent, id }) => id || textContent);
        });
      assert.deepEqual(await look(), []);
      const caption = page.locator('#chips-caption');
      assert.ok(!(await caption.isVisible()), 'the note says it');
      await page.keyboard.press('Escape');
      assert.ok(await caption.isVisible());
    },
  );
}
