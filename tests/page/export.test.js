// @run full, or after changes in web/src/app/export_menu.ts web/src/ui
// What can be taken away from the page, in Chromium: files, links, code to embed; and arcs.
import assert from 'node:assert/strict';
import { full, leaveToFullRun } from '../support/js/full.js';
import { exampleSaid } from './support/texts.js';
import { takeAll } from './support/panel.js';
import { takeApart } from './support/photographs.js';
import * as support from './support/page.js';

const { set, useSite, visit } = support;
const { pageTest } = useSite();

// What can be taken away of recurrence comes with a press: recurrence.test.js takes it.
const panels = support.panels.filter((name) => !['use', 'recurrence'].includes(name));
/** A table of cells, a picture of pixels, and a chart. Every run takes the files of all panels in numbers/visited.test.js. */
const everyday = ['map', 'positions', 'cost'];
if (!full) leaveToFullRun('the files of the other panels in Chromium');

pageTest('page: every panel can be taken away in every format', {}, async (page) => {
  for (const id of full ? panels : everyday) {
    await visit(page, id);
    if (id === 'extrapolation') {
      // There is something to take when its models are trained.
      await page.click('#extrapolation .run');
      await page.waitForSelector('#extrapolation .beyond');
    }
    if (id === 'microscope') await takeApart(page);
    await takeAll(page, id);
  }
});

pageTest('page: links and code to embed lead to the panel', {}, async (page) => {
  await set(page, { source: 'random', seed: 11 });
  await page.click('#map .menu summary');
  await page.click('#map [data-do=link]');
  await page.waitForFunction(() => document.querySelector('#map .menu [role=status]').textContent);
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.endsWith(`#v=1&lang=en&p=map&${exampleSaid()}&src=random&seed=11`), link);
  await page.click('#map [data-do=embed]');
  await page.waitForFunction(
    async (before) => (await navigator.clipboard.readText()) !== before,
    link,
  );
  const code = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(
    code,
    /^<iframe src="[^"]*\?embed=map#v=1&amp;lang=en&amp;x=The\+cat[^&]*&amp;src=random&amp;seed=11" title="Which token attends to which"/,
  );
  assert.match(code, / loading="lazy" allow="clipboard-write"><\/iframe>$/);
});
