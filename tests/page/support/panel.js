// What every panel must pass: axe, reflow, both languages, standing alone, and being taken away.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arrive, nextFrame, settle, visit } from './page.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Of the eight combinations of language, theme and width the four in which every two of them meet. */
export const looks = [
  { locale: 'en-US', colorScheme: 'light', width: 390 },
  { locale: 'en-US', colorScheme: 'dark', width: 1280 },
  { locale: 'zh-CN', colorScheme: 'light', width: 1280 },
  { locale: 'zh-CN', colorScheme: 'dark', width: 390 },
];
export const nameOf = ({ locale, colorScheme, width }) => `${locale}, ${colorScheme}, ${width} px`;

/** What axe finds wrong with the page, or with one part of it. */
export async function violations(page, part) {
  await page.evaluate(axe); // not a script element: the page's policy would refuse it
  const asked = { tags: RULES, part };
  return page.evaluate(async ({ tags, part }) => {
    const found = await window.axe.run(part ?? document, {
      runOnly: { type: 'tag', values: tags },
    });
    return found.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).join(' | ')}`,
    );
  }, asked);
}

/** The file that a panel gives in a format. */
export async function take(page, id, format) {
  const menu = page.locator(`#${id} .menu`);
  if (!(await menu.evaluate((element) => element.open))) await menu.locator('summary').click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    menu.locator(`[data-do=${format}]`).click(),
  ]);
  assert.equal(download.suggestedFilename(), `qkv-${id}.${format}`);
  return readFileSync(await download.path());
}

export const csvOf = (file) =>
  file
    .toString()
    .replace(/^\uFEFF/, '')
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));

/** A panel in every format: a picture wide enough to print, sound XML, a table, and its own link. */
export async function takeAll(page, id) {
  const png = await take(page, id, 'png');
  assert.equal(png.toString('latin1', 1, 4), 'PNG');
  assert.ok(png.readUInt32BE(16) > 300, 'wide enough to print');
  const svg = (await take(page, id, 'svg')).toString();
  const wrong = await page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    return parsed.querySelector('parsererror')?.textContent ?? '';
  }, svg);
  assert.equal(wrong, '');
  assert.match(svg, /<metadata>http[^<]*#v=1/);
  const table = csvOf(await take(page, id, 'csv'));
  assert.ok(table.length > 3);
  const data = JSON.parse((await take(page, id, 'json')).toString());
  assert.match(data.link, new RegExp(`#v=1&lang=en&p=${id}`));
  return { svg, table, data };
}

/** What sticks out of the window sideways, but for what scrolls by itself. */
const tooWide = (page, id) =>
  page.evaluate((name) => {
    const wide = [...document.querySelectorAll(`#${name} *`)].filter((element) => {
      const { right, width } = element.getBoundingClientRect();
      return width > 1 && right > innerWidth + 1 && !element.closest('.formula, .visually-hidden');
    });
    return wide.map((element) => element.outerHTML.slice(0, 120));
  }, id);

/** Registers the tests that all panels share; `more` puts the panel into its other state. */
export function panelTests(pageTest, id, more) {
  for (const look of looks) {
    pageTest(`${id}: axe finds nothing: ${nameOf(look)}`, look, async (page) => {
      await visit(page, id);
      assert.deepEqual(await violations(page, `#${id}`), []);
      await more(page);
      assert.deepEqual(await violations(page, `#${id}`), []);
      assert.deepEqual(await tooWide(page, id), []);
    });
  }

  pageTest(`${id}: reads at 320 px`, { width: 320 }, async (page) => {
    await visit(page, id);
    await more(page);
    assert.deepEqual(await tooWide(page, id), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  });

  pageTest(`${id}: speaks both languages`, {}, async (page) => {
    await visit(page, id);
    await more(page);
    const texts = () => page.evaluate((name) => document.getElementById(name).innerText, id);
    const english = await texts();
    assert.doesNotMatch(english, /\p{Script=Han}|\{\w+\}|undefined|NaN(?!,)/u);
    await page.click('.language'); // at the top of the page: what is off the screen rests
    await settle(page);
    await more(page);
    await nextFrame(page);
    const chinese = await texts();
    assert.match(chinese, /\p{Script=Han}{4}/u);
    assert.doesNotMatch(chinese, /\{\w+\}|undefined/);
    // Names, formulas and numbers stay as they are; no English sentence does.
    assert.doesNotMatch(chinese, /\b(the|and|of|is)\b/);
  });

  pageTest(`${id}: stands alone`, { fragment: `?embed=${id}#v=1` }, async (page) => {
    await visit(page, id);
    await more(page);
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll('main > section[id], .top, footer')]
        .filter((element) => element.checkVisibility())
        .map((element) => element.id),
    );
    assert.deepEqual(shown, [id]);
  });

  pageTest(`${id}: a link leads to it`, { fragment: `#${id}` }, (page) => arrive(page, id));
}
