// @build any
// Files that come in pieces: broken off and resumed, of the right version, with the right SHA-256, and with headers for nobody else.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { inTime } from '../../support/js/patience.js';
import { unreadable } from '../../support/js/unreadable.js';
import { models } from './support/bundle.js';
import { collect } from './support/collect.js';
import { families } from './support/families.js';
import { safetensors } from './support/files.js';
import { serveFile } from './support/server.js';
import { expectModel } from './support/truth.js';

const { checkHashes, HashedSource, openModel, Opener, Requests, WebSource } = models;
const { truth, tensors, config } = families.gpt2();
const file = safetensors(tensors);
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');
const large = randomBytes(3 * 2 ** 20 + 5);

/** Pauses take no time. Chance has a part in them: whole numbers are timers of the server. */
function hurried(t) {
  const { setTimeout: later } = globalThis;
  const pauses = [];
  t.mock.method(globalThis, 'setTimeout', (call, ms, ...rest) => {
    const isPause = ms > 0 && !Number.isInteger(ms);
    if (isPause) pauses.push(ms);
    return later(call, isPause ? 0 : ms, ...rest);
  });
  return pauses;
}

/** All bytes of a source. */
async function all(source) {
  const parts = [];
  for await (const piece of source.read(0, Infinity)) parts.push(Buffer.from(piece));
  await source.check?.();
  source.close();
  return Buffer.concat(parts);
}

/** Serves what `answer(request)` tells: { status, headers, body }. */
async function serve(t, answer) {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url, headers: request.headers });
    const { status = 200, headers, body } = answer(request);
    response.writeHead(status, headers).end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, requests };
}

describe('SHA-256', () => {
  test('of any length, in any pieces, is that of Node', () => {
    for (const length of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_003]) {
      const bytes = large.subarray(0, length);
      const digest = models.ownSha256();
      for (let at = 0; at < length;) {
        const next = at + 1 + ((at * 7 + length) % 150);
        digest.update(bytes.subarray(at, next));
        at = next;
      }
      assert.equal(digest.hex(), hashOf(bytes), `${length} bytes`);
    }
  });
});

