// Chromium, as every test and benchmark starts it, and pages for any browser.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { PATIENCE } from './patience.js';
import { chromium as quick, chromiumWindowed } from './programs.js';

/**
 * What every window has for a reader at a screen and no test looks at: the suggestions under the address are two pages with a
 * process each, which took half of the processor time of a browser with one tab.
 */
const unseen = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'LensOverlay', 'MediaRouter'];

/** What asks servers of Google for something, and what makes https of http. */
const elsewhere = [
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable'],
];

/** What is in the way of a driver: that a page is held back after a navigation, or a profile is gone too early. */
const ofDriver = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect'],
];

/**
 * Flags under which a headless Chromium needs neither a sandbox nor a graphics card nor room in /dev/shm, and
 * talks to nobody but the servers that pages name. Of several lists of features Chromium takes the last, so this one
 * has what Playwright's has.
 */
const flags = [
  ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic'],
  ...['--no-first-run', '--disable-background-networking', '--disable-component-update'],
  ...['--disable-sync', `--disable-features=${[...unseen, ...elsewhere, ...ofDriver]}`],
];

function present(path) {
  if (existsSync(path)) return path;
  throw new Error(`there is no ${path}: on Debian, tools/bootstrap test installs Chromium`);
}

/**
 * What a driver of Chromium is told: `args` come after the flags of all, `env` is added to the environment; `windowed` asks
 * for the Chromium that has windows. For launch(), and for a test that needs another driver.
 */
export const launchOptions = ({ args = [], env = {}, windowed = false } = {}) => ({
  executablePath: present(windowed ? chromiumWindowed : quick),
  args: [...flags, ...args],
  env: { ...process.env, ...env },
  timeout: PATIENCE.wait,
});

/** Starts the browser. */
export const launch = (options) => chromium.launch(launchOptions(options));

/** The policy of a page that allows nothing but its own scripts, workers, server, and WebAssembly. */
export const strictPolicy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";

/** The headers of a page that is isolated from other origins, and of the scripts of its workers. */
export const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

const helpers = `
  const report = (value) => {
    (globalThis.qkvReports ??= []).push(value); // for drivers that do not hear the console
    console.log('report ' + JSON.stringify(value));
  };
  const attempt = async (work) => {
    try {
      return { value: await work() };
    } catch (error) {
      return { error: { name: error.name, code: error.code, message: error.message } };
    }
  };
  const bits = ({ data }) => Array.from(new Uint32Array(data.buffer, data.byteOffset, data.length));
`;

/**
 * A page for serve(), with a module script of its own beside it: the routes of both. The script says what
 * it found with `report(value)`; `attempt(work)` turns an error into something to report; `bits(array)`
 * are the bits of an NdArray.
 */
export function page(path, script, { policy, isolated = false, head = '' } = {}) {
  const headers = {
    ...(policy ? { 'content-security-policy': policy } : {}),
    ...(isolated ? isolation : {}),
  };
  const html = `<!doctype html><title>Test</title>${head}<script type="module" src="${path}.js"></script>`;
  const type = (name) => ({ 'content-type': `text/${name}; charset=utf-8`, ...headers });
  return {
    [path]: { headers: type('html'), body: html },
    [`${path}.js`]: { headers: type('javascript'), body: `${helpers}${script}` },
    '/favicon.ico': { status: 204 },
  };
}

/**
 * Opens a page, after `prepare(tab)`, and resolves to what it reports; rejects when it throws or says nothing.
 * What the browser complains about goes into `complaints`.
 */
export async function reportOf(
  browser,
  url,
  { timeout = PATIENCE.wait, complaints = [], prepare = () => undefined } = {},
) {
  const context = await browser.newContext();
  try {
    const tab = await context.newPage();
    tab.setDefaultTimeout(timeout);
    await prepare(tab);
    return await new Promise((resolve, reject) => {
      const fail = (why) => reject(new Error(`${url}: ${why}`));
      const timer = setTimeout(() => fail('no report'), timeout);
      tab.on('pageerror', (error) => fail(error.stack ?? error));
      tab.on('console', (message) => {
        // 'warn' is what the driver of Firefox calls it.
        if (['error', 'warning', 'warn'].includes(message.type())) {
          complaints.push(message.text());
        }
        const [, json] = /^report (.*)/s.exec(message.text()) ?? [];
        if (json === undefined) return;
        clearTimeout(timer);
        resolve(JSON.parse(json));
      });
      tab.goto(url).catch(fail);
    });
  } finally {
    await context.close();
  }
}
