// What every panel must pass, one page for each look: width, language, axe; standing alone; and a link to it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { full, inFullRun, leaveToFullRun } from '../support/js/full.js';
import { PATIENCE } from '../support/js/patience.js';
import { expectLanguage, looks, nameOf, poorText, tooWide } from './support/panel.js';
import { violations, wordsOf } from './support/panel.js';
import * as support from './support/page.js';
import { otherStates } from './support/states.js';

const { arrive, openPage, set, settle, snapshot, visit } = support;
const { site, pageTest } = support.useSite();

/**
 * Of the four looks an everyday run has one: English at 320 px, where its longer words have the least room. A full run
 * has all four, also at 390 px, before and after the language turns.
 */
const asked = full ? looks : looks.slice(0, 1);
if (!full) leaveToFullRun('three looks of the panels, 390 px, and 1280 px');

/** Does `work` with a panel on the screen, and once more with it in its other state. */
async function inBothStates(page, id, work) {
  await visit(page, id);
  await work();
  const other = otherStates[id];
  if (!other) return;
  const { state } = await snapshot(page);
  await set(page, other);
  await visit(page, id);
  await work();
  await set(page, Object.fromEntries(Object.keys(other).map((name) => [name, state[name]])));
}

async function expectPanels(page, locale) {
  const wide = {};
  for (const id of support.panels) {
    await inBothStates(page, id, async () => {
      const found = await tooWide(page, id);
      if (found.length > 0) wide[id] = found;
      expectLanguage(await wordsOf(page, id), locale);
    });
  }
  assert.deepEqual(wide, {});
}

/**
 * The whole page, which axe looks at once for all panels, with each in its other state and what unfolds unfolded; a full run
 * also as they are.
 */
async function expectPage(page, { width }) {
  if (full) assert.deepEqual(await violations(page), []);
  assert.deepEqual(await poorText(page), []);
  if (width < 600) await page.click('.unfold');
  await set(page, Object.assign({}, ...Object.values(otherStates)));
  for (const id of support.panels) await visit(page, id);
  await page.click('#row .menu summary');
  assert.deepEqual(await violations(page), []);
}

for (const look of asked) {
  const name = nameOf(look);
  test(`panels: ${name}`, { timeout: PATIENCE.test }, async (t) => {
    const { page, problems, close } = await openPage(site(), look);
    const step = (title, work) => t.test(`${title}: ${name}`, { timeout: PATIENCE.test }, work);
    try {
      await settle(page);
      if (full) await step('page: width and language', () => expectPanels(page, look.locale));
      if (look.width < 600) await step('page: reads at 320 px', () => expectNarrow(page, look));
      else await step('page: the language turns', () => expectTurned(page, look.locale));
      await step('page: axe finds nothing on the whole of it', () => expectPage(page, look));
      assert.deepEqual(problems, []);
    } finally {
      await close();
    }
  });
}

async function expectNarrow(page, { locale }) {
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width: 320, height });
  await expectPanels(page, locale);
  await expectTextsToFit(page, 320);
  await page.setViewportSize({ width, height });
}

/** Texts and words of any length leave the map large enough, and the page does not scroll sideways. */
async function expectTextsToFit(page, width) {
  const { text: first } = (await snapshot(page)).state;
  const { en, zh } = support.examples;
  const long = 'W'.repeat(200);
  for (const text of [en, zh, long, `a ${long} b`, 'the cat '.repeat(40)]) {
    await set(page, { text });
    const scrolled = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(scrolled <= width, `${scrolled} with ${text.slice(0, 20)}`);
    const plot = await page.locator('qkv-picture .matrix-plot').boundingBox();
    const count = (await snapshot(page)).tokens.length;
    const enough = Math.min(width / 2, 72 * count); // a cell is never wider than that
    assert.ok(plot.width >= enough && plot.x + plot.width <= width, JSON.stringify(plot));
  }
  await set(page, { text: first });
}

async function expectTurned(page, locale) {
  const other = locale === 'en-US' ? 'zh-CN' : 'en-US';
  await page.click('.language');
  await expectPanels(page, other);
  await page.click('.language');
  await settle(page);
}

// One rule for all of them; temperature.test.js has a third.
for (const id of full ? support.panels : ['map', 'use']) {
  pageTest(`${id}: stands alone`, { fragment: `?embed=${id}#v=1` }, async (page) => {
    await inBothStates(page, id, async () => {
      const shown = await page.evaluate(() =>
        [...document.querySelectorAll('main > section[id], .top, footer')]
          .filter((element) => element.checkVisibility())
          .map((element) => element.id),
      );
      assert.deepEqual(shown, [id]);
    });
  });
}

// One rule for all of them, too; links.test.js and firefox.test.js follow a link each.
inFullRun('links to each panel', () => {
  pageTest('panels: a link leads to each', { fragment: '#positions' }, async (page) => {
    await arrive(page, 'positions');
    for (const id of support.panels) {
      await page.evaluate((name) => location.replace(`#v=1&p=${name}`), id);
      await arrive(page, id);
    }
  });
});