describe('a download that breaks off', () => {
  test('ten times is whole, and has its hash', async (t) => {
    const pauses = hurried(t);
    const cut = Math.ceil(large.length / 11);
    const { url, requests } = await serveFile(t, large, {
      piece: 1 << 12,
      breaks: cut,
      headers: { etag: '"one"' },
    });
    const source = new HashedSource(new WebSource(url), hashOf(large));
    assert.ok((await all(source)).equals(large));
    assert.ok(requests.length >= 11, `${requests.length} requests`);
    assert.equal(requests[0].headers['if-range'], undefined);
    for (const { headers } of requests.slice(1)) assert.equal(headers['if-range'], '"one"');
    // 250 ms, a quarter more or less.
    for (const ms of pauses) assert.ok(ms >= 187.5 && ms <= 312.5, `${ms}`);
    assert.ok(new Set(pauses).size > 1, 'the pauses are all the same');
  });

  test('a load of it has the right numbers', async (t) => {
    hurried(t);
    const { url } = await serveFile(t, file, { piece: 1 << 12, breaks: file.length / 10 });
    await expectModel(await openModel({ config, weights: url }), truth);
  });

  test('is sent again and skipped by a server without Range, which tells that it is the same', async (t) => {
    for (const options of [{}, { length: false, headers: { etag: '"a"' } }]) {
      const pauses = hurried(t);
      const { url, requests } = await serveFile(t, large, {
        ...options,
        ranges: false,
        breaks: (n) => (n + 1) << 20,
      });
      assert.ok((await all(new WebSource(url))).equals(large));
      assert.equal(requests.length, 4);
      assert.equal(pauses.length, 3);
      t.mock.restoreAll();
    }
  });

  test('always at the same place is given up: what was skipped is no news', async (t) => {
    hurried(t);
    const { url, requests } = await serveFile(t, large, { ranges: false, breaks: 1 << 20 });
    await expectRejects(all(new WebSource(url, new Requests({ tries: 3 }))), 'load', 'load_failed', 'broke off', '3 more requests'); // prettier-ignore
    assert.equal(requests.length, 4);
  });

  test('of a server that tells nothing by which it could be known again is not resumed', async (t) => {
    const { url, requests } = await serveFile(t, large, { ranges: false, length: false, breaks: 1 << 20 }); // prettier-ignore
    await expectRejects(all(new WebSource(url)), 'load', 'load_failed', 'broke off');
    assert.equal(requests.length, 1);
  });

  test('tries: 0 asks no second time', async (t) => {
    const { url, requests } = await serveFile(t, large, { breaks: 1 << 20 });
    await expectRejects(all(new WebSource(url, new Requests({ tries: 0 }))), 'load', 'load_failed', '0 more requests'); // prettier-ignore
    assert.equal(requests.length, 1);
    expectThrows(() => new Requests({ tries: -1 }), 'load', 'out_of_range', 'tries is -1');
  });

  test('ends at once when it is aborted while the rest is asked for', async (t) => {
    const pauses = hurried(t);
    const controller = new AbortController();
    const { signal } = controller;
    let requests = 0;
    const fetch = async (_, init) => {
      requests += 1;
      if (requests > 1) {
        controller.abort();
        init.signal.throwIfAborted();
      }
      const pieces = [large.subarray(0, 1000)];
      const body = new ReadableStream({
        pull(stream) {
          const piece = pieces.pop();
          if (piece) stream.enqueue(piece);
          else stream.error(new Error('cut'));
        },
      });
      return new Response(body, { headers: { etag: '"one"' } });
    };
    const source = new WebSource('http://a.test/', new Requests({ fetch, tries: 20 }));
    const whole = async () => {
      for await (const _ of source.read(0, Infinity, signal));
    };
    await assert.rejects(whole(), { name: 'AbortError' });
    // A second one would be as long as it is before the second request, or the tenth.
    assert.deepEqual([requests, pauses.length], [2, 1]);
  });

  test('and has changed is refused by name: by If-Range, ETag, size and date', async (t) => {
    hurried(t);
    const once = (n) => (n === 0 ? 1 << 20 : Infinity);
    const etags = (n) => ({ etag: n === 0 ? '"a"' : '"b"' });
    const changed = await serveFile(t, large, { breaks: once, headers: etags });
    await expectRejects(all(new WebSource(changed.url)), 'load', 'load_failed', 'changed while it was read', '"a"', '"b"'); // prettier-ignore
    assert.equal(changed.requests[1].headers['if-range'], '"a"');
    const day = (n) => `Mon, 0${n + 1} Jan 2024 00:00:00 GMT`;
    const dated = await serveFile(t, large, { breaks: once, headers: (n) => ({ 'last-modified': day(n) }) }); // prettier-ignore
    await expectRejects(all(new WebSource(dated.url)), 'load', 'load_failed', 'changed while it was read', day(0), day(1)); // prettier-ignore
    assert.equal(dated.requests[1].headers['if-range'], day(0));
    const weak = await serveFile(t, large, { breaks: once, headers: { etag: 'W/"a"' } });
    assert.ok((await all(new WebSource(weak.url))).equals(large));
    assert.equal(weak.requests[1].headers['if-range'], undefined);
  });
});

