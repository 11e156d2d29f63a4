// @build any
// Threads in Chromium: in pages that are isolated from other origins the same bits as in Node; in all others,
// and wherever workers cannot be had, one thread, without a word.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv';
import { isolation, strictPolicy } from '../../support/js/chromium.js';
import { read, text } from '../../support/js/files.js';
import { countInRun } from '../../support/js/full.js';
import { startPages } from '../../support/js/pages.js';
import { until } from '../../support/js/patience.js';
import { answer } from '../../support/js/server.js';
import { sharedCalls } from '../../support/js/shared-calls.js';

/** A number for all results: pages that are not served by https have no other hash. */
const digest = (results) => {
  const all = Object.entries(results).map(([name, { data }]) => [
    name,
    new Uint32Array(data.buffer, data.byteOffset, data.length).reduce(
      (hash, bits) => (Math.imul(hash, 31) + bits) >>> 0,
      7,
    ),
  ]);
  return Object.fromEntries(all);
};
const setup = `
  import { init } from '/dist/index.js';
  import { sharedCalls, sleep } from '/support/shared-calls.js';
  const digest = ${digest};
`;
const worker = `
  ${setup}
  const engine = await init({ threads: 3, deterministic: true });
  const first = digest(sharedCalls(engine));
  await sleep();
  const second = digest(sharedCalls(engine));
  const { output } = engine.attention(...Array(3).fill({ data: new Float32Array(64), shape: [1, 1, 8, 8] }));
  postMessage({ info: engine.info, first, second, output }, [output.data.buffer]);
  engine.dispose();
`;
const script = (body, headers = isolation) => answer(body, 'text/javascript', headers);
const wasm = (variant) => answer(read(`dist/qkv-${variant}.wasm`), 'application/wasm');

/** The package with another thread.js, or none. */
const packageWith = (folder, thread) => ({
  [`${folder}/index.js`]: script(text('dist/index.js')),
  [`${folder}/core.js`]: script(text('dist/core.js')),
  [`${folder}/errors.js`]: script(text('dist/errors.js')),
  [`${folder}/qkv-simd-threads.wasm`]: wasm('simd-threads'),
  ...(thread ? { [`${folder}/thread.js`]: thread } : {}),
});

let pages;
let expected;
before(async () => {
  pages = await startPages({
    '/worker.js': script(worker),
    ...packageWith('/missing'),
    ...packageWith('/html', answer('<!doctype html><title>App</title>', 'text/html', isolation)),
    ...packageWith('/broken', script("throw new Error('broken');")),
    // Without the header that a worker of an isolated page must have.
    ...packageWith('/unheadered', script(text('dist/thread.js'), {})),
  });
  expected = digest(sharedCalls(await init({ variant: 'simd' })));
});
after(() => pages?.close());

const isolated = { isolated: true };

test('threads in Chromium: an isolated page under a strict policy computes with threads what Node does with one', async () => {
  const body = `${setup}
    const engine = await init({ threads: 2, deterministic: true });
    const rounds = [];
    for (let round = 0; round < 6; ++round) {
      if (round % 2 === 1) await sleep();
      rounds.push(digest(sharedCalls(engine)));
    }
    report({ isolated: crossOriginIsolated, info: engine.info, rounds });
  `;
  const report = await pages.run(body, { ...isolated, policy: strictPolicy });
  assert.equal(report.isolated, true);
  const { variant, threads, isa } = report.info;
  assert.deepEqual([variant, threads, isa], ['simd-threads', 2, 'wasm-simd128']);
  for (const round of report.rounds) assert.deepEqual(round, expected);
});

test("threads in Chromium: 'auto' are the cores; one thread loads the build without", async () => {
  const from = pages.requests.length;
  const report = await pages.run(
    `${setup}
    const one = await init({ threads: 1 });
    const all = await init({ threads: 'auto' });
    report({ cores: navigator.hardwareConcurrency, one: one.info, all: all.info });`,
    isolated,
  );
  assert.deepEqual([report.one.variant, report.one.threads], ['relaxed', 1]);
  assert.equal(report.all.threads, Math.min(report.cores, 64));
  assert.ok(pages.requests.slice(from).includes('/dist/qkv-relaxed.wasm'));
});

