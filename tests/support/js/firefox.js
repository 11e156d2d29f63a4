// Firefox, driven over WebDriver BiDi.
import puppeteer from 'puppeteer-core';
import { PATIENCE } from './patience.js';
import { firefox as executablePath } from './programs.js';

/** Starts the browser, with preferences of its own, for puppeteer's way to drive it. */
const start = (preferences = {}) =>
  puppeteer.launch({
    browser: 'firefox',
    executablePath,
    extraPrefsFirefox: preferences,
    timeout: PATIENCE.wait,
  });

/** Starts the browser behind what reportOf() uses of playwright's Chromium. */
export async function launch() {
  // Strict policies forbid the icon that it asks for on its own, which counts as the page's violation.
  const browser = await start({ 'browser.chrome.site_icons': false });
  const [, version] = /\/([\d.]+)/.exec(await browser.version());
  return {
    version: () => version,
    newContext: () => browser.createBrowserContext(),
    close: () => browser.close(),
  };
}
