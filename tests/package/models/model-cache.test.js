// @build any
// Caches of files: in a folder, and in stores of the test's own that are full, closed or changed by somebody else.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { inTime, until } from '../../support/js/patience.js';
import { unreadable } from '../../support/js/unreadable.js';
import { models } from './support/bundle.js';
import { families } from './support/families.js';
import { safetensors } from './support/files.js';
import { serveFile } from './support/server.js';
import { expectModel } from './support/truth.js';

const { checkHashes, fileCacheOf, folderStore, KeptSource, modelCache, openModel, Opener, Rate } = models; // prettier-ignore
const { Requests, Shelf, WebSource } = models;
const { truth, tensors, config } = families.gpt2();
const file = safetensors(tensors);
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');
const blockBytes = 2 ** 16;
const large = randomBytes(10 * blockBytes + 99);

const root = mkdtempSync(join(tmpdir(), 'qkv-cache-'));
after(() => rmSync(root, { recursive: true }));
let made = 0;
const newFolder = () => join(root, `${made++}`);
/** A shelf of a folder with small stretches. */
const shelfOf = (folder, maxBytes) => new Shelf(folder, () => Promise.resolve(folderStore(folder)), maxBytes, blockBytes); // prettier-ignore

/** A source of an address that is kept. */
async function openKept(shelf, url, options) {
  const source = new KeptSource(new WebSource(url, new Requests(options)), shelf, url, await shelf.find(url)); // prettier-ignore
  await source.begin();
  return source;
}
async function read(source, begin = 0, end = Infinity, onPiece) {
  const parts = [];
  for await (const piece of source.read(begin, end)) {
    parts.push(Buffer.from(piece));
    await onPiece?.();
  }
  return Buffer.concat(parts);
}
/** All of a file through a shelf. */
async function through(shelf, url, options) {
  const source = await openKept(shelf, url, options);
  try {
    return await read(source);
  } finally {
    source.close();
  }
}
const keptOf = async (shelf, url) => shelf.bytesOf(await shelf.find(url));

