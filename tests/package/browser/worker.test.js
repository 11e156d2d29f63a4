// @build any
// qkv/worker in Chromium: module workers, policies, workers of workers, and what cannot be started.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as main from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { expectSame } from '../../support/js/check.js';
import { programsOf } from '../../release/consumers/examples.js';
import { strictPolicy } from '../../support/js/chromium.js';
import { text } from '../../support/js/files.js';
import { startPages } from '../../support/js/pages.js';
import { until } from '../../support/js/patience.js';
import { answer } from '../../support/js/server.js';

/** The programs of the guide that are for browsers: the user's worker, and the page that starts it. */
const [guideWorker, guidePage] = programsOf('wasm/docs/workers.md', 'javascript').map((blocks) =>
  blocks
    .map(({ code }) => code)
    .join('')
    .replaceAll("'qkv/worker'", "'/dist/worker.js'")
    .replaceAll("'qkv'", "'/dist/index.js'"),
);

const script = (body) => answer(body, 'text/javascript');

const serving = `
  import { init } from '/dist/index.js';
  import { serve } from '/dist/worker.js';
  addEventListener('message', ({ data }) => {
    if (data === 'ping') postMessage('pong');
    if (data === 'end') close();
  });
  serve(self, init);
`;
/** The script of a worker whose attention() waits until the server answers. */
const held = `
  import { init } from '/dist/index.js';
  import { serve } from './worker.js';
  serve(self, async (options) => {
    const engine = await init(options);
    const attention = engine.attention.bind(engine);
    engine.attention = (...args) => {
      const request = new XMLHttpRequest();
      request.open('GET', '/gate', false);
      request.send();
      return attention(...args);
    };
    return engine;
  });
`;
const nesting = `
  import { init } from '/dist/worker.js';
  import { randomArray } from '/support/arrays.js';
  const engine = await init({ workers: 2, deterministic: true });
  const { data } = await engine.gelu(randomArray([1, 1, 2, 4], 1));
  postMessage([engine.info.workers, data]);
`;

/** Calls that wait at the gate, each as what lets it through. */
const waiting = [];
const gate = () => new Promise((open) => waiting.push(() => open({ status: 204 })));

let pages;
before(async () => {
  const copy = (folder) => ({
    [`${folder}/worker.js`]: script(text('dist/worker.js')),
    [`${folder}/errors.js`]: script(text('dist/errors.js')),
  });
  pages = await startPages({
    ...copy('/missing'),
    '/shared/errors.js': answer(text('dist/errors.js'), 'text/javascript', {
      'access-control-allow-origin': '*',
    }),
    '/shared/worker.js': answer(text('dist/worker.js'), 'text/javascript', {
      'access-control-allow-origin': '*',
    }),
    ...copy('/page'),
    '/page/worker-host.js': answer('<!doctype html><title>App</title>', 'text/html'),
    ...copy('/broken'),
    '/broken/worker-host.js': script("throw new Error('not today');"),
    ...copy('/no-engine'),
    '/no-engine/worker-host.js': script(text('dist/worker-host.js')),
    '/no-engine/index.js': script(text('dist/index.js')),
    '/no-engine/core.js': script(text('dist/core.js')),
    '/serving.js': script(serving),
    '/nesting.js': script(nesting),
    '/gate': gate,
    ...copy('/held'),
    '/held/worker-host.js': script(held),
    '/my-worker.js': script(guideWorker),
  });
});
after(() => pages?.close());

const imports = `
  import { init, QkvError, serve } from '/dist/worker.js';
  import { problem, randomArray } from '/support/arrays.js';
  const x = randomArray([1, 1, 2, 4], 1);
`;

const sameBits = (options) => `
  import * as main from '/dist/index.js';
  import { init } from '/dist/worker.js';
  import { everything } from '/support/everything.js';
  const { workers, ...rest } = ${JSON.stringify(options)};
  const engine = await init({ workers, ...rest });
  const expected = await everything(await main.init(rest));
  const actual = await everything(engine);
  const differ = Object.keys({ ...expected, ...actual }).filter(
    (name) => String(bits(actual[name])) !== String(bits(expected[name])),
  );
  report({ info: engine.info, differ, compared: Object.keys(expected).length, gelu: bits(actual['gelu 14']) });
`;

