// Writes a picture of every panel in both languages and themes, on a phone and on a laptop, into
// build/screenshots: for people to look at before they change how the page looks.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../js/support/files.js';
import { openPage, set, settle, startSite, visit } from './page-support.js';

const folder = join(root, 'build/screenshots');
const PANELS = ['map', 'row', 'masks', 'positions', 'checks', 'use'];

async function photograph(site, { locale, colorScheme, width, height }) {
  const { page, close } = await openPage(site, { locale, colorScheme, width, height });
  const name = (what) => join(folder, `${what}-${locale.slice(0, 2)}-${colorScheme}-${width}.png`);
  try {
    await settle(page);
    await page.screenshot({ path: name('first') });
    await page.setViewportSize({ width, height: 2400 }); // so that every panel is whole
    for (const id of PANELS) {
      await visit(page, id);
      await page.waitForTimeout(100); // canvases show what the worker painted a moment later
      await page.locator(`#${id}`).screenshot({ path: name(id) });
    }
    await set(page, { look: 'arcs' });
    await visit(page, 'map');
    await page.locator('#map').screenshot({ path: name('arcs') });
    await set(page, {
      look: 'map',
      rowScale: 400,
      rowMax: false,
      source: 'random',
      show: 'scores',
    });
    await page.locator('#map').screenshot({ path: name('scores') });
    await visit(page, 'row');
    await page.locator('#row').screenshot({ path: name('broken') });
    if (width < 600) {
      await page.setViewportSize({ width, height });
      await page.evaluate(() => scrollTo(0, 0));
      await page.click('.unfold');
      await page.screenshot({ path: name('unfolded') });
    }
  } finally {
    await close();
  }
}

const site = await startSite();
mkdirSync(folder, { recursive: true });
try {
  for (const locale of ['en-US', 'zh-CN']) {
    for (const colorScheme of ['light', 'dark']) {
      for (const [width, height] of [
        [390, 844],
        [1280, 900],
      ]) {
        await photograph(site, { locale, colorScheme, width, height });
      }
    }
  }
  console.log(`written to ${folder}`);
} finally {
  await site.close();
}
