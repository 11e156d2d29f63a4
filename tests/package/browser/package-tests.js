// What every browser shows of the package: the same numbers as in Node, errors that say what to do, strict policies, workers.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv';
import { problem, randomArray } from '../../support/js/arrays.js';
import { expectSame } from '../../support/js/check.js';
import { strictPolicy } from '../../support/js/chromium.js';
import { compute } from '../../support/js/compute.js';
import { allExtras } from '../../support/js/expect-results.js';
import { packageJson, text, wasmFile, withVersion } from '../../support/js/files.js';
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

/** Numbers that a page has reported with bits(). */
export const floats = (bits) => new Float32Array(Uint32Array.from(bits).buffer);

/**
 * Tests in a browser, which chooses the build `variant`; `skip` says why it is not on this machine. More tests may use `pages`,
 * which is set before they run, and which serves more `routes`.
 */
export function packageTests(browser, { launch, variant, skip = false, routes = {} }) {
  const of = {};
  const wasm = `qkv-${variant}.wasm`;
  before(async () => {
    if (skip) return;
    const page = '<!doctype html><title>App</title>';
    const alone = ['index.js', 'core.js', 'errors.js'].map((name) => [
      `/alone/${name}`,
      answer(text(`dist/${name}`), 'text/javascript'),
    ]);
    const served = {
      ...Object.fromEntries(alone),
      '/page.wasm': answer(page, 'text/html'),
      '/page-as-wasm.wasm': answer(page, 'application/wasm'),
      '/old.wasm': answer(withVersion('0.0.9', wasmFile('simd')), 'application/wasm'),
      '/plain.wasm': answer(wasmFile('simd'), 'application/octet-stream'),
      '/worker.js': answer(worker, 'text/javascript'),
    };
    of.pages = await startPages({ ...served, ...routes }, { launch });
  });
  after(() => of.pages?.close());
  const title = (what) => `package in ${browser}: ${what}`;

  test(
    title(`init() picks the ${variant} build, and fetches that one alone`),
    { skip },
    async () => {
      const start = of.pages.requests.length;
      const report = await of.pages.run(`
      import { init } from '/dist/index.js';
      const [one, other] = await Promise.all([init(), init()]);
      one.dispose();
      report({ variant: other.info.variant, handles: other.memory().handles });
    `);
      assert.deepEqual(report, { variant, handles: 0 });
      const fetched = of.pages.requests.slice(start).filter((path) => path.endsWith('.wasm'));
      assert.deepEqual(fetched, [`/dist/${wasm}`]);
    },
  );

  test(
    title('a module worker computes the bits of Node under a strict policy'),
    { skip },
    async () => {
      const [output, left] = await of.pages.run(
        `const worker = new Worker('/worker.js', { type: 'module' });
      const messages = [];
      worker.onmessage = ({ data }) => {
        if (messages.push(data) === 2) report([bits(messages[0]), messages[1]]);
      };
      worker.onerror = (event) => report(event.message);`,
        { policy: strictPolicy },
      );
      assert.deepEqual(left, [0, 0]);
      const expected = compute(await init({ deterministic: true })).output.data;
      expectSame(floats(output), expected);
    },
  );

  test(title('results and tensors survive growth of the memory'), { skip }, async () => {
    const report = await of.pages.run(`
      import { init } from '/dist/index.js';
      import { randomArray } from '/support/arrays.js';
      const engine = await init();
      const x = randomArray([1, 2, 9, 8], 3);
      const tensor = engine.tensor(x.shape, x.data);
      const first = engine.attention(tensor, x, x).output;
      const kept = String(bits(first));
      const stale = tensor.view();
      const before = engine.memory().heapBytes;
      const large = randomArray([1, 1, 300_000, 4], 4);
      engine.attention(randomArray([1, 1, 1, 4], 5), large, large);
      report({
        grew: engine.memory().heapBytes > before,
        stale: stale.length,
        fresh: bits(tensor.toNdArray()),
        same: [first, engine.attention(x, x, x).output].every((one) => String(bits(one)) === kept),
      });
    `);
    const { fresh, ...rest } = report;
    assert.deepEqual(rest, { grew: true, stale: 0, same: true });
    expectSame(floats(fresh), randomArray([1, 2, 9, 8], 3).data);
  });

  test(title('extras, refusals and dispose() are as they are in Node'), { skip }, async () => {
    const { q, k, v } = problem();
    const expected = (await init({ deterministic: true })).attention(q, k, v, allExtras);
    const report = await of.pages.run(`
      import { init } from '/dist/index.js';
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
      const codes = [refused, gone].map(({ error }) => error.code);
      report({ entropy: bits(result.entropy), names: Object.keys(result), codes, handles });
    `);
    expectSame(floats(report.entropy), expected.entropy.data);
    assert.deepEqual(report.names.sort(), ['entropy', 'lse', 'weights']);
    assert.deepEqual([report.codes, report.handles], [['invalid_argument', 'disposed'], 1]);
  });

  test(
    title('the right bytes work with any type, from a relative URL and a Response'),
    { skip },
    async () => {
      const variants = await of.pages.run(`
      import { init } from '/dist/index.js';
      const sources = ['plain.wasm', new URL('/plain.wasm', location.href), fetch('/dist/${wasm}')];
      const engines = await Promise.all(sources.map((wasm) => init({ wasm })));
      report(engines.map(({ info }) => info.variant));
    `);
      assert.deepEqual(variants, ['simd', 'simd', variant]);
    },
  );

  describe(
    title('what cannot be loaded is refused, with its address and what to do:'),
    { skip },
    () => {
      const beside = 'in the folder of its index.js';
      const policy = "default-src 'none'; script-src 'self'; connect-src 'self'";
      /** What is wrong, the module, the options, those of the page, and what the message says. */
      const cases = [
      ['nothing beside the module', '/alone/index.js', '', {}, `/alone/${wasm} answered 404 (text/html)`, beside],
      ['a page', '/dist/index.js', "{ wasm: '/page.wasm' }", {}, '/page.wasm (200, text/html)', '<!doctype'],
      ['a page of another type', '/dist/index.js', "{ wasm: '/page-as-wasm.wasm' }", {}, '/page-as-wasm.wasm does not compile', beside],
      ['another version', '/dist/index.js', "{ wasm: '/old.wasm' }", {}, 'version 0.0.9', 'an old copy or cache', packageJson.version],
      ['a policy without WebAssembly', '/dist/index.js', '', { policy }, "add 'wasm-unsafe-eval' to script-src"],
    ]; // prettier-ignore
      for (const [what, module, options, page, ...says] of cases) {
        test(what, async () => {
          const message = await of.pages.refusal(module, options, page);
          for (const words of says) {
            const full = words.startsWith('/') ? `${of.pages.url}${words}` : words;
            assert.ok(message.includes(full), message);
          }
        });
      }

      test('a server that is not there', async () => {
        const gone = await serve(() => undefined);
        await gone.close();
        const message = await of.pages.refusal(
          '/dist/index.js',
          `{ wasm: '${gone.url}/qkv.wasm' }`,
        );
        assert.ok(message.includes(`${gone.url}/qkv.wasm could not be read`), message);
      });
    },
  );
  return of;
}