describe('a cache in a folder', () => {
  const open = (weights, cache, sha256) => openModel({ config, weights }, { opener: new Opener(new Requests(), fileCacheOf(cache), checkHashes(sha256)) }); // prettier-ignore

  test('a model is asked for once, and is there after its server has gone', async (t) => {
    const server = await serveFile(t, file);
    const cache = modelCache({ folder: newFolder() });
    await expectModel(await open(server.url, cache), truth);
    assert.equal(server.requests.length, 1);
    await server.close();
    await expectModel(await open(server.url, cache), truth);
    await expectModel(await open(server.url, { folder: cache.folder }), truth);
    const [kept, ...more] = await cache.list();
    assert.equal(more.length, 0);
    assert.deepEqual({ ...kept, used: 0 }, { address: server.url, size: file.length, kept: file.length, used: 0 }); // prettier-ignore
    assert.ok(Date.now() - kept.used < 60_000);
    assert.equal(await cache.size(), file.length);
    assert.equal(cache.problem, undefined);
    assert.equal(await cache.remove(server.url), true);
    assert.equal(await cache.remove(server.url), false);
    assert.deepEqual(await cache.list(), []);
    assert.deepEqual(readdirSync(cache.folder), []);
  });

  test('as a Blob; the second time without a request', async (t) => {
    const server = await serveFile(t, large);
    const cache = modelCache({ folder: newFolder() });
    const told = [];
    for (let i = 0; i < 2; i += 1) {
      const blob = await cache.blob(server.url, { onProgress: (each) => told.push(each) });
      assert.ok(Buffer.from(await blob.arrayBuffer()).equals(large));
    }
    assert.equal(server.requests.length, 1);
    const { rate, ...last } = told.at(-1);
    assert.deepEqual(last, { loaded: large.length, total: large.length, file: 'model' });
    assert.ok(rate > 0 && Number.isFinite(rate));
    await cache.clear();
    assert.equal(await cache.size(), 0);
  });

  test('as a Blob: a watcher that is none is refused before anything is asked for', async () => {
    const cache = modelCache({ folder: newFolder() });
    const fetch = () => assert.fail('a request');
    await expectRejects(cache.blob('http://a.test/', { fetch, onProgress: 5 }), 'blob', 'invalid_argument', 'onProgress is 5', 'a function'); // prettier-ignore
  });

  test('a SHA-256 is checked once; what has another one is forgotten', async (t) => {
    const { url } = await serveFile(t, file);
    const cache = modelCache({ folder: newFolder() });
    const wrong = await open(url, cache, hashOf('other'));
    await expectRejects(
      wrong.stream(() => undefined),
      'load',
      'load_failed',
      'SHA-256',
    );
    assert.deepEqual(await cache.list(), []);
    await expectModel(await open(url, cache, hashOf(file)), truth);
    const [about] = readdirSync(cache.folder).filter((name) => name.endsWith('about'));
    assert.equal(JSON.parse(readFileSync(join(cache.folder, about), 'utf8')).checked, hashOf(file));
    await expectModel(await open(url, cache, hashOf(file)), truth);
    // It is known to have another one, which costs no reading.
    await expectRejects((await open(url, cache, hashOf('other'))).stream(() => undefined), 'load', 'load_failed'); // prettier-ignore
  });

  test('its problem is that of the latest file', async (t) => {
    const [big, small] = [await serveFile(t, large), await serveFile(t, file)];
    const cache = modelCache({ folder: newFolder(), maxBytes: large.length - 1 });
    await cache.blob(big.url);
    assert.match(cache.problem, /at most \d+ \(maxBytes\)/);
    await cache.blob(small.url);
    assert.equal(cache.problem, undefined);
  });

  test('options that are none', () => {
    const refused = (options, ...says) => expectThrows(() => modelCache(options), 'modelCache', 'invalid_argument', ...says); // prettier-ignore
    refused({ folder: 5 }, 'folder is 5');
    refused({ kind: 'folder' }, "kind is 'folder'", 'its path');
    refused({ kind: 'cache', folder: 'x' }, "kind is 'cache'", 'as folder is given');
    refused({ kind: 'disk' }, 'kind', "'opfs'");
    refused({ name: '../x' }, 'name is "../x"');
    refused({ maxBytes: -1, folder: 'x' }, 'maxBytes is -1');
    refused({ maxbytes: 1 }, "unknown key 'maxbytes'", "'maxBytes'");
    expectThrows(() => fileCacheOf(5), 'load', 'invalid_argument', 'cache is 5', 'modelCache()');
    expectThrows(
      () => fileCacheOf(unreadable()),
      'load',
      'invalid_argument',
      'cache cannot be read',
    );
  });
});

