// A small HTTP server on 127.0.0.1.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** Listens on `port`, or the next one that is free. */
function listen(server, port) {
  return new Promise((resolve, reject) => {
    const next = (error) => {
      if (error.code === 'EADDRINUSE' && port > 0) server.listen(++port, '127.0.0.1');
      else reject(error);
    };
    server.on('error', next);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', next);
      resolve();
    });
  });
}

/**
 * Serves what `respond(path)` returns or promises: { status, headers, body }, or undefined for a 404 with a page;
 * on `port` or the next free one, by default on any.
 * Resolves to { url, close, requests }; url has no slash at its end, requests lists the paths asked for.
 */
export async function serve(respond, { port = 0 } = {}) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://127.0.0.1');
    requests.push(pathname);
    const {
      status = 200,
      headers = {},
      body = '',
    } = (await respond(pathname)) ?? {
      status: 404,
      headers: { 'content-type': 'text/html' },
      body: '<!doctype html><title>Not found</title>',
    };
    response.writeHead(status, headers).end(body);
  });
  await listen(server, port);
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/** The files of a folder, for `respond`. */
export const folder =
  (path, headers = {}) =>
  (pathname) => {
    const file = join(path, normalize(pathname));
    if (!existsSync(file) || !statSync(file).isFile()) return undefined;
    const type = types[extname(file)] ?? 'application/octet-stream';
    const body = readFileSync(file);
    return { headers: { 'content-type': type, 'content-length': body.length, ...headers }, body };
  };

/** A body with a type, for `respond`. */
export const answer = (body, type, headers = {}) => ({
  headers: { 'content-type': type, ...headers },
  body,
});
