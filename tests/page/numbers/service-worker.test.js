// The service worker of the page, in Node, with caches and a network that the test makes: what it keeps, what it
// refuses to keep, and whose build it answers with.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { root } from '../../support/js/files.js';

const source = readFileSync(join(root, 'web/offline/service_worker.ts'), 'utf8');
const scope = 'https://page.example/qkv/';
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** A build: what the server has under each name. */
const first = { '': '<p>one</p>', 'assets/a-1.js': 'one()' };
const second = { '': '<p>two</p>', 'assets/a-2.js': 'two()' };

let server;
/** Whether the network is there: true, false, or 'slow', which answers after the test has gone on. */
let network;
let stores;
let fetched;

class FakeCache {
  held = new Map();
  async keys() {
    return [...this.held.keys()].map((url) => ({ url }));
  }
  async delete(url) {
    return this.held.delete(String(url));
  }
  async put(url, response) {
    this.held.set(String(url), await response.text());
  }
  async match(url) {
    const text = this.held.get(String(url));
    return text === undefined ? undefined : new Response(text);
  }
}
globalThis.caches = {
  async open(name) {
    if (!stores.has(name)) stores.set(name, new FakeCache());
    return stores.get(name);
  },
  keys: async () => [...stores.keys()],
  delete: async (name) => stores.delete(name),
};
globalThis.fetch = async (asked, options) => {
  const address = String(asked.url ?? asked);
  fetched.push([address, options?.cache]);
  if (network === 'slow') await new Promise(() => undefined);
  if (!network) throw new TypeError('no network');
  const { origin, pathname } = new URL(address);
  const text = server[(origin + pathname).slice(scope.length)];
  return text === undefined ? new Response('', { status: 404 }) : new Response(text);
};

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  server = { ...first };
  network = true;
  stores = new Map();
  fetched = [];
});

afterEach(() => mock.timers.reset());

/** The service worker of a build, as the browser would run it. */
async function start(build, later = {}) {
  const hashes = (texts) =>
    JSON.stringify(
      Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, sha256(text)])),
    );
  const mark = sha256(JSON.stringify(build)).slice(0, 8);
  const define = { FILES: hashes(build), LATER: hashes(later), BUILD: JSON.stringify(mark) };
  const { code } = await transform(source, { loader: 'ts', define });
  const listeners = {};
  let claimed = 0;
  globalThis.registration = { scope };
  globalThis.clients = { claim: async () => (claimed += 1) };
  globalThis.addEventListener = (name, listener) => (listeners[name] = listener);
  new Function(code)();
  const wait = (name) => {
    let done;
    listeners[name]({ waitUntil: (promise) => (done = promise) });
    return done;
  };
  return {
    name: `qkv ${scope} ${mark}`,
    install: () => wait('install'),
    activate: () => wait('activate'),
    claims: () => claimed,
    /** What the page gets for an address; undefined where the service worker stays out of it. */
    async get(address, method = 'GET') {
      let answer;
      const request = { url: new URL(address, scope).href, method };
      const waits = [];
      const waitUntil = (promise) => waits.push(promise);
      listeners.fetch({ request, waitUntil, respondWith: (promise) => (answer = promise) });
      const response = await answer;
      await Promise.all(waits);
      return response && (response.ok ? response.text() : response.status);
    },
  };
}

/** One that is installed and active. */
async function installed(build, later) {
  const worker = await start(build, later);
  await worker.install();
  await worker.activate();
  return worker;
}

test('service worker: names that every object has are no files of the build', async () => {
  const worker = await installed(first);
  fetched.length = 0;
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    assert.equal(await worker.get(name), undefined, name);
  }
  assert.deepEqual(fetched, []);
});

describe('service worker: installing', () => {
  test('keeps every file of its build, asked for past the caches of the browser', async () => {
    const { name } = await installed(first);
    const { held } = stores.get(name);
    const wanted = Object.entries(first).map(([path, text]) => [scope + path, text]);
    assert.deepEqual([...held].sort(), wanted.sort());
    assert.deepEqual(
      fetched.map(([, cache]) => cache),
      ['no-cache', 'no-cache'],
    );
  });

  for (const [what, broken] of [
    ['is of another build', { 'assets/a-1.js': 'other()' }],
    ['is not there', { 'assets/a-1.js': undefined }],
    ['is the page of a server that has lost it', { 'assets/a-1.js': '<p>one</p>' }],
  ]) {
    test(`keeps nothing at all when a file ${what}`, async () => {
      server = { ...first, ...broken };
      const worker = await start(first);
      await assert.rejects(worker.install(), /a-1\.js/);
      assert.deepEqual([...stores.keys()], []);
    });
  }
});

