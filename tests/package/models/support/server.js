// A server that sends a file in pieces: with or without Range, with or without its length, broken off, or waiting.
import { createServer } from 'node:http';

/**
 * Serves `bytes` at every path. `ranges`: honours Range. `length`: tells how much comes. `piece`: bytes of a write. `breaks`: ends
 * the connection after so many bytes. `gate(sent)`: awaited before each piece. Resolves to { url, requests, close }.
 */
export async function serveFile(bytes, options = {}) {
  const {
    ranges = true,
    length = true,
    piece = 1 << 14,
    breaks = Infinity,
    gate,
    headers = {},
  } = options;
  const requests = [];
  const server = createServer(async (request, response) => {
    const { range } = request.headers;
    requests.push({ path: request.url, range });
    const from = ranges && range ? Number(/^bytes=(\d+)-$/.exec(range)[1]) : 0;
    const own = {
      ...(length && { 'content-length': bytes.length - from }),
      ...(ranges &&
        range && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    };
    response.on('error', () => undefined);
    response.writeHead(ranges && range ? 206 : 200, { ...own, ...headers });
    let sent = 0;
    for (let at = from; at < bytes.length && !response.destroyed; at += piece) {
      await gate?.(sent);
      if (sent >= breaks) return response.destroy();
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
  return {
    url: `http://127.0.0.1:${server.address().port}/model`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