for (const options of [{}, { workers: 2, deterministic: true }]) {
  test(`worker in Chromium: every method gives the bits of the main thread, ${JSON.stringify(options)}`, async () => {
    const report = await pages.run(sameBits(options));
    assert.deepEqual(report.differ, []);
    assert.ok(report.compared > 35);
    assert.equal(report.info.workers, options.workers ?? 1);
    assert.equal(report.info.variant, options.deterministic ? 'simd' : 'relaxed');
  });
}

test('worker in Chromium: a strict policy is enough: own scripts and workers, WebAssembly, own server', async () => {
  const report = await pages.run(sameBits({ workers: 2 }), { policy: strictPolicy });
  assert.deepEqual(report.differ, []);
});

test('worker in Chromium: a trainer makes the steps of the page, under a strict policy, and pauses', async () => {
  const report = await pages.run(
    `
    import * as main from '/dist/train.js';
    import { init } from '/dist/worker.js';
    const config = { vocabulary: 9, numLayers: 1, dModel: 16, numHeads: 2, dFeedForward: 24, maxLength: 8 };
    const ids = (step) => Array.from({ length: 16 }, (_, i) => (i + step) % 9);
    const batches = (step) => ({ ids: ids(step), targets: ids(step + 1), batch: 2 });
    const trainer = await (await init({ train: true })).languageModel(config);
    const told = [];
    const run = trainer.run({ batches, steps: 60, every: 20, onStep: ({ step }) => told.push(step) });
    await trainer.pause();
    const halted = trainer.steps;
    await trainer.resume();
    await run;
    const here = (await main.init()).languageModel(config);
    for (let step = 1; step <= 60; ++step) here.step(batches(step));
    const [far, near] = [await trainer.save({ optimizer: true }), here.save({ optimizer: true })];
    report({ same: String(far) === String(near), last: told.at(-1), halted });
  `,
    { policy: strictPolicy },
  );
  assert.ok(report.halted <= 60);
  assert.deepEqual([report.same, report.last], [true, 60]);
});

describe('worker in Chromium: one that cannot start is named, and what to do:', () => {
  const refusal = async (path, options = {}, initOptions = '') => {
    const [first, second] = await pages.look(
      `
      import { init } from '${path}';
      report([await attempt(() => init(${initOptions})), await attempt(() => init(${initOptions}))]);
    `,
      options,
    );
    assert.deepEqual(second, first);
    assert.deepEqual([first.error?.name, first.error?.code], ['QkvError', 'load_failed']);
    assert.match(first.error.message, /^init: .*expected/);
    return first.error.message;
  };

  for (const folder of ['missing', 'page', 'broken']) {
    test(`a script that is ${folder}`, async () => {
      const message = await refusal(`/${folder}/worker.js`);
      assert.ok(message.includes(`${pages.url}/${folder}/worker-host.js`), message);
      assert.match(message, /could not be loaded/);
      assert.match(message, /init\(\{ worker \}\)/);
      if (folder === 'broken') assert.match(message, /not today/);
    });
  }

  test('a policy that forbids workers', async () => {
    const policy = strictPolicy.replace("worker-src 'self'", "worker-src 'none'");
    const message = await refusal('/dist/worker.js', { policy });
    assert.ok(message.includes(`${pages.url}/dist/worker-host.js`), message);
    assert.match(message, /worker-src/);
  });

  test('a script of another origin', async () => {
    const elsewhere = pages.url.replace('127.0.0.1', 'localhost');
    const message = await refusal(`${elsewhere}/shared/worker.js`);
    assert.ok(message.includes(`${elsewhere}/shared/worker-host.js`), message);
    assert.match(message, /on the origin of the page/);
  });

  test('a worker without its .wasm says what the main thread would', async () => {
    const message = await refusal('/no-engine/worker.js');
    assert.ok(message.includes(`${pages.url}/no-engine/qkv-relaxed.wasm answered 404`), message);
  });

  test('an address that is relative to the page', async () => {
    const message = await refusal('/dist/worker.js', {}, "{ wasm: 'nowhere.wasm' }");
    assert.ok(message.includes(`${pages.url}/nowhere.wasm answered 404`), message);
  });
});

/** For a page whose calls of attention() wait at the gate. */
const heldImports = imports.replace('/dist/worker.js', '/held/worker.js');

/** What the page may ask for: that so many calls wait, and that all of them go on. */
const keeper = {
  async prepare(tab) {
    waiting.length = 0;
    const arrived = (calls) =>
      until(
        () => waiting.length >= calls,
        () => `${calls} calls wait, of which there are ${waiting.length}`,
      );
    await tab.exposeFunction('arrived', arrived);
    await tab.exposeFunction('open', () => waiting.splice(0).forEach((letThrough) => letThrough()));
  },
};