describe('service worker: activating', () => {
  test('gives up the builds before it, and nobody else’s caches', async () => {
    const old = await installed(first);
    for (const name of ['qkv https://page.example/other/ 1', 'fonts']) await caches.open(name);
    server = { ...second };
    const { name, claims } = await installed(second);
    assert.ok(!stores.has(old.name));
    const kept = ['qkv https://page.example/other/ 1', 'fonts', name];
    assert.deepEqual([...stores.keys()].sort(), kept.sort());
    assert.equal(claims(), 1);
  });
});

describe('service worker: answering', () => {
  test('the page comes from the network while there is one: a new build shows with the next visit', async () => {
    const { get } = await installed(first);
    server = { ...second };
    for (const address of ['', 'index.html', '#v=1', '?embed=map']) {
      const wanted = address === 'index.html' ? '<p>one</p>' : '<p>two</p>';
      // Its server has no file of that name; the page that is kept stands in for it.
      assert.equal(await get(address), wanted, address);
    }
  });

  test('without a network the page and its files are those that are kept', async () => {
    const { get } = await installed(first);
    network = false;
    assert.equal(await get(''), '<p>one</p>');
    assert.equal(await get('index.html'), '<p>one</p>');
    assert.equal(await get('assets/a-1.js'), 'one()');
  });

  test('a network that does not answer is waited for three seconds', async () => {
    const { get } = await installed(first);
    network = 'slow';
    let answer;
    const asked = get('').then((text) => (answer = text));
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    mock.timers.tick(2999);
    await settled();
    assert.equal(answer, undefined);
    mock.timers.tick(1);
    await asked;
    assert.equal(answer, '<p>one</p>');
  });

  test('files of its build come from what is kept, without a request', async () => {
    const { get } = await installed(first);
    fetched = [];
    server['assets/a-1.js'] = 'changed()';
    assert.equal(await get('assets/a-1.js'), 'one()');
    assert.deepEqual(fetched, []);
  });

  test('files that were lost come from the network', async () => {
    const { get, name } = await installed(first);
    stores.get(name).held.clear();
    assert.equal(await get('assets/a-1.js'), 'one()');
  });

  test('everything else is left to the browser', async () => {
    const { get } = await installed(first);
    for (const address of ['nothing.txt', 'assets/a-2.js', 'https://page.example/', '/other/']) {
      assert.equal(await get(address), undefined, address);
    }
    assert.equal(await get('', 'POST'), undefined);
    assert.equal(await get('assets/a-1.js', 'HEAD'), undefined);
  });
});

describe('service worker: models', () => {
  const model = { 'models/austen-1.safetensors': 'weights' };
  const path = 'models/austen-1.safetensors';

  test('are not fetched with the page, and kept once a reader has asked for them', async () => {
    server = { ...first, ...model };
    const worker = await installed(first, model);
    assert.ok(fetched.every(([address]) => !address.includes('models/')));
    assert.equal(await worker.get(path), 'weights');
    network = false;
    assert.equal(await worker.get(path), 'weights');
  });

  test('stay with a build that has the same, and go with one that has another', async () => {
    server = { ...first, ...model };
    await (await installed(first, model)).get(path);
    server = { ...second, ...model };
    const next = await installed(second, model);
    network = false;
    assert.equal(await next.get(path), 'weights');
    network = true;
    await installed(second, { 'models/austen-2.safetensors': 'others' });
    assert.equal(stores.get(`qkv ${scope} models`).held.size, 0);
  });

  test('that are not what the build says are answered and not kept', async () => {
    server = { ...first, [path]: 'half' };
    const worker = await installed(first, model);
    assert.equal(await worker.get(path), 'half');
    assert.equal(stores.get(`qkv ${scope} models`).held.size, 0);
  });
});
