// Where jobs run: a fresh page of one Chromium for each, or a fresh Node process for each. A job is the
// name of a function of session.js and its argument.
import { join } from 'node:path';
import { root } from '../tools/environment.js';
import { must } from '../tools/run.js';
import { launch } from '../tests/support/js/chromium.js';
import { answer, folder, serve } from '../tests/support/js/server.js';

/** Threads, and a fine clock, need a page that is isolated from other origins. */
const isolated = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Serves the project, and an empty page at its root. */
export function openSite() {
  const files = folder(root, isolated);
  const blank = answer('<!doctype html><title>qkv bench</title>', 'text/html', isolated);
  return serve((path) => (path === '/' ? blank : files(path)));
}

export async function openBrowser() {
  const server = await openSite();
  const browser = await launch();
  return {
    name: 'browser',
    describe: `Chromium ${browser.version()}`,
    async run(job, argument) {
      // A context of its own: no page finds code that another has compiled.
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        await page.goto(`${server.url}/`);
        return await page.evaluate(
          async ([name, options]) => {
            const session = await import('/bench/session.js');
            return session[name](options);
          },
          [job, argument],
        );
      } finally {
        await context.close();
      }
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

export async function openNode() {
  const worker = join(root, 'bench/node_worker.js');
  return {
    name: 'node',
    describe: `Node ${process.version}`,
    async run(job, argument) {
      const flags = ['--experimental-wasm-relaxed-simd'];
      const line = [...flags, worker, job, JSON.stringify(argument)];
      const { stdout } = await must(process.execPath, line);
      return JSON.parse(stdout.slice(stdout.lastIndexOf('\n{') + 1));
    },
    async close() {},
  };
}
