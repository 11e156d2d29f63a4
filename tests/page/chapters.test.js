// @run full, or after changes in web/src/chapters web/src/app web/src/features/pictures
// The chapters in Chromium: the table of contents, laboratories that open, links and Back, and where the settings are.
import assert from 'node:assert/strict';
import { addressed, arrive, nextFrame, settle, snapshot, useSite } from './support/page.js';
import { tooWide, violations } from './support/panel.js';

const { pageTest } = useSite();

/** Until the table of contents shows that this is where the reader is. */
const becomesCurrent = (page, place) =>
  page.waitForFunction((href) => {
    return document.querySelector('.contents [aria-current]')?.getAttribute('href') === href;
  }, place);
const isOpen = (page, id) => page.getAttribute(`[data-opens=${id}]`, 'aria-expanded');
const topOf = (page, selector) =>
  page.evaluate((name) => document.querySelector(name).getBoundingClientRect().top, selector);
/** Until the place has come to rest near the upper edge. */
const reached = (page, place) =>
  page.waitForFunction((id) => {
    const { top } = document.getElementById(id).getBoundingClientRect();
    return top >= 0 && top < 120;
  }, place);

pageTest(
  'chapters: the contents lead to each, and Back to the one before',
  { fresh: true },
  async (page) => {
    const links = page.locator('.contents a');
    const places = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    assert.ok(places.length >= 14);
    for (const place of ['#chapter-masks', '#chapter-cost', '#chapter-scores']) {
      await page.click(`.contents [href="${place}"]`);
      await reached(page, place.slice(1));
      await becomesCurrent(page, place);
      await page.waitForFunction((id) => location.hash.includes(`p=${id}`), place.slice(1));
    }
    await page.goBack();
    await reached(page, 'chapter-cost');
    await page.goBack();
    await reached(page, 'chapter-masks');
    await becomesCurrent(page, '#chapter-masks');
  },
);

pageTest(
  'chapters: a laboratory opens, is in the link, and Tab goes into it',
  { fresh: true },
  async (page) => {
    assert.ok(!(await page.isVisible('#masks')));
    await page.focus('[data-opens=masks]');
    await page.keyboard.press('Enter');
    assert.equal(await isOpen(page, 'masks'), 'true');
    await addressed(page, '&o=masks');
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => document.activeElement?.closest('#masks') !== null);
    const { state } = await snapshot(page);
    assert.deepEqual(state.opened, ['masks']);
    await page.click('[data-opens=masks]');
    assert.ok(!(await page.isVisible('#masks')));
  },
);

for (const [fragment, panel] of [
  ['#masks', 'masks'],
  ['#v=1&p=temperature&tau=0.5', 'temperature'],
  ['#v=1&lang=zh&p=model', 'model'],
  ['#learn', 'learn'],
]) {
  pageTest(
    `chapters: ${fragment} shows the panel with its first control`,
    { fragment },
    async (page) => {
      await arrive(page, panel);
      const control = `#${panel} [data-panel] :is(button, input, select)`;
      assert.ok((await topOf(page, `#${panel} h2`)) >= 0);
      assert.ok((await topOf(page, control)) < 900, 'on a screen of 900 px');
    },
  );
}

pageTest(
  'chapters: the settings are one line where they act, and nowhere else',
  { fresh: true },
  async (page) => {
    const held = () =>
      page.evaluate(() => {
        const box = document.querySelector('.held > qkv-instruments')?.getBoundingClientRect();
        return box ? [box.top, box.height] : null;
      });
    assert.equal(await held(), null);
    for (const [place, act] of [
      ['masks', true],
      ['learning', false],
      ['scores', true],
      ['cost', false],
    ]) {
      await page.evaluate((id) => document.getElementById(`chapter-${id}`).scrollIntoView(), place);
      for (let i = 0; i < 3; i++) await nextFrame(page);
      const box = await held();
      assert.equal(box !== null, act, place);
      if (box) assert.ok(box[0] === 0 && box[1] <= 64, `${place}: ${box}`);
    }
  },
);

pageTest('chapters: a phone has the contents behind a button', { width: 390 }, async (page) => {
  const list = page.locator('.contents ol');
  assert.ok(!(await list.isVisible()));
  await page.click('.contents-button');
  assert.ok(await list.isVisible());
  assert.deepEqual(await violations(page, '.contents'), []);
  await page.click('.contents [href="#chapter-row"]');
  await reached(page, 'chapter-row');
  assert.ok(!(await list.isVisible()));
  assert.deepEqual(await tooWide(page, 'chapter-row'), []);
});

pageTest('chapters: a sentence without an animal gets others to choose from', {}, async (page) => {
  assert.ok(!(await page.isVisible('.knows')));
  await page.fill('#text', 'I love you');
  await settle(page);
  await page.click('.knows .button >> nth=1');
  await settle(page);
  assert.ok(!(await page.isVisible('.knows')));
  const { frame } = await snapshot(page);
  assert.ok(Math.max(...frame.query.weights) > 0.5, 'this one it knows');
});