test('worker in Chromium: a page that imports the scripts of workers listens to no message', async () => {
  const heard = await pages.run(`
    const heard = [];
    const { addEventListener } = window;
    window.addEventListener = (type, ...rest) => {
      heard.push(type);
      addEventListener.call(window, type, ...rest);
    };
    try {
      await import('/dist/worker-host.js');
      await import('/dist/thread.js');
    } catch ({ message }) {
      heard.push(message);
    }
    window.addEventListener = addEventListener;
    report(heard);`);
  assert.deepEqual(heard, []);
});

test('worker in Chromium: two workers run at the same time, and the page meanwhile', async () => {
  const report = await pages.run(
    `
    ${heldImports}
    const engine = await init({ workers: 2 });
    const slow = engine.attention(x, x, x);
    await arrived(1);
    const quick = await Promise.all([engine.gelu(x), engine.gelu(x)]);
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await open();
    report([(await slow).output, ...quick].map(({ data }) => data.length));
  `,
    keeper,
  );
  assert.deepEqual(report, [8, 8, 8]);
});

test('worker in Chromium: calls are given up, while they run and while they wait', async () => {
  const report = await pages.run(
    `
    ${heldImports}
    const engine = await init();
    const cache = await engine.kvCache({ numKvHeads: 1, capacity: 9, dK: 4 });
    const controller = new AbortController();
    const { signal } = controller;
    const running = attempt(() => engine.attention(x, x, x, { signal }));
    const waiting = attempt(() => cache.append(x, x, { signal }));
    await arrived(1);
    controller.abort();
    const aborted = [await running, await waiting].map(({ error }) => error.name);
    const late = await attempt(() => engine.gelu(x, { signal }));
    await open();
    report({ aborted, late: late.error.name, length: (await cache.keys()).shape[2] });
  `,
    keeper,
  );
  assert.deepEqual(report, {
    aborted: ['AbortError', 'AbortError'],
    late: 'AbortError',
    length: 0,
  });
});

describe("worker in Chromium: a worker of the user's own", () => {
  test('serves, with messages of its own', async () => {
    const report = await pages.run(`
      ${imports}
      const worker = new Worker('/serving.js', { type: 'module' });
      const engine = await init({ worker });
      const heard = [];
      worker.addEventListener('message', ({ data }) => {
        if (!data?.['qkv/worker']) heard.push(data);
      });
      worker.postMessage('ping');
      const { data } = await engine.gelu(x);
      await engine.dispose();
      const after = await attempt(() => engine.gelu(x));
      const again = await init({ worker });
      report({ heard, length: data.length, code: after.error.code, workers: again.info.workers });
    `);
    assert.deepEqual(report, { heard: ['pong'], length: 8, code: 'disposed', workers: 1 });
  });

  for (const [how, end] of [
    ['is terminated', 'worker.terminate()'],
    ['closes itself', "worker.postMessage('end')"],
  ]) {
    test(`that ${how} rejects what is under way`, async () => {
      const report = await pages.run(`
        ${imports}
        const worker = new Worker('/serving.js', { type: 'module' });
        const engine = await init({ worker });
        const long = randomArray([1, 4, 1000, 64], 2);
        ${how.startsWith('is') ? '' : end};
        const calls = [attempt(() => engine.attention(long, long, long)), attempt(() => engine.gelu(x))];
        ${how.startsWith('is') ? end : ''};
        report((await Promise.all(calls)).map(({ error }) => error));
      `);
      for (const { code, message } of report) {
        assert.equal(code, 'load_failed');
        assert.match(message, /has ended/);
      }
    });
  }

  test('is as easy as the guide says', async () => {
    assert.match(guideWorker, /serve\(self, init\)/);
    const report = await pages.run(`${guidePage} report([...(await qkv.alibiSlopes(2))]);`);
    assert.deepEqual(report, [0.0625, 0.00390625]);
  });
});

test('worker in Chromium: a worker may start workers', async () => {
  const [workers, data] = await pages.run(
    `
    const worker = new Worker('/nesting.js', { type: 'module' });
    worker.onmessage = ({ data: [workers, data] }) => report([workers, bits({ data })]);
  `,
    { policy: strictPolicy },
  );
  assert.equal(workers, 2);
  const expected = (await main.init({ deterministic: true })).gelu(randomArray([1, 1, 2, 4], 1));
  expectSame(new Float32Array(Uint32Array.from(data).buffer), expected.data);
});