describe('the SHA-256 of weights', () => {
  const opener = (sha256) => new Opener(new Requests(), undefined, checkHashes(sha256));
  const open = (sha256, weights) => openModel({ config, weights }, { opener: opener(sha256) });
  const right = hashOf(file);
  const wrong = hashOf(large);

  test('is checked of one file, of bytes as well, and by the names of files', async (t) => {
    const { url } = await serveFile(t, file);
    for (const weights of [url, file, new Blob([file])]) {
      await expectModel(await open(right, weights), truth);
      await expectModel(await open(right.toUpperCase(), weights), truth);
      await expectRejects(collect(await open(wrong, weights)), 'load', 'load_failed', `has the SHA-256 ${right}`, wrong); // prettier-ignore
    }
    await expectModel(await open({ model: right }, url), truth);
    await expectRejects(collect(await open({ model: wrong }, url)), 'load', 'load_failed', wrong);
  });

  test('covers what no array needs', async () => {
    const longer = Buffer.from(safetensors({ ...tensors, 'h.1.attn.bias': { shape: [1, 1, 8, 8], values: new Float32Array(64) } })); // prettier-ignore
    const hash = hashOf(longer);
    await expectModel(await open(hash, longer), truth);
    // Its numbers are no part of the model.
    const at = longer.indexOf(Buffer.from('h.1.attn.bias'));
    const { data_offsets: [begin] } = JSON.parse(longer.toString('utf8', 8, 8 + Number(longer.readBigUInt64LE(0))))['h.1.attn.bias']; // prettier-ignore
    assert.ok(at > 0);
    longer[8 + Number(longer.readBigUInt64LE(0)) + begin] ^= 1;
    await expectRejects(collect(await open(hash, longer)), 'load', 'load_failed', 'damaged');
  });

  test('is of all bytes, whichever are asked for, and in whichever order', async () => {
    const source = new HashedSource(await new Opener().open('weights', large), hashOf(large));
    const read = async (begin, end) => {
      const parts = [];
      for await (const piece of source.read(begin, end)) parts.push(Buffer.from(piece));
      assert.ok(Buffer.concat(parts).equals(large.subarray(begin, end)));
    };
    for (const [begin, end] of [[10, 20], [5, 30], [2_000_000, 2_000_010], [0, 5]]) await read(begin, end); // prettier-ignore
    await source.check();
    await source.check();
  });

  test('of what is none, and of no file, is refused', async () => {
    expectThrows(() => checkHashes('abc'), 'load', 'invalid_argument', 'sha256 is "abc"', '64 hex');
    expectThrows(() => checkHashes(unreadable()), 'load', 'invalid_argument', 'sha256 cannot be read'); // prettier-ignore
    expectThrows(() => checkHashes({ a: 1 }), 'load', 'invalid_argument', 'sha256["a"] is 1');
    await expectRejects(open({ other: right }, file), 'load', 'invalid_argument', 'sha256 has "other"', 'names of files'); // prettier-ignore
    const half = Object.entries(tensors).length / 2;
    const halves = [0, half].map((from) => safetensors(Object.fromEntries(Object.entries(tensors).slice(from, from + half)))); // prettier-ignore
    await expectRejects(open(right, halves), 'load', 'invalid_argument', 'sha256 is one', 'several files'); // prettier-ignore
  });
});

