// Serves dist/web on 127.0.0.1 with the headers of a cross-origin isolated page.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answer, folder as filesOf, serve as serveAnswers } from '../tests/support/js/server.js';
import { root } from './environment.js';

const defaultPort = 5280;

export const headers = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

/** As servers of files do: a folder is its index.html, once the address has its slash. */
const fileOf = (path) =>
  path === '/favicon.ico' ? '/favicon.svg' : path.replace(/\/$/, '/index.html');
const toFolder = (path) => ({ status: 301, headers: { location: `${path}/` } });

/** What answers for paths that something is built for: what is there after the build, or what was wrong with it. */
async function answerAfter({ build, respond }, path) {
  try {
    await build();
  } catch (error) {
    const text = String(error.message ?? error);
    return { status: 500, ...answer(text, 'text/plain; charset=utf-8', headers) };
  }
  return respond(fileOf(path));
}

/** The files of a folder, for `respond`. */
export const filesIn = (name) => filesOf(join(root, name), headers);

/** A .wasm, for `respond`. */
export const wasm = (bytes) => answer(bytes, 'application/wasm', headers);

/** `build`, once; where it fails, the next one to ask has it done again. */
export function once(build) {
  let made;
  return async () => {
    try {
      await (made ??= build());
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
}

/** The documentation, for `later`: built when somebody first asks for it. */
export const documentation = (build) => ({
  paths: /^\/docs\//,
  build: once(build),
  respond: filesIn('build'),
});

/**
 * Starts on `port`, or the next free one. What is not built yet is in `later`: an answer to a path that `paths` matches waits for
 * build(), and is then what respond(path) gives. Resolves to { url, close, prefer }; prefer(folder) has the files of another
 * folder go before those that are served so far.
 */
export async function serve({ port = defaultPort, folder = 'dist/web', later = [] } = {}) {
  if (!existsSync(join(root, folder, 'index.html'))) {
    throw new Error(`${folder}/index.html is missing: run npm run build first`);
  }
  const served = [];
  const prefer = (name) => served.unshift(filesIn(name));
  prefer(folder);
  const respond = (path) => {
    if (path === '/docs') return toFolder(path);
    const late = later.find(({ paths }) => paths.test(path));
    if (late) return answerAfter(late, path);
    const has = (files) => files(fileOf(path));
    return has(served.find(has) ?? served[0]);
  };
  const { url, close } = await serveAnswers(respond, { port });
  return { url: `${url}/`, close, prefer };
}
