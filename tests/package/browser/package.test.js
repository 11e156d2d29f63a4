// @build any
// The package in Chromium: the same numbers as in Node, errors that say what to do, strict policies,
// workers.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv';
import { problem, randomArray } from '../../support/js/arrays.js';
import { expectSame } from '../../support/js/check.js';
import { strictPolicy } from '../../support/js/chromium.js';
import { compute, options, sizes } from '../../support/js/compute.js';
import { allExtras, allResults, expectResults } from '../../support/js/expect-results.js';
import { packageJson, text, wasmFile, withVersion } from '../../support/js/files.js';
import * as oracle from '../../support/js/oracle.js';
import { startPages } from '../../support/js/pages.js';
import { answer, serve } from '../../support/js/server.js';

const worker = `
  import { init } from '/dist/index.js';
  import { compute } from '/support/compute.js';
  const engine = await init({ deterministic: true });
  const { output } = compute(engine);
  postMessage(output, [output.data.buffer]);
  postMessage([engine.memory().handles, output.data.length]);
`;

let pages;
before(async () => {
  pages = await startPages({
    '/nothing-beside/index.js': answer(text('dist/index.js'), 'text/javascript'),
    '/nothing-beside/core.js': answer(text('dist/core.js'), 'text/javascript'),
    '/nothing-beside/errors.js': answer(text('dist/errors.js'), 'text/javascript'),
    '/page.wasm': answer('<!doctype html><title>App</title>', 'text/html'),
    '/page-as-wasm.wasm': answer('<!doctype html><title>App</title>', 'application/wasm'),
    '/old.wasm': answer(withVersion('0.0.9', wasmFile('simd')), 'application/wasm'),
    '/plain.wasm': answer(wasmFile('simd'), 'application/octet-stream'),
    '/worker.js': answer(worker, 'text/javascript'),
  });
});
after(() => pages?.close());

const floats = (bits) => new Float32Array(Uint32Array.from(bits).buffer);
const inNode = async () => compute(await init({ deterministic: true }));

test('package in Chromium: init() picks the relaxed build, and fetches that one alone', async () => {
  const before = pages.requests.length;
  const report = await pages.run(`
    import { init } from '/dist/index.js';
    const [one, other] = await Promise.all([init(), init()]);
    one.dispose();
    report({ info: other.info, handles: other.memory().handles });
  `);
  assert.equal(report.info.variant, 'relaxed');
  assert.equal(report.info.isa, 'wasm-relaxed-simd');
  assert.equal(report.handles, 0);
  const fetched = pages.requests.slice(before).filter((path) => path.endsWith('.wasm'));
  assert.deepEqual(fetched, ['/dist/qkv-relaxed.wasm']);
});

describe('package in Chromium: the numbers', () => {
  const inChromium = (initOptions) =>
    pages.run(`
      import { init } from '/dist/index.js';
      import { compute } from '/support/compute.js';
      const engine = await init(${JSON.stringify(initOptions)});
      const results = compute(engine);
      const all = Object.entries(results).map(([name, array]) => [name, bits(array)]);
      report({ variant: engine.info.variant, results: Object.fromEntries(all) });
    `);

  test('of the simd build are those of Node, bit for bit', async () => {
    const { variant, results } = await inChromium({ deterministic: true });
    assert.equal(variant, 'simd');
    const expected = await inNode();
    assert.deepEqual(Object.keys(results).sort(), Object.keys(expected).sort());
    for (const [name, bits] of Object.entries(results))
      expectSame(floats(bits), expected[name].data, name);
  });

  for (const variant of ['simd', 'relaxed']) {
    test(`of the ${variant} build are within the bounds of the formula`, async () => {
      const report = await inChromium({ variant });
      assert.equal(report.variant, variant);
      const { results } = report;
      const { q, k, v } = problem(sizes);
      const exact = oracle.attention(q, k, v, options);
      const actual = Object.fromEntries(
        allResults.map((name) => [name, { data: floats(results[name]) }]),
      );
      expectResults(actual, exact, sizes.tk, { asked: allResults });
    });
  }
});