describe('headers', () => {
  const secret = { 'x-key': 'open sesame' };
  const whole = (url, options) => all(new WebSource(url, new Requests(options)));

  test('go with every request for the addresses that were given, and to no other origin', async (t) => {
    const other = await serve(t, () => ({ body: 'there' }));
    const first = await serve(t, ({ url }) =>
      url === '/same'
        ? { status: 302, headers: { location: '/here' } }
        : url === '/away'
          ? { status: 307, headers: { location: `${other.url}/there` } }
          : { body: 'here' },
    );
    for (const headers of [
      { ...secret, authorization: 'Bearer abc' },
      (address) =>
        address.startsWith(first.url) ? { ...secret, authorization: 'Bearer abc' } : undefined,
    ]) {
      // prettier-ignore
      assert.equal(String(await whole(`${first.url}/same`, { headers })), 'here');
      assert.equal(String(await whole(`${first.url}/away`, { headers })), 'there');
    }
    assert.equal(first.requests.length, 6);
    for (const { headers } of first.requests) {
      assert.equal(headers['x-key'], 'open sesame');
      assert.equal(headers.authorization, 'Bearer abc');
    }
    assert.equal(other.requests.length, 2);
    for (const { headers } of other.requests) {
      assert.equal(headers['x-key'], undefined);
      assert.equal(headers.authorization, undefined);
      assert.equal(headers.range, 'bytes=0-');
    }
  });

  test('a token of a hub goes to its host alone', async (t) => {
    const other = await serve(t, () => ({ body: 'there' }));
    const host = await serve(t, () => ({
      status: 302,
      headers: { location: `${other.url}/there`, 'x-linked-etag': `"${hashOf('there')}"` },
    }));
    const hub = { host: host.url, token: 'hf_abc', headers: secret };
    const source = new WebSource(`${host.url}/a/b`, new Requests({ hub }));
    assert.equal(String(await all(source)), 'there');
    assert.equal(source.sha256, hashOf('there'));
    await whole(other.url, { hub });
    assert.equal(host.requests[0].headers.authorization, 'Bearer hf_abc');
    assert.equal(host.requests[0].headers['x-key'], 'open sesame');
    assert.equal(other.requests.length, 2);
    for (const { headers } of other.requests) {
      assert.equal(headers.authorization, undefined);
      assert.equal(headers['x-key'], undefined);
    }
  });

  test('where nobody sees the redirect, other headers than Authorization go nowhere', async () => {
    const asked = [];
    const fetch = (_, { headers, redirect = 'follow' }) => {
      asked.push([headers, redirect]);
      const response = new Response('far away');
      if (redirect === 'manual')
        Object.defineProperty(response, 'type', { value: 'opaqueredirect' });
      return Promise.resolve(response);
    };
    await expectRejects(whole('http://a.test/x', { fetch, headers: secret }), 'load', 'load_failed', 'it redirects', 'x-key'); // prettier-ignore
    assert.equal(asked.length, 1);
    const headers = { Authorization: 'Bearer abc' };
    assert.equal(String(await whole('http://a.test/x', { fetch, headers })), 'far away');
    assert.equal(asked.at(-1)[1], 'follow');
  });

  test('redirects without end, and to what is no server, end', async (t) => {
    const { url, requests } = await serve(t, ({ url: path }) => ({
      status: 302,
      headers: { location: path === '/file' ? 'file:///etc/passwd' : '/again' },
    }));
    await expectRejects(whole(`${url}/x`), 'load', 'load_failed', 'more than 20 redirects');
    assert.equal(requests.length, 21);
    await expectRejects(whole(`${url}/file`), 'load', 'load_failed', 'a redirect to file:');
  });

  test('what is none is refused, and no message has a value', async () => {
    const refused = (options, ...says) => {
      expectThrows(() => new Requests(options), 'load', 'invalid_argument', ...says);
      try {
        new Requests(options);
      } catch ({ message }) {
        assert.ok(!message.includes('sesame'), message);
      }
    };
    refused({ headers: 5 }, 'headers is 5');
    refused({ headers: { 'x-key': 'sesame\r\nhost: b' } }, "headers['x-key']", 'one line');
    refused({ headers: unreadable() }, 'headers cannot be read', 'plain values');
    refused({ headers: { 'a b': 'c' } }, 'has the name "a b"');
    refused({ hub: { token: 'sesame sesame' } }, 'hub.token');
    refused({ hub: { host: 'example.com' } }, 'hub.host is "example.com"');
    refused({ hub: { hosts: 'x' } }, "unknown key 'hosts'", "'host'");
    refused({ hub: { headers: [] } }, 'hub.headers is an array');
    refused({ fetch: 1 }, 'fetch is 1');
    await expectRejects(whole('http://a.test/', { headers: () => 7 }), 'load', 'invalid_argument', 'what headers() returned is 7'); // prettier-ignore
  });

  test("fetch of the caller's is asked in place of the global one", async () => {
    const fetch = (address) => Promise.resolve(new Response(`of ${address}`));
    assert.equal(String(await whole('http://a.test/x', { fetch })), 'of http://a.test/x');
  });

  test('a small file that is aborted with a TypeError is not told as one that is no JSON', async () => {
    const reason = new TypeError('enough');
    const controller = new AbortController();
    const fetch = () => {
      controller.abort(reason);
      return Promise.resolve(new Response('{}'));
    };
    const source = { config: 'http://a.test/config.json', weights: file };
    const options = { signal: controller.signal, opener: new Opener(new Requests({ fetch })) };
    await assert.rejects(openModel(source, options), (error) => error === reason);
  });

  test('that does not heed the signal is told by its answer that nobody reads on', async () => {
    /** An answer that brings one piece and then nothing, and what it was told. */
    const answer = () => {
      const told = { isCancelled: false };
      const body = new ReadableStream({
        start: (stream) => stream.enqueue(large.subarray(0, 10)),
        cancel: () => void (told.isCancelled = true),
      });
      return { told, fetch: () => Promise.resolve(new Response(body)) };
    };
    const closed = answer();
    const source = new WebSource('http://a.test/', new Requests({ fetch: closed.fetch }));
    await source.start(0);
    source.close();
    assert.ok(closed.told.isCancelled);

    const aborted = answer();
    const controller = new AbortController();
    const read = async () => {
      const web = new WebSource('http://a.test/', new Requests({ fetch: aborted.fetch }));
      for await (const piece of web.read(0, Infinity, controller.signal)) {
        assert.equal(piece.length, 10);
        setTimeout(() => controller.abort(), 1);
      }
    };
    await assert.rejects(inTime(read()), { name: 'AbortError' });
    assert.ok(aborted.told.isCancelled);
  });
});