describe('what is kept', () => {
  test('of a download that ended in the middle is not sent again', async (t) => {
    const { url, requests } = await serveFile(t, large, { breaks: (n) => (n === 0 ? 4 * blockBytes + 5 : Infinity), piece: 1 << 12, headers: { etag: '"a"' } }); // prettier-ignore
    const folder = newFolder();
    await expectRejects(through(shelfOf(folder), url, { tries: 0 }), 'load', 'load_failed', 'broke off'); // prettier-ignore
    assert.equal(await keptOf(shelfOf(folder), url), 4 * blockBytes);
    assert.ok((await through(shelfOf(folder), url)).equals(large));
    assert.deepEqual(requests.map(({ range }) => range), ['bytes=0-', `bytes=${4 * blockBytes}-`]); // prettier-ignore
    assert.equal(requests[1].headers['if-range'], '"a"');
  });

  test('of a file that has changed since is forgotten, and the new one is read', async (t) => {
    const bytes = randomBytes(large.length);
    const tags = (n) => ({ etag: n === 0 ? '"a"' : '"b"' });
    const breaks = (n) => (n === 0 ? 4 * blockBytes : Infinity);
    const first = await serveFile(t, large, { breaks, piece: 1 << 12, headers: tags });
    const folder = newFolder();
    const shelf = shelfOf(folder);
    await expectRejects(through(shelf, first.url, { tries: 0 }), 'load', 'load_failed');
    const fetch = (_, { headers, signal }) => {
      const from = Number(/^bytes=(\d+)-$/.exec(headers.Range)?.[1] ?? 0);
      assert.ok(!signal.aborted);
      const told = { etag: '"b"', 'content-length': `${bytes.length}` };
      return Promise.resolve(headers['If-Range'] === '"a"' || from === 0 ? new Response(bytes, { headers: told }) : new Response('', { status: 416 })); // prettier-ignore
    };
    assert.ok((await through(shelf, first.url, { fetch })).equals(bytes));
    assert.ok((await through(shelf, first.url, { fetch: () => assert.fail('it is kept') })).equals(bytes)); // prettier-ignore
  });

  test('is read from any place, and what nobody asked for is not loaded', async (t) => {
    const { url, requests } = await serveFile(t, large);
    const shelf = shelfOf(newFolder());
    const source = await openKept(shelf, url);
    const expectPart = async (begin, end) => assert.ok((await read(source, begin, end)).equals(large.subarray(begin, Math.min(end, large.length))), `${begin}`); // prettier-ignore
    await expectPart(10, 20);
    await expectPart(20, blockBytes + 7);
    await expectPart(5, 9);
    await expectPart(8 * blockBytes - 3, 8 * blockBytes + 3);
    await expectPart(large.length - 5, Infinity);
    await source.check();
    await expectRejects(read(source, 0, large.length + 1), 'load', 'invalid_argument', 'ends at byte'); // prettier-ignore
    source.close();
    assert.ok(requests.length < 8);
    assert.ok((await through(shelf, url)).equals(large));
  });

  test('of a server that does not tell the size', async (t) => {
    const { url, requests } = await serveFile(t, large, { ranges: false, length: false });
    const shelf = shelfOf(newFolder(), 2 * large.length);
    for (let i = 0; i < 2; i += 1) assert.ok((await through(shelf, url)).equals(large));
    assert.equal(requests.length, 1);
    assert.equal(await keptOf(shelf, url), large.length);
  });

  test('and damaged, or removed while it is read, is asked for again', async (t) => {
    const { url, requests } = await serveFile(t, large);
    const folder = newFolder();
    const shelf = shelfOf(folder);
    await through(shelf, url);
    const [block] = readdirSync(folder).filter((name) => name.endsWith('-3'));
    truncateSync(join(folder, block), 100);
    assert.ok((await through(shelf, url)).equals(large));
    assert.equal(requests.length, 2);
    for (const name of readdirSync(folder).filter((each) => each.endsWith('about'))) writeFileSync(join(folder, name), '{"add'); // prettier-ignore
    assert.ok((await through(shelf, url)).equals(large));
    const source = await openKept(shelf, url);
    const all = await read(source, 0, Infinity, async () => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      await wait(1);
    });
    source.close();
    assert.ok(all.equals(large));
  });

  test('goes by the age of its last use when there is too much', async (t) => {
    const servers = [];
    for (let i = 0; i < 3; i += 1) servers.push(await serveFile(t, large));
    const [a, b, c] = servers.map(({ url }) => url);
    const shelf = shelfOf(newFolder(), 2.5 * large.length);
    const there = async () => (await shelf.list()).map(({ about }) => about.address).sort();
    for (const url of [a, b, a, c]) {
      await through(shelf, url);
      await wait(5);
    }
    assert.deepEqual(await there(), [a, c].sort());
    assert.equal(shelf.problem, undefined);
    // What is being read stays.
    const open = await openKept(shelf, a);
    await wait(5);
    await through(shelf, c);
    await wait(5);
    await through(shelf, b);
    assert.deepEqual(await there(), [a, b].sort());
    open.close();
    const small = shelfOf(newFolder(), large.length - 1);
    assert.ok((await through(small, a)).equals(large));
    assert.match(small.problem, /the file has \d+ bytes, and the cache keeps at most \d+/);
    assert.deepEqual(await small.list(), []);
  });
});

