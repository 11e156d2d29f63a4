// @build any
// Where threads cannot be had, one does it all: without a word, without waiting, with the same bits.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, mock, test } from 'node:test';
import { init } from 'qkv';
import { problem } from '../../support/js/arrays.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import { resultOf, runNode } from '../../support/js/node.js';
import { PATIENCE } from '../../support/js/patience.js';
import { sharedCalls } from '../../support/js/shared-calls.js';
import { copyWithThread } from '../../support/js/thread-copies.js';

const digest = (engine) => {
  const hash = createHash('sha256');
  for (const { data } of Object.values(sharedCalls(engine))) hash.update(data);
  return hash.digest('hex');
};
const expected = digest(await init({ variant: 'simd' }));

const temporary = mkdtempSync(join(tmpdir(), 'qkv-threads-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

const withThread = (name, text) => copyWithThread(join(temporary, name), text);

/** A program that says nothing but [variant, threads, its results] after `prelude`. */
async function run({ prelude = '', from = 'qkv', flags = [], threads = 3 } = {}) {
  const script = `
    import { createHash } from 'node:crypto';
    import { sharedCalls } from './tests/support/js/shared-calls.js';
    ${prelude}
    // A worker that says nothing is given up after ten seconds: of such limits none may run out.
    let ranOut = 0;
    const { setTimeout: original } = globalThis;
    globalThis.setTimeout = (work, ms, ...args) =>
      original(() => {
        if (ms >= 10_000) ranOut += 1;
        work(...args);
      }, ms);
    const { init } = await import(${JSON.stringify(from)});
    const engine = await init({ threads: ${threads}, deterministic: true });
    const digest = ${digest};
    const { variant, threads } = engine.info;
    console.log(JSON.stringify([ranOut, variant, threads, digest(engine)]));
  `;
  const { code, stdout, stderr } = await runNode(flags, script, { timeout: PATIENCE.wait });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const [ranOut, ...rest] = JSON.parse(stdout);
  assert.equal(ranOut, 0, 'init() waited as for workers that say nothing');
  return rest;
}

/** A machine on which no shared memory may grow beyond so many pages. */
const sharesAtMost = (pages) => `
  const { Memory } = WebAssembly;
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor) {
      if (descriptor.shared && descriptor.maximum > ${pages}) {
        throw new RangeError('could not allocate memory');
      }
      super(descriptor);
    }
  };
`;
const gigabyte = 2 ** 14;
/** A Worker as of the web, which is a target of events; each the next of these classes. */
const workers = (...bodies) => `
  const { Worker: NodeWorker } = await import('node:worker_threads');
  const kinds = [${bodies.map((body) => `class extends EventTarget { postMessage() {} terminate() {} ${body} }`)}];
  globalThis.Worker = function (url) { return new (kinds.shift())(url); };
`;
const works = `
  constructor(url) {
    super();
    this.worker = new NodeWorker(url, { execArgv: [] });
    this.worker.on('message', (data) => this.dispatchEvent(new MessageEvent('message', { data })));
    this.worker.unref();
  }
  postMessage(message) { this.worker.postMessage(message); }
  terminate() { this.worker.terminate(); }
`;
const refuses = "constructor() { throw new DOMException('no', 'SecurityError'); }";
const event = (type) =>
  `postMessage() { setTimeout(() => this.dispatchEvent(new Event('${type}')), 10); }`;
const fails = event('error');
const garbles = event('messageerror');
const throws = "postMessage() { throw new DOMException('no', 'DataCloneError'); }";

/** What is in the way, and what becomes of three threads. */
const obstacles = {
  'there is nothing in the way': [{}, 'simd-threads', 3],
  'SharedArrayBuffer is missing': [{ prelude: 'delete globalThis.SharedArrayBuffer;' }, 'simd', 1],
  'the page is not isolated': [{ prelude: 'globalThis.crossOriginIsolated = false;' }, 'simd', 1],
  'shared memory may have 2 GB': [{ prelude: sharesAtMost(2 * gigabyte) }, 'simd-threads', 3],
  'shared memory may have 1 GB': [{ prelude: sharesAtMost(gigabyte) }, 'simd-threads', 3],
  'shared memory may have less than 1 GB': [{ prelude: sharesAtMost(gigabyte - 1) }, 'simd', 1],
  'the worker script is missing': [{ from: withThread('missing') }, 'simd-threads', 1],
  'the worker script is a page': [
    { from: withThread('page', '<!doctype html><title>App</title>') },
    ...['simd-threads', 1],
  ],
  'the worker script throws': [
    { from: withThread('throwing', "throw new Error('broken');") },
    ...['simd-threads', 1],
  ],
  'the worker script ends at once': [{ from: withThread('ending', '') }, 'simd-threads', 1],
  'workers are forbidden': [
    { flags: ['--experimental-permission', '--allow-fs-read=*', '--no-warnings'] },
    ...['simd-threads', 1],
  ],
  'every worker is refused': [{ prelude: workers(refuses, refuses) }, 'simd-threads', 1],
  'every worker fails': [{ prelude: workers(fails, garbles) }, 'simd-threads', 1],
  'nothing can be told to a worker': [{ prelude: workers(throws, throws) }, 'simd-threads', 1],
  'one of two workers is refused': [{ prelude: workers(works, refuses) }, 'simd-threads', 2],
  'one of two workers fails': [{ prelude: workers(fails, works) }, 'simd-threads', 2],
};
for (const [what, [how, variant, threads]] of Object.entries(obstacles)) {
  test(`threads: ${what}: ${variant} with ${threads}`, async () => {
    assert.deepEqual(await run(how), [variant, threads, expected]);
  });
}

test('threads: with 1 GB of memory an engine says when that is used up, and goes on', async () => {
  const result = await resultOf(
    [],
    `${sharesAtMost(gigabyte)}
    const { init } = await import('qkv');
    const { randomArray } = await import('./tests/support/js/arrays.js');
    const engine = await init({ threads: 2 });
    const sizes = [2 ** 28, 2 ** 26];
    const codes = sizes.map((size) => {
      try {
        engine.tensor([size]).dispose();
        return 'made';
      } catch ({ code }) {
        return code;
      }
    });
    const x = randomArray([1, 1, 8, 4], 1);
    const { data } = engine.attention(x, x, x).output;
    engine.dispose();
    console.log(JSON.stringify({ codes, numbers: data.length }));`,
  );
  assert.deepEqual(result, { codes: ['out_of_memory', 'made'], numbers: 32 });
});

describe('threads: a file for shared memory where there is none', () => {
  const { q, k, v } = problem();
  const says = ['init', 'unsupported', 'the simd-threads build', 'isolated', "without '-threads'"];

  test('is refused, whether threads are asked for or not', async (t) => {
    const { SharedArrayBuffer } = globalThis;
    t.after(() => (globalThis.SharedArrayBuffer = SharedArrayBuffer));
    delete globalThis.SharedArrayBuffer;
    for (const options of [{}, { threads: 2 }, { variant: 'simd-threads' }]) {
      await expectRejects(init({ wasm: wasmFile('simd-threads'), ...options }), ...says);
    }
    // The other file is as good there as the build that was asked for.
    const engine = await init({ wasm: wasmFile('simd'), variant: 'simd-threads', threads: 2 });
    assert.deepEqual([engine.info.variant, engine.info.threads], ['simd', 1]);
    const single = await init({ variant: 'simd' });
    expectSame(engine.attention(q, k, v).output.data, single.attention(q, k, v).output.data);
    engine.dispose();
  });
});

test('threads: a worker that never answers is given up after ten seconds, and ended', async (t) => {
  const stubs = [];
  let started;
  const start = new Promise((resolve) => (started = resolve));
  globalThis.Worker = class {
    ended = 0;
    constructor() {
      if (stubs.push(this) === 2) started();
    }
    postMessage() {}
    terminate() {
      this.ended += 1;
    }
  };
  t.after(() => delete globalThis.Worker);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  let engine;
  const loading = init({ wasm: wasmFile('simd-threads'), threads: 3 }).then((it) => (engine = it));
  await start;
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  mock.timers.tick(9_999);
  await settle();
  assert.equal(engine, undefined);
  assert.deepEqual(
    stubs.map(({ ended }) => ended),
    [0, 0],
  );
  mock.timers.tick(1);
  await loading;
  assert.equal(engine.info.threads, 1);
  assert.deepEqual(
    stubs.map(({ ended }) => ended),
    [1, 1],
  );
  assert.equal(digest(engine), expected);
  engine.dispose();
});
