// @build any
// The package in WebKitGTK, whose engine is Safari's: the build it chooses, numbers, workers, models, policies and errors. Its bits are
// compared in tests/package/determinism.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { randomArray } from '../../support/js/arrays.js';
import { expectSame } from '../../support/js/check.js';
import { strictPolicy } from '../../support/js/chromium.js';
import { compute } from '../../support/js/compute.js';
import { packageJson, read, text, wasmFile, withVersion } from '../../support/js/files.js';
import { inFullRun } from '../../support/js/full.js';
import { startPages } from '../../support/js/pages.js';
import { answer, serve } from '../../support/js/server.js';
import { launchWebKit, noWebKit } from '../../support/js/webdriver.js';

const austen = 'models/austen/austen.safetensors';
const worker = `
  import { init } from '/dist/index.js';
  import { compute } from '/support/compute.js';
  const engine = await init();
  const { output } = compute(engine);
  postMessage(output, [output.data.buffer]);
  postMessage([engine.memory().handles, output.data.length]);
`;
const script = (name) => answer(text(`dist/${name}`), 'text/javascript');

let pages;
const floats = (bits) => new Float32Array(Uint32Array.from(bits).buffer);

/** A test of a browser that not every machine has. */
const webKitTest = (title, body) =>
  test(`package in WebKitGTK: ${title}`, { skip: noWebKit }, body);

function register() {
  before(async () => {
    if (noWebKit) return;
    const routes = {
      '/worker.js': answer(worker, 'text/javascript'),
      [`/${austen}`]: answer(read(austen), 'application/octet-stream'),
      '/page.wasm': answer('<!doctype html><title>App</title>', 'text/html'),
      '/old.wasm': answer(withVersion('0.0.9', wasmFile('simd')), 'application/wasm'),
      '/plain.wasm': answer(wasmFile('simd'), 'application/octet-stream'),
      ...Object.fromEntries(
        ['index.js', 'core.js', 'errors.js'].map((name) => [`/alone/${name}`, script(name)]),
      ),
    };
    pages = await startPages(routes, { launch: launchWebKit });
  });
  after(() => pages?.close());

  webKitTest(
    'init() picks the simd build, fetches that one alone, and starts no thread',
    async () => {
      const start = pages.requests.length;
      const report = await pages.run(
        `
      import { init } from '/dist/index.js';
      const { info } = await init({ threads: 4 });
      report({ ...info, shared: typeof SharedArrayBuffer });
    `,
        { isolated: true },
      );
      assert.equal(report.shared, 'undefined', 'with shared memory there is more to test');
      assert.deepEqual([report.variant, report.threads], ['simd', 1]);
      const fetched = pages.requests.slice(start).filter((path) => path.endsWith('.wasm'));
      assert.deepEqual(fetched, ['/dist/qkv-simd.wasm']);
    },
  );

  webKitTest('a module worker computes the bits of Node under a strict policy', async () => {
    const [output, left] = await pages.run(
      `
      const worker = new Worker('/worker.js', { type: 'module' });
      const messages = [];
      worker.onmessage = ({ data }) => {
        if (messages.push(data) === 2) report([bits(messages[0]), messages[1]]);
      };
      worker.onerror = (event) => report(event.message);
    `,
      { policy: strictPolicy },
    );
    assert.deepEqual(left, [0, 0]);
    expectSame(floats(output), compute(await init({ variant: 'simd' })).output.data);
  });

  webKitTest('qkv/worker gives the bits of the main thread in every method', async () => {
    const report = await pages.run(`
      import * as main from '/dist/index.js';
      import { init } from '/dist/worker.js';
      import { everything } from '/support/everything.js';
      const engine = await init({ workers: 2 });
      const [expected, actual] = [await everything(await main.init()), await everything(engine)];
      const differ = Object.keys({ ...expected, ...actual }).filter(
        (name) => String(bits(actual[name])) !== String(bits(expected[name])),
      );
      report({ differ, compared: Object.keys(expected).length, workers: engine.info.workers });
    `);
    assert.deepEqual(report.differ, []);
    assert.ok(report.compared > 35);
    assert.equal(report.workers, 2);
  });

  webKitTest('results and tensors survive growth of the memory', async () => {
    const report = await pages.run(`
      import { init } from '/dist/index.js';
      import { randomArray } from '/support/arrays.js';
      const engine = await init();
      const x = randomArray([1, 2, 9, 8], 3);
      const tensor = engine.tensor(x.shape, x.data);
      const stale = tensor.view();
      const before = engine.memory().heapBytes;
      const large = randomArray([1, 1, 300_000, 4], 4);
      engine.attention(randomArray([1, 1, 1, 4], 5), large, large);
      report({
        grew: engine.memory().heapBytes > before,
        stale: stale.length,
        fresh: bits(tensor.toNdArray()),
      });
    `);
    assert.ok(report.grew);
    assert.equal(report.stale, 0);
    expectSame(floats(report.fresh), randomArray([1, 2, 9, 8], 3).data);
  });

  webKitTest('a model generates the text that it generates in Node', async () => {
    const options = { maxTokens: 40, temperature: 0 };
    const inPage = await pages.run(`
      import { init } from '/dist/index.js';
      import { load } from '/dist/models.js';
      const weights = await (await fetch('/${austen}')).blob();
      const model = await load(await init(), { weights });
      let said = '';
      for await (const { text } of model.generate('She was', ${JSON.stringify(options)})) said += text;
      report(said);
    `);
    const model = await load(await init({ variant: 'simd' }), {
      weights: new Blob([read(austen)]),
    });
    let inNode = '';
    for await (const { text: more } of model.generate('She was', options)) inNode += more;
    assert.equal(inPage.length, 40);
    assert.equal(inPage, inNode);
  });

  webKitTest('the right bytes work with any type, from a relative URL and a Response', async () => {
    const variants = await pages.run(`
      import { init } from '/dist/index.js';
      const sources = ['plain.wasm', new URL('/plain.wasm', location.href), fetch('/dist/qkv-simd.wasm')];
      const engines = await Promise.all(sources.map((wasm) => init({ wasm })));
      report(engines.map(({ info }) => info.variant));
    `);
    assert.deepEqual(variants, ['simd', 'simd', 'simd']);
  });

  webKitTest('what cannot be loaded is refused, with its address and what to do', async () => {
    const gone = await serve(() => undefined);
    await gone.close();
    const noWebAssembly = "default-src 'none'; script-src 'self'; connect-src 'self'";
    for (const [words, ...what] of [
      [`${pages.url}/alone/qkv-simd.wasm answered 404 (text/html)`, '/alone/index.js'],
      [`${pages.url}/page.wasm (200, text/html)`, '/dist/index.js', "{ wasm: '/page.wasm' }"],
      [
        `${gone.url}/qkv.wasm could not be read`,
        '/dist/index.js',
        `{ wasm: '${gone.url}/qkv.wasm' }`,
      ],
      [packageJson.version, '/dist/index.js', "{ wasm: '/old.wasm' }"],
      ["add 'wasm-unsafe-eval' to script-src", '/dist/index.js', '', { policy: noWebAssembly }],
    ]) {
      const message = await pages.refusal(...what);
      assert.ok(message.includes(words), message);
    }
  });
}

inFullRun('the package in WebKitGTK', register);
