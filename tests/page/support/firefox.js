// The page in Firefox, driven over WebDriver BiDi: what the tests use of playwright's page, on a page of
// puppeteer's.
import puppeteer from 'puppeteer-core';
import { PATIENCE } from '../../support/js/patience.js';
import { hasSeenIntroduction } from './page.js';

export const launch = (preferences = {}) =>
  puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX || '/usr/bin/firefox-esr',
    extraPrefsFirefox: preferences,
    timeout: PATIENCE.wait,
  });

/** The same calls with the same arguments; `tab` is puppeteer's own page, for everything else. */
const likePlaywright = (tab) => ({
  tab,
  evaluate: (work, argument) => tab.evaluate(work, argument),
  waitForFunction: (work, argument) =>
    tab.waitForFunction(work, { timeout: PATIENCE.wait }, argument),
  click: (selector) => tab.locator(selector).click(),
  fill: (selector, text) => tab.locator(selector).fill(text),
  press: async (selector, key) => {
    await tab.focus(selector);
    await tab.keyboard.press(key);
  },
  keyboard: tab.keyboard,
  textContent: (selector) => tab.$eval(selector, (element) => element.textContent),
  reload: () => tab.reload(),
  screenshot: (options) => tab.screenshot(options),
  setViewportSize: (size) => tab.setViewport(size),
});

/** A fresh visitor. `problems` gathers what must not happen on a page that works. */
export async function openPage(browser, address, { width = 1280, height = 900, ...more } = {}) {
  const { origin = new URL(address).origin, prepare } = more;
  const context = await browser.createBrowserContext();
  const tab = await context.newPage();
  tab.setDefaultTimeout(PATIENCE.wait);
  await tab.setViewport({ width, height });
  const problems = [];
  tab.on('console', (message) => {
    if (['error', 'warning', 'warn'].includes(message.type())) problems.push(message.text());
  });
  tab.on('pageerror', (error) => problems.push(String(error)));
  tab.on('request', (request) => {
    // Firefox sets mathematics in a font of its own, which is a data: URL.
    const own = request.url().startsWith('data:font/');
    if (!own && !request.url().startsWith(origin)) problems.push(`request to ${request.url()}`);
  });
  await tab.evaluateOnNewDocument(hasSeenIntroduction);
  await prepare?.(tab);
  await tab.goto(address);
  return { page: likePlaywright(tab), problems, close: () => context.close() };
}
