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
 * Of the four looks an everyday run has two: both widths and themes, in English, whose words are longer, and turned to
 * Chinese. screenshots.test.js has the other two.
 */
const asked = full ? looks : looks.slice(0, 2);
if (!full) leaveToFullRun(`${looks.length - asked.length} looks of the panels`);

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

async function expectPanel(page, id, locale) {
  await inBothStates(page, id, async () => {
    assert.deepEqual(await tooWide(page, id), []);
    expectLanguage(await wordsOf(page, id), locale);
  });
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
      for (const id of support.panels) {
        await step(`${id}: width and language`, () => expectPanel(page, id, look.locale));
      }
      if (look.width < 600) await step('page: reads at 320 px', () => expectNarrow(page));
      else await step('page: the language turns', () => expectTurned(page, look.locale));
      await step('page: axe finds nothing on the whole of it', () => expectPage(page, look));
      assert.deepEqual(problems, []);
    } finally {
      await close();
    }
  });
}

async function expectNarrow(page) {
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width: 320, height });
  for (const id of support.panels) {
    await inBothStates(page, id, async () => assert.deepEqual(await tooWide(page, id), [], id));
  }
  await page.setViewportSize({ width, height });
}

async function expectTurned(page, locale) {
  const other = locale === 'en-US' ? 'zh-CN' : 'en-US';
  await page.click('.language');
  for (const id of support.panels) {
    await inBothStates(page, id, async () => {
      assert.deepEqual(await tooWide(page, id), []);
      expectLanguage(await wordsOf(page, id), other);
    });
  }
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