describe('package in Chromium: errors', () => {
  test('a .wasm that is not beside the module is named with its status, and where it should be', async () => {
    const message = await pages.refusal('/nothing-beside/index.js');
    assert.ok(
      message.includes(`${pages.url}/nothing-beside/qkv-relaxed.wasm answered 404 (text/html)`),
    );
    assert.match(message, /in the folder of its index\.js/);
  });

  test('a page instead of the .wasm is shown, with its type', async () => {
    const message = await pages.refusal('/dist/index.js', "{ wasm: '/page.wasm' }");
    assert.ok(message.includes(`${pages.url}/page.wasm (200, text/html)`), message);
    assert.match(message, /<!doctype/);
  });

  test('a server that is not there is named', async () => {
    const gone = await serve(() => undefined);
    await gone.close();
    const message = await pages.refusal('/dist/index.js', `{ wasm: '${gone.url}/qkv.wasm' }`);
    assert.ok(message.includes(`${gone.url}/qkv.wasm could not be read`), message);
  });

  test('a policy that forbids WebAssembly is told as such', async () => {
    const policy = "default-src 'none'; script-src 'self'; connect-src 'self'";
    const message = await pages.refusal('/dist/index.js', '', { policy });
    assert.match(message, /does not compile .*(unsafe-eval|Content Security Policy)/);
    assert.match(message, /expected .*; add 'wasm-unsafe-eval' to script-src/);
  });

  test('a page served with the type of a .wasm is told where the file should be', async () => {
    const message = await pages.refusal('/dist/index.js', "{ wasm: '/page-as-wasm.wasm' }");
    assert.ok(message.includes(`${pages.url}/page-as-wasm.wasm does not compile`), message);
    assert.match(message, /in the folder of its index\.js/);
  });

  test('the .wasm of another version is named with both versions', async () => {
    const message = await pages.refusal('/dist/index.js', "{ wasm: '/old.wasm' }");
    assert.match(message, /version 0\.0\.9 .*an old copy or cache/);
    assert.ok(message.includes(packageJson.version), message);
  });
});

test('package in Chromium: the right bytes work with any type, from a relative URL and a Response', async () => {
  const variants = await pages.run(`
    import { init } from '/dist/index.js';
    const sources = ['plain.wasm', new URL('/plain.wasm', location.href), fetch('/dist/qkv-relaxed.wasm')];
    const engines = await Promise.all(sources.map((wasm) => init({ wasm })));
    report(engines.map(({ info }) => info.variant));
  `);
  assert.deepEqual(variants, ['simd', 'simd', 'relaxed']);
});

test('package in Chromium: a strict policy is enough: own scripts, WebAssembly, own server', async () => {
  const script = `
    import { init } from '/dist/index.js';
    import { compute } from '/support/compute.js';
    const engine = await init();
    report([engine.info.variant, compute(engine).output.shape]);
  `;
  const [variant, shape] = await pages.run(script, { policy: strictPolicy });
  assert.equal(variant, 'relaxed');
  assert.deepEqual(shape, [2, 6, 65, 9]);
});

test('package in Chromium: a module worker computes, and transfers its results', async () => {
  const [output, [handles, left]] = await pages.run(`
    const worker = new Worker('/worker.js', { type: 'module' });
    const messages = [];
    worker.onmessage = ({ data }) => {
      if (messages.push(data) === 2) report([bits(messages[0]), messages[1]]);
    };
    worker.onerror = (event) => report(event.message);
  `);
  assert.deepEqual([handles, left], [0, 0]);
  expectSame(floats(output), (await inNode()).output.data);
});

test('package in Chromium: results and tensors survive growth of the memory', async () => {
  const report = await pages.run(`
    import { init } from '/dist/index.js';
    import { randomArray } from '/support/arrays.js';
    const engine = await init();
    const x = randomArray([1, 2, 9, 8], 3);
    const tensor = engine.tensor(x.shape, x.data);
    const first = engine.attention(tensor, x, x).output;
    const kept = bits(first);
    const stale = tensor.view();
    const before = engine.memory().heapBytes;
    const large = randomArray([1, 1, 300_000, 4], 4);
    engine.attention(randomArray([1, 1, 1, 4], 5), large, large);
    report({
      grew: engine.memory().heapBytes > before,
      stale: stale.length,
      fresh: bits(tensor.toNdArray()),
      view: Array.from(tensor.view().slice(0, 3)),
      same: String(bits(first)) === String(kept) && String(bits(engine.attention(x, x, x).output)) === String(kept),
    });
  `);
  const x = randomArray([1, 2, 9, 8], 3);
  assert.ok(report.grew);
  assert.equal(report.stale, 0);
  expectSame(floats(report.fresh), x.data);
  assert.deepEqual(report.view, [...x.data.slice(0, 3)]);
  assert.ok(report.same);
});

test('package in Chromium: extras, refusals and dispose() are as they are in Node', async () => {
  const { q, k, v } = problem();
  const expected = (await init({ deterministic: true })).attention(q, k, v, allExtras);
  const report = await pages.run(`
    import { init, QkvError } from '/dist/index.js';
    import { problem } from '/support/arrays.js';
    const engine = await init({ variant: 'simd' });
    const { q, k, v } = problem();
    const out = engine.tensor(q.shape);
    const result = engine.attention(q, k, v, { out, ...${JSON.stringify(allExtras)} });
    const refused = await attempt(() => engine.attention(q, k, v, { casual: true }));
    const { handles } = engine.memory();
    out.dispose();
    engine.dispose();
    const gone = await attempt(() => engine.tensor([1]));
    report({ entropy: bits(result.entropy), names: Object.keys(result), refused, gone, handles });
  `);
  expectSame(floats(report.entropy), expected.entropy.data);
  assert.deepEqual(report.names.sort(), ['entropy', 'lse', 'weights']);
  assert.equal(report.refused.error.code, 'invalid_argument');
  assert.equal(report.gone.error.code, 'disposed');
  assert.equal(report.handles, 1);
});
