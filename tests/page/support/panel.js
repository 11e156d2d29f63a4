// What is asked of panels: by axe, of their width and language, and as files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { contrast } from './oracle.js';

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

/** Text that has too little contrast with what is behind it; on chips with their filling, too, which axe does not see. */
export async function poorText(page) {
  const samples = await page.evaluate(() => {
    const rgb = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
    const behind = (element) => {
      for (let e = element; e; e = e.parentElement) {
        const colour = rgb(getComputedStyle(e).backgroundColor);
        if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3);
      }
      return [255, 255, 255];
    };
    const fill = rgb(getComputedStyle(document.querySelector('.fill')).fill);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.textContent.trim() || !element.checkVisibility()) continue;
      if (element.closest('.visually-hidden, .skip, option')) continue;
      const text = rgb(getComputedStyle(element).color);
      found.push({ name: element.className || element.localName, text, back: behind(element) });
      if (element.closest('.chip')) found.push({ name: 'on the fill', text, back: fill });
    }
    return found;
  });
  assert.ok(samples.length > 100);
  return samples
    .map(({ name, text, back }) => ({ name, ratio: contrast(text.slice(0, 3), back) }))
    .filter(({ ratio }) => ratio < 4.5);
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

/** What sticks out of the window sideways, but for what scrolls by itself and can be reached by the keyboard, and marks outside of their drawing. */
export const tooWide = (page, id) =>
  page.evaluate((name) => {
    const panel = document.getElementById(name);
    const isReached = (element) =>
      element.matches('pre, .formula, [tabindex="0"]') ||
      element.querySelector('a, button, input, [tabindex="0"]');
    const scrolls = (element) => {
      for (let around = element; around !== panel; around = around.parentElement) {
        const { overflowX } = getComputedStyle(around);
        if (/auto|scroll/.test(overflowX) && isReached(around)) return true;
      }
      return element.closest('.visually-hidden') !== null;
    };
    // WebKit gives what is folded a place, too.
    const isFolded = (element) => element.closest('details:not([open]) > :not(summary)') !== null;
    const wide = [...panel.querySelectorAll('*')].filter((element) => {
      const { right, width } = element.getBoundingClientRect();
      return width > 1 && right > innerWidth + 1 && !scrolls(element) && !isFolded(element);
    });
    const outside = [...panel.querySelectorAll('svg.plot')].flatMap((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('text, circle, rect')].filter((mark) => {
        const { left, right } = mark.getBoundingClientRect();
        return left < frame.left - 1 || right > frame.right + 1;
      });
    });
    const { scrollWidth } = document.documentElement;
    const widest = [...document.body.querySelectorAll('*')].filter(
      (element) => Math.abs(element.getBoundingClientRect().right - scrollWidth) < 1,
    );
    const whole = scrollWidth > innerWidth ? [['the page scrolls by', widest[0]]] : [];
    return [...wide, ...outside]
      .map((element) => ['', element])
      .concat(whole)
      .map(([what, element]) => `${what} ${element?.outerHTML.slice(0, 120)}`);
  }, id);

/** What a panel shows, without the code that it quotes and what it announced a moment ago. */
export const wordsOf = (page, id) =>
  page.evaluate((name) => {
    const section = document.getElementById(name);
    const rest = [...section.querySelectorAll('pre, code, [role=status]')].map(
      (element) => element.innerText,
    );
    return rest.reduce((text, part) => text.replace(part, ''), section.innerText);
  }, id);

/** Names, formulas and numbers are alike in both languages; no sentence of the other one is left. */
export function expectLanguage(words, locale) {
  assert.doesNotMatch(words, /\{\w+\}|undefined/);
  if (locale === 'en-US') {
    assert.doesNotMatch(words, /\p{Script=Han}|NaN(?!,)/u);
    assert.match(words, /\b(the|and|of|is|in)\b/);
  } else {
    assert.match(words, /\p{Script=Han}{4}/u);
    assert.doesNotMatch(words, /\b(the|and|of|is)\b/);
  }
}
