// A server and a browser for pages that use the built package.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { isolation, launch as launchChromium, page, reportOf } from './chromium.js';
import { root } from './files.js';
import { folder, serve } from './server.js';

/** Serves `routes` (path -> answer, or a function that promises one; more may be added later), dist/ at /dist and this folder at /support. */
export function serveBuilt(routes) {
  const folders = {
    '/dist/': folder(join(root, 'dist'), isolation),
    '/support/': folder(join(root, 'tests/support/js'), isolation),
  };
  return serve((path) => {
    const prefix = Object.keys(folders).find((name) => path.startsWith(name));
    if (prefix) return folders[prefix](path.slice(prefix.length));
    return typeof routes[path] === 'function' ? routes[path]() : routes[path];
  });
}

/** serveBuilt() with a browser, which is Chromium by default. Resolves to { url, requests, run, look, refusal, close }. */
export async function startPages(routes, { launch = launchChromium } = {}) {
  const server = await serveBuilt(routes);
  const browser = await launch();
  let pages = 0;

  /** What a page with this script reports, and what the browser complained about meanwhile. */
  async function open(script, options) {
    const path = `/page-${++pages}`;
    Object.assign(routes, page(path, script, options));
    const complaints = [];
    const { prepare } = options ?? {};
    const value = await reportOf(browser, `${server.url}${path}`, { complaints, prepare });
    return { value, complaints };
  }

  return {
    url: server.url,
    requests: server.requests,

    /** What a page with this script reports; the browser has nothing to complain about. */
    async run(script, options) {
      const { value, complaints } = await open(script, options);
      assert.deepEqual(complaints, []);
      return value;
    },

    /** What a page with this script reports, whatever the browser has to say about it. */
    look: async (script, options) => (await open(script, options)).value,

    /** The message with which init() fails to load, twice, from this module with these options. */
    async refusal(module, initOptions = '', options = {}) {
      const script = `
        import { init } from '${module}';
        const first = await attempt(() => init(${initOptions}));
        report([first, await attempt(() => init(${initOptions}))]);
      `;
      const [first, second] = (await open(script, options)).value;
      assert.deepEqual(second, first);
      assert.deepEqual([first.error?.name, first.error?.code], ['QkvError', 'load_failed']);
      assert.match(first.error.message, /^init: .*expected/);
      return first.error.message;
    },

    async close() {
      await browser.close();
      await server.close();
    },
  };
}
