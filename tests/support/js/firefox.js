// Firefox, driven over WebDriver BiDi, behind what reportOf() uses of playwright's Chromium.
import puppeteer from 'puppeteer-core';
import { PATIENCE } from './patience.js';

/** Starts the browser: FIREFOX in the environment, or the system's. */
export async function launch() {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    // Strict policies forbid the icon that it asks for on its own, which counts as the page's violation.
    extraPrefsFirefox: { 'browser.chrome.site_icons': false },
    timeout: PATIENCE.wait,
  });
  const [, version] = /\/([\d.]+)/.exec(await browser.version());
  return {
    version: () => version,
    newContext: () => browser.createBrowserContext(),
    close: () => browser.close(),
  };
}
