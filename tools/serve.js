// Serves dist/web on 127.0.0.1 with the headers of a cross-origin isolated page.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
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

/** What answers for paths that something is built for: after the build, from `folder`, or else with what was wrong. */
function answerAfter({ build, folder, inside = (path) => path }) {
  const files = filesOf(resolve(root, folder), headers);
  return async (path) => {
    try {
      await build();
    } catch (error) {
      const text = String(error.message ?? error);
      return { status: 500, ...answer(text, 'text/plain; charset=utf-8', headers) };
    }
    return files(fileOf(inside(path)));
  };
}

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
  folder: 'build',
});

/**
 * Starts on `port`, or the next free one. What is not built yet is in `later`: an answer to a path that `paths` matches waits for
 * build(), and is then a file of `folder`, called inside(path) there. Resolves to { url, close, prefer }; prefer(folder) has the
 * files of another folder go before those that are served so far.
 */
export async function serve({ port = defaultPort, folder = 'dist/web', later = [] } = {}) {
  if (!existsSync(join(root, folder, 'index.html'))) {
    throw new Error(`${folder}/index.html is missing: run npm run build first`);
  }
  const served = [];
  const prefer = (name) => served.unshift(filesOf(join(root, name), headers));
  prefer(folder);
  const waiting = later.map(({ paths, ...rest }) => ({ paths, respond: answerAfter(rest) }));
  const respond = (path) => {
    if (path === '/docs') return toFolder(path);
    const late = waiting.find(({ paths }) => paths.test(path));
    if (late) return late.respond(path);
    const has = (files) => files(fileOf(path));
    return has(served.find(has) ?? served[0]);
  };
  const { url, close } = await serveAnswers(respond, { port });
  return { url: `${url}/`, close, prefer };
}
