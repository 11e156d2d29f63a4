// Serves dist/web on 127.0.0.1 with the headers of a cross-origin isolated page.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answer, folder as filesOf, serve as serveAnswers } from '../tests/support/js/server.js';
import { root } from './environment.js';

const defaultPort = 5280;

const headers = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

/** As servers of files do: a folder is its index.html, once the address has its slash. */
const fileOf = (path) =>
  path === '/favicon.ico' ? '/favicon.svg' : path.replace(/\/$/, '/index.html');
const toFolder = (path) => ({ status: 301, headers: { location: `${path}/` } });

/**
 * The documentation below /docs/, which `build` makes when somebody first asks for it; where that fails, the next one to ask
 * has it made again.
 */
function documentation(build) {
  const files = filesOf(join(root, 'build'), headers);
  let made;
  return async (path) => {
    try {
      await (made ??= build());
    } catch (error) {
      made = undefined;
      return {
        status: 500,
        ...answer(String(error.message ?? error), 'text/plain; charset=utf-8'),
      };
    }
    return files(fileOf(path));
  };
}

/**
 * Starts on `port`, or the next free one. With `buildDocs` the documentation is there, too. Resolves to
 * { url, close }.
 */
export async function serve({ port = defaultPort, folder = 'dist/web', buildDocs } = {}) {
  const outDir = join(root, folder);
  if (!existsSync(join(outDir, 'index.html'))) {
    throw new Error(`${folder}/index.html is missing: run npm run build first`);
  }
  const files = filesOf(outDir, headers);
  const docs = buildDocs && documentation(buildDocs);
  const respond = (path) => {
    if (path === '/docs') return toFolder(path);
    return docs && path.startsWith('/docs/') ? docs(path) : files(fileOf(path));
  };
  const { url, close } = await serveAnswers(respond, { port });
  return { url: `${url}/`, close };
}
