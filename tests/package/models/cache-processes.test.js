// @build each
// Processes that share the folder of a cache: each file comes once, whoever is killed in between, and a lock that nobody holds any more
// keeps nobody waiting.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { modelCache } from 'qkv/models';
import { root } from '../../support/js/files.js';
import { inTime, until } from '../../support/js/patience.js';
import { models } from './support/bundle.js';
import { serveFile } from './support/server.js';

const blockBytes = 2 ** 23;
const file = randomBytes(2.5 * blockBytes);
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');
const place = mkdtempSync(join(tmpdir(), 'qkv-processes-'));
after(() => rmSync(place, { recursive: true }));
let made = 0;
const newFolder = () => join(place, `${made++}`);
/** A server whose file takes about a second, or as long as `options.gate` says. */
const slowly = (t, options) =>
  serveFile(t, file, { gate: () => wait(1), piece: 2 ** 15, headers: { etag: '"a"' }, ...options });

const program = `
  import { createHash } from 'node:crypto';
  import { modelCache } from 'qkv/models';
  const [folder, url] = process.argv.slice(1);
  let pieces = 0;
  const onProgress = () => (pieces += 1) === 1 && console.log('some of it has come');
  const blob = await modelCache({ folder }).blob(url, { onProgress });
  const hash = createHash('sha256').update(new Uint8Array(await blob.arrayBuffer())).digest('hex');
  console.log(JSON.stringify({ hash, pieces }));`;

/** A process that reads a file by the cache of a folder; that it has begun, and what it says at its end. */
function reader(t, folder, url) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, folder, url], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (part) => (said += part));
  const begun = () => until(() => said.includes('\n'));
  const ended = new Promise((resolve) => {
    child.once('close', () => resolve(said.slice(said.indexOf('\n'))));
  });
  return { child, begun, said: ended };
}
/** All of the file is in a folder. */
async function expectKept(folder) {
  const [{ kept, size }] = await modelCache({ folder }).list();
  assert.deepEqual([kept, size], [file.length, file.length]);
}
const locksIn = (folder) => readdirSync(folder).filter((name) => name.includes('.lock'));
/** The lock of the only file of a folder. */
async function lockIn(folder) {
  await until(() => existsSync(folder) && locksIn(folder).length === 1);
  return join(folder, locksIn(folder)[0]);
}

describe('processes that share the folder of a cache', () => {
  test('ask for a file once, and leave no lock', async (t) => {
    const { url, requests } = await slowly(t);
    const folder = newFolder();
    const all = await inTime(Promise.all([1, 2, 3].map(() => reader(t, folder, url).said)));
    for (const said of all) assert.equal(JSON.parse(said).hash, hashOf(file));
    // Each is told of what comes, not of the whole at once.
    for (const said of all) assert.ok(JSON.parse(said).pieces >= 3, said);
    assert.deepEqual(
      requests.map(({ range }) => range),
      ['bytes=0-'],
    );
    assert.deepEqual(locksIn(folder), []);
  });

  test('go on at once where the one that wrote was killed', async (t) => {
    // The first one has a block of it and waits for the rest of the next; so does the second, for the first.
    let isKilled = false;
    const gate = (sent) => (sent > 1.5 * blockBytes ? until(() => isKilled) : wait(1));
    const { url, requests } = await slowly(t, { gate });
    const folder = newFolder();
    const first = reader(t, folder, url);
    await until(
      () => existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('-0')),
    );
    const lock = await lockIn(folder);
    const second = reader(t, folder, url);
    await second.begun();
    first.child.kill('SIGKILL');
    isKilled = true;
    assert.equal(JSON.parse(await inTime(second.said)).hash, hashOf(file));
    assert.deepEqual(
      requests.map(({ range }) => range),
      ['bytes=0-', `bytes=${blockBytes}-`],
    );
    assert.ok(!existsSync(lock));
    await expectKept(folder);
  });
});

describe('the lock of somebody else', () => {
  /** Locks are named by the address, which no two servers share: it is seen while one is held. */
  async function nameOfLock(t) {
    const { url } = await slowly(t, { piece: 2 ** 18 });
    const folder = newFolder();
    const whole = modelCache({ folder }).blob(url);
    const lock = await lockIn(folder);
    await whole;
    return { name: lock.slice(folder.length + 1), url, folder };
  }
  const write = (path, age) => {
    writeFileSync(path, `1\nnot-${hostname()}\nx`);
    const then = new Date(Date.now() - age);
    utimesSync(path, then, then);
  };

  test('is waited for while it shows signs of life, and the wait can be ended', async (t) => {
    const { name, url, folder } = await nameOfLock(t);
    await modelCache({ folder }).clear();
    const path = join(folder, name);
    write(path, 0);
    const stop = new AbortController();
    const waiting = modelCache({ folder }).blob(url, { signal: stop.signal });
    await wait(400);
    stop.abort(new Error('enough'));
    await assert.rejects(inTime(waiting), /enough/);
    assert.ok(existsSync(path));

    const again = modelCache({ folder }).blob(url);
    await wait(300);
    rmSync(path);
    assert.equal(hashOf(new Uint8Array(await (await inTime(again)).arrayBuffer())), hashOf(file));
  });

  test('is taken over when it has shown none for long', async (t) => {
    const { name, url, folder } = await nameOfLock(t);
    await modelCache({ folder }).clear();
    const path = join(folder, name);
    write(path, 11_000);
    const cache = modelCache({ folder });
    const blob = await inTime(cache.blob(url));
    assert.equal(cache.problem, undefined);
    await expectKept(folder);
    assert.equal(hashOf(new Uint8Array(await blob.arrayBuffer())), hashOf(file));
    await until(() => locksIn(folder).length === 0);
  });

  test('of this machine is taken from a process that is not there, and left to one that is', async (t) => {
    const { name, url, folder } = await nameOfLock(t);
    const cache = modelCache({ folder });
    await cache.clear();
    const path = join(folder, name);
    const write = (pid) => writeFileSync(path, `${pid}\n${hostname()}\nx`);
    write(process.pid);
    const waiting = cache.blob(url);
    await wait(400);
    assert.ok(existsSync(path));
    // As if it had just shown a sign of life, whenever it is looked at.
    const signs = setInterval(
      () => existsSync(path) && utimesSync(path, new Date(), new Date()),
      50,
    );
    t.after(() => clearInterval(signs));
    write(2 ** 31 - 1);
    assert.equal(hashOf(new Uint8Array(await (await inTime(waiting)).arrayBuffer())), hashOf(file));
    assert.equal(cache.problem, undefined);
  });

  test('shows signs of life as long as it is held', async (t) => {
    const { url } = await slowly(t, { gate: () => wait(25), piece: 2 ** 17 });
    const folder = newFolder();
    const whole = modelCache({ folder }).blob(url);
    const lock = await lockIn(folder);
    const then = new Date(Date.now() - 9_000);
    utimesSync(lock, then, then);
    await until(() => Date.now() - statSync(lock).mtimeMs < 5_000);
    await whole;
  });
});

test('a lock that was given back is free at once', async () => {
  const store = models.folderStore(newFolder());
  for (let i = 0; i < 20; i += 1) {
    const free = await store.lock('it');
    assert.ok(free, `the ${i + 1}th time`);
    assert.equal(await store.lock('it'), undefined);
    free();
  }
});