describe('a cache that cannot keep', () => {
  const memory = (over = {}) => {
    const all = new Map();
    return {
      get: async (name) => (all.has(name) ? new Opener().open(name, all.get(name)) : undefined),
      blob: async (name) => (all.has(name) ? new Blob([all.get(name)]) : undefined),
      put: async (name, bytes) => void all.set(name, bytes.slice()),
      remove: async (name) => void all.delete(name),
      names: async () => [...all.keys()],
      all,
      ...over,
    };
  };
  const shelfIn = (store) =>
    new Shelf('memory', () => Promise.resolve(store), Infinity, blockBytes);

  test('because it is full: the load goes on, and says so', async (t) => {
    const { url } = await serveFile(t, large);
    for (const room of [0, 1, 4]) {
      const full = new DOMException('no room', 'QuotaExceededError');
      const store = memory();
      const { put } = store;
      store.put = (...of) => (store.all.size > room ? Promise.reject(full) : put(...of));
      const shelf = shelfIn(store);
      assert.ok((await through(shelf, url)).equals(large));
      assert.match(shelf.problem, /the cache takes no more \(QuotaExceededError: no room\)/);
      // What is there is of use the next time.
      assert.ok((await through(shelf, url)).equals(large));
    }
  });

  test('because it is denied', async (t) => {
    const { url } = await serveFile(t, file);
    const denied = new DOMException('not here', 'SecurityError');
    const shelf = new Shelf('denied', () => Promise.reject(denied), Infinity, blockBytes);
    assert.equal(await shelf.find(url), undefined);
    assert.match(shelf.problem, /the cache cannot be read \(SecurityError: not here\)/);
    // There is no Cache API in Node.
    const cache = modelCache();
    const told = [];
    const opened = await openModel({ config, weights: url }, { opener: new Opener(new Requests(), fileCacheOf(cache)) }); // prettier-ignore
    await opened.stream(() => undefined, { onProgress: (each) => told.push(each) });
    assert.match(told.at(-1).cacheProblem, /the cache cannot be read \(.*no Cache API/);
    assert.match(cache.problem, /no Cache API/);
    assert.deepEqual(await cache.list(), []);
    assert.equal(await (await cache.blob(url)).size, file.length);
  });

  test('because reading fails in the middle', async (t) => {
    const { url } = await serveFile(t, large);
    const store = memory();
    await through(shelfIn(store), url);
    const { get } = store;
    store.get = (name) => (name.endsWith('about') ? get(name) : Promise.reject(new Error('disk')));
    assert.ok((await through(shelfIn(store), url)).equals(large));
    store.get = async (name) => {
      const found = await get(name);
      if (!found || name.endsWith('about')) return found;
      const { size } = found;
      return {
        ...{ name, size, rest: () => undefined, close: () => undefined },
        async *read(begin, end) {
          for await (const piece of found.read(begin, Math.min(begin + 100, end))) yield piece;
          throw new Error('disk');
        },
      };
    };
    assert.ok((await through(shelfIn(store), url)).equals(large));
  });
});

describe('two that share a cache', () => {
  test('load a file once: one writes, and the other one follows', async (t) => {
    const gate = () => wait(1);
    const { url, requests } = await serveFile(t, large, { gate });
    const folder = newFolder();
    const [one, two] = await inTime(Promise.all([through(shelfOf(folder), url), through(shelfOf(folder), url)])); // prettier-ignore
    assert.ok(one.equals(large) && two.equals(large));
    assert.deepEqual(
      requests.map(({ range }) => range),
      ['bytes=0-'],
    );
  });

  test('the other one goes on where the first gives up', async (t) => {
    const { url, requests } = await serveFile(t, large, { gate: () => wait(1), piece: 1 << 13 });
    const folder = newFolder();
    const first = await openKept(shelfOf(folder), url);
    let come = 0;
    const whole = through(shelfOf(folder), url);
    for await (const piece of first.read(0, Infinity)) {
      come += piece.length;
      if (come > 5 * blockBytes) break;
    }
    first.close();
    assert.ok((await inTime(whole)).equals(large));
    assert.ok(requests.length <= 2, `${requests.length} requests`);
  });
});

test('a stretch that is damaged is not looked at all the time while somebody else writes', async (t) => {
  const { url } = await serveFile(t, large);
  const store = folderStore(newFolder());
  const shelf = new Shelf('damaged', () => Promise.resolve(store), Infinity, blockBytes);
  await through(shelf, url);
  const { key } = await shelf.find(url);
  await store.put(`${key}-3`, Buffer.alloc(100));
  const { get } = store;
  let looks = 0;
  store.get = (name) => {
    looks += name === `${key}-3` ? 1 : 0;
    return get(name);
  };
  const unlock = await shelf.lock(key);
  const all = through(shelf, url);
  await until(() => looks > 0);
  const begin = performance.now();
  await wait(500);
  unlock();
  assert.ok((await inTime(all)).equals(large));
  const rounds = (performance.now() - begin) / 100;
  assert.ok(looks <= 4 + 2 * rounds, `${looks} looks in ${rounds} rounds`);
});

describe('a load that fails before it reads', () => {
  /** A folder with the first stretch of a file of two, and where that is. */
  async function partly(t) {
    const bytes = randomBytes(2 ** 23 + 5);
    const options = { breaks: (n) => (n === 0 ? 2 ** 23 + 1 : Infinity), piece: 2 ** 23 + 1 };
    const { url } = await serveFile(t, bytes, { ...options, headers: { etag: '"a"' } });
    const cache = modelCache({ folder: newFolder() });
    await expectRejects(cache.blob(url, { tries: 0 }), 'load', 'load_failed', 'broke off');
    assert.equal(await cache.size(), 2 ** 23);
    return { bytes, url, cache };
  }
  async function expectFree({ bytes, url, cache }) {
    const blob = await cache.blob(url);
    assert.ok(Buffer.from(await blob.arrayBuffer()).equals(bytes));
    assert.equal(cache.problem, undefined);
    assert.equal(await cache.size(), bytes.length);
  }

  test('because it is aborted leaves the right to write to others', async (t) => {
    const there = await partly(t);
    const controller = new AbortController();
    const fetch = (_, { signal }) => {
      controller.abort();
      return Promise.reject(signal.reason);
    };
    const { signal } = controller;
    await assert.rejects(there.cache.blob(there.url, { fetch, signal }), { name: 'AbortError' });
    await expectFree(there);
  });

  test('because the hub does not answer does so, too', async (t) => {
    const there = await partly(t);
    const hub = { host: new URL(there.url).origin };
    const fetch = () => Promise.reject(new TypeError('away'));
    await expectRejects(there.cache.blob(there.url, { fetch, hub }), 'load', 'load_failed', 'away');
    await expectFree(there);
  });
});

describe('the rate of a download', () => {
  test('is that of a steady one, and of the new one some seconds after it changed', () => {
    const rate = new Rate(0);
    let now = 0;
    const steady = (bytes, times) => {
      let last = 0;
      for (let i = 0; i < times; i += 1) last = rate.add(bytes, (now += 100));
      return last;
    };
    assert.ok(Math.abs(steady(1000, 50) - 10_000) < 1e-6);
    assert.ok(Math.abs(steady(5000, 100) - 50_000) < 0.02 * 50_000);
    assert.equal(new Rate(0).add(5, 0), 0);
  });
});
