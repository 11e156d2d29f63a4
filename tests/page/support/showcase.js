// The pictures of the READMEs, of the page as a reader has it: a map, a model that has learned, and a trained one.
import { nextFrame, openPage, settle, set, visit } from './page.js';

/** A window in which every panel is whole. */
const WINDOW = { width: 1200, height: 3000, colorScheme: 'light' };
/** Around what a picture shows, in pixels. */
const MARGIN = 12;

/** The page's whole width from the first of these elements to the last, or less if that is higher. */
async function band(page, first, last, highest = Infinity) {
  await page.mouse.move(0, 0);
  const [top, bottom] = await page.evaluate(
    ([one, other]) => [
      document.querySelector(one).getBoundingClientRect().top,
      document.querySelector(other).getBoundingClientRect().bottom,
    ],
    [first, last],
  );
  const height = Math.min(bottom - top + 2 * MARGIN, highest);
  const clip = { x: 0, y: Math.max(0, top - MARGIN), width: WINDOW.width, height };
  return page.screenshot({ clip, animations: 'disabled', caret: 'hide' });
}

/** The sentence, its tokens, and the map of a head. */
async function map(page) {
  await visit(page, 'map');
  await page.evaluate(() => scrollTo(0, 0));
  await settle(page);
  return band(page, 'section.instruments', '#map', 1080);
}

/** Induction, learned: curves, and the map of every head. */
async function learned(page) {
  await visit(page, 'learn');
  await set(page, { learnSpeed: 'full' });
  await page.click('qkv-panel-learn [data-do=play]');
  await page.waitForFunction(() => {
    const { playing, current } = document.querySelector('qkv-panel-learn').training;
    return !playing && current?.latest?.step === current?.step;
  });
  await nextFrame(page);
  return band(page, '.learn-live', '.learn-live');
}

/** A model of the page's language: what it expects after a text, and what it writes. */
async function trained(page, name) {
  await visit(page, 'model');
  await page.click(`[data-model=${name}] .load`);
  await page.waitForSelector('.model-near li');
  await page.click('.model-examples button');
  await settle(page);
  await set(page, { modelSlow: false });
  const start = await page.textContent('.model-card .write');
  await page.click('.model-card .write');
  await page.waitForFunction((text) => {
    const [button, written] = ['.write', '.written'].map((name) =>
      document.querySelector(`.model-card ${name}`),
    );
    return written.textContent !== '' && button.textContent === text;
  }, start);
  return band(page, 'qkv-model-tokens .model-tokens', '.model-bars');
}

/** The pictures by the names of their files. */
export async function showcase(site) {
  const pictures = {};
  for (const [locale, suffix, name] of [
    ['en-US', '', 'austen'],
    ['zh-CN', '.zh-CN', 'tang'],
  ]) {
    const { page, close } = await openPage(site, { ...WINDOW, locale });
    try {
      await settle(page);
      pictures[`page${suffix}.png`] = await map(page);
      pictures[`learn${suffix}.png`] = await learned(page);
      pictures[`model${suffix}.png`] = await trained(page, name);
    } finally {
      await close();
    }
  }
  return pictures;
}
