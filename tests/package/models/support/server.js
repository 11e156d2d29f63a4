// A server that sends a file in pieces: with or without Range, with or without its length, broken off, or waiting.
import { createServer } from 'node:http';

/**
 * Serves `bytes` at every path until the end of test `t`; those that it has when a request comes count. `ranges`: honours Range. `length`: tells how much comes. `piece`: bytes of a write. `breaks`: ends
 * the connection after so many bytes, of each request or, as breaks(request), of the nth. `answer(n)`: a status in place of the nth
 * answer. `headers`: more of them, or a function of the nth; the rest of a file is sent for an If-Range of their etag alone. `redirect`: where all answers lead. `gate(sent)`: awaited before each piece. Resolves to { url, requests, close }.
 */
export async function serveFile(t, bytes, options = {}) {
  const {
    ranges = true,
    length = true,
    piece = 1 << 14,
    breaks = Infinity,
    answer,
    gate,
    redirect,
    headers = {},
  } = options;
  const requests = [];
  const server = createServer(async (request, response) => {
    const { headers: asked } = request;
    const n = requests.push({ path: request.url, range: asked.range, headers: asked }) - 1;
    const most = typeof breaks === 'function' ? breaks(n) : breaks;
    const status = answer?.(n);
    if (status) return response.writeHead(status, { 'content-type': 'text/plain' }).end('no');
    const more = typeof headers === 'function' ? headers(n) : headers;
    // What a page may send to another origin, it asks first.
    if (request.method === 'OPTIONS') return response.writeHead(204, more).end();
    if (redirect) return response.writeHead(302, { ...more, location: redirect }).end();
    const isOther = asked['if-range'] !== undefined && asked['if-range'] !== more.etag;
    const range = isOther ? undefined : asked.range;
    const from = ranges && range ? Number(/^bytes=(\d+)-$/.exec(range)[1]) : 0;
    const own = {
      ...(length && { 'content-length': bytes.length - from }),
      ...(ranges &&
        range && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    };
    response.on('error', () => undefined);
    // One for each write that has to wait.
    response.setMaxListeners(0);
    response.writeHead(ranges && range ? 206 : 200, { ...own, ...more });
    let sent = 0;
    for (let at = from; at < bytes.length && !response.destroyed; at += piece) {
      await gate?.(sent);
      if (sent >= most) return response.destroy();
      const part = bytes.subarray(at, at + piece);
      sent += part.length;
      if (!response.write(part)) {
        await new Promise((resolve) => {
          response.once('drain', resolve);
          response.once('close', resolve);
        });
      }
    }
    return response.end();
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  t.after(close);
  return { url: `http://127.0.0.1:${server.address().port}/model`, requests, close };
}