test('threads in Chromium: a worker has threads of its own under the strict policy, and transfers results', async () => {
  const report = await pages.run(
    `const worker = new Worker('/worker.js', { type: 'module' });
    worker.onmessage = ({ data: { output, ...rest } }) => report({ ...rest, zeros: bits(output) });
    worker.onerror = (event) => report(event.message);`,
    { ...isolated, policy: strictPolicy },
  );
  assert.deepEqual([report.info.variant, report.info.threads], ['simd-threads', 3]);
  assert.deepEqual(report.first, expected);
  assert.deepEqual(report.second, expected);
  assert.deepEqual(report.zeros, Array(64).fill(0));
});

test('threads in Chromium: dispose() ends the workers, and ten engines leave none', async () => {
  let tab;
  const counts = await pages.run(
    `${setup}
    const counts = [await count(0)];
    const engine = await init({ threads: 3 });
    counts.push(await count(2));
    sharedCalls(engine);
    engine.dispose();
    engine.dispose();
    counts.push(await count(0));
    for (let i = 0; i < 10; ++i) (await init({ threads: 2 })).dispose();
    const [one, other] = await Promise.all([init({ threads: 2 }), init({ threads: 3 })]);
    counts.push(await count(3));
    one.dispose();
    counts.push(await count(2));
    other.dispose();
    counts.push(await count(0));
    report(counts);`,
    {
      ...isolated,
      prepare: async (opened) => {
        tab = opened;
        // The number of workers, once it is as expected.
        await tab.exposeFunction('count', async (number) => {
          await until(
            () => tab.workers().length === number,
            () => `${number} workers, of which there are ${tab.workers().length}`,
          );
          return number;
        });
      },
    },
  );
  assert.deepEqual(counts, [0, 2, 0, 3, 2, 0]);
});

describe('threads in Chromium: one thread does all', () => {
  const attempt = (module) => `${setup.replace('/dist/index.js', module)}
    // A worker that says nothing is given up after ten seconds: of such limits none may run out.
    let ranOut = 0;
    const original = setTimeout;
    globalThis.setTimeout = (work, ms) =>
      original(() => {
        if (ms >= 10_000) ranOut += 1;
        work();
      }, ms);
    const engine = await init({ threads: 3, deterministic: true });
    report({ info: engine.info, ranOut, results: digest(sharedCalls(engine)) });`;

  function expectOne(report, variant) {
    assert.deepEqual([report.info.variant, report.info.threads], [variant, 1]);
    assert.deepEqual(report.results, expected);
  }

  test('in a page that is not isolated, which fetches nothing more and complains of nothing', async () => {
    const from = pages.requests.length;
    const report = await pages.run(attempt('/dist/index.js'), { policy: strictPolicy });
    expectOne(report, 'simd');
    const fetched = pages.requests.slice(from).filter((path) => path.startsWith('/dist/'));
    const expected = ['index.js', 'core.js', 'errors.js', 'qkv-simd.wasm'];
    assert.deepEqual(
      fetched,
      expected.map((name) => `/dist/${name}`),
    );
  });

  /** What the browser itself says of a script that it could not or may not load. */
  const ofBrowser =
    /^(Failed to load resource|Failed to load module script|Refused to|Creating a worker|Loading the|.*violates the following Content Security Policy)/;
  const withoutWorkers = strictPolicy.replace("worker-src 'self'", "worker-src 'none'");
  const obstacles = {
    'the worker script is missing': ['/missing/index.js'],
    'the worker script is a page': ['/html/index.js'],
    'the worker script throws': ['/broken/index.js'],
    'the worker script lacks the header': ['/unheadered/index.js'],
    'a policy forbids workers': ['/dist/index.js', { policy: withoutWorkers }],
  };
  const all = Object.entries(obstacles);
  const tried = all.slice(0, countInRun(all.length, 1, 'obstacles for threads in Chromium'));
  for (const [what, [module, options]] of tried) {
    test(`if ${what}`, async () => {
      const complaints = [];
      const prepare = (tab) => {
        tab.on('console', (message) => {
          if (!message.text().startsWith('report ')) complaints.push(message.text());
        });
      };
      const report = await pages.look(attempt(module), { ...isolated, prepare, ...options });
      expectOne(report, 'simd-threads');
      assert.equal(report.ranOut, 0, 'it waited as for workers that say nothing');
      for (const complaint of complaints) assert.match(complaint, ofBrowser);
    });
  }
});
