// The page in WebKitGTK's MiniBrowser, driven over WebDriver.
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { folder, serve } from '../../support/js/server.js';

const isolated = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cache-control': 'no-cache',
};

/** WebDriver hears neither the console nor errors, so a script at the beginning of the page keeps them. */
const listening = `
  const problems = (window.qkvProblems = []);
  addEventListener('error', ({ message, target }) => {
    // A size that is observed once more in the next frame is no fault; other browsers keep this to themselves.
    if (!/^ResizeObserver loop/.test(message)) problems.push(String(message ?? target.outerHTML));
  }, true);
  addEventListener('unhandledrejection', (event) => problems.push(String(event.reason)));
  addEventListener('securitypolicyviolation', (event) => problems.push('policy: ' + event.violatedDirective));
  for (const level of ['error', 'warn']) console[level] = (...words) => problems.push(words.join(' '));
`;

/** Serves dist/web, with that script in it: { url, close }. */
export async function serveSite() {
  const files = folder(join(root, 'dist/web'), isolated);
  const { url, close } = await serve((path) => {
    if (path === '/listening.js') {
      return { headers: { 'content-type': 'text/javascript', ...isolated }, body: listening };
    }
    const found = files(path === '/' ? '/index.html' : path);
    if (!found || path !== '/') return found;
    const script = '<script src="listening.js"></script>';
    const body = String(found.body).replace('<head>', `<head>${script}`);
    return { headers: { ...found.headers, 'content-length': Buffer.byteLength(body) }, body };
  });
  return { url: `${url}/`, close };
}

/** Opens the page as a visitor who has seen the introduction. A session has one page, which the next visitor takes over. */
export async function openPage(browser, url, { fragment = '', width = 1280, height = 900 } = {}) {
  const context = await browser.newContext();
  const page = await context.newPage();
  // Of the same origin, so that the page is loaded anew with the storage as it is here.
  await page.goto(`${url}favicon.svg`);
  await page.evaluate(() => {
    localStorage.clear();
    localStorage.setItem('qkv-introduction', 'seen');
  });
  await page.setViewportSize({ width, height });
  await page.goto(url + fragment);
  const problems = () => page.evaluate(() => window.qkvProblems ?? []);
  return { page, problems, close: () => undefined };
}
