// Serves dist/web on 127.0.0.1 with the headers of a cross-origin isolated page.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { folder as filesOf, serve as serveAnswers } from '../tests/support/js/server.js';
import { root } from './environment.js';

const defaultPort = 5280;

const headers = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

/** Paths that browsers ask for by themselves, and the files that answer them. */
const aliases = { '/': '/index.html', '/favicon.ico': '/favicon.svg' };

/** Starts on `port`, or the next free one. Resolves to { url, close }. */
export async function serve({ port = defaultPort, folder = 'dist/web' } = {}) {
  const outDir = join(root, folder);
  if (!existsSync(join(outDir, 'index.html'))) {
    throw new Error(`${folder}/index.html is missing: run npm run build first`);
  }
  const files = filesOf(outDir, headers);
  const { url, close } = await serveAnswers((path) => files(aliases[path] ?? path), { port });
  return { url: `${url}/`, close };
}
