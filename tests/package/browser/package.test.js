// @build any
// The package in Chromium.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { checkpoint, checkpointConfig } from '../../support/js/checkpoints.js';
import { apart } from '../../support/js/apart.js';
import { problem } from '../../support/js/arrays.js';
import { launch, strictPolicy } from '../../support/js/chromium.js';
import { options, sizes } from '../../support/js/compute.js';
import { allResults, expectResults } from '../../support/js/expect-results.js';
import { rowsOf } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import * as oracle from '../../support/js/oracle.js';
import { floats, packageTests } from './package-tests.js';

const of = packageTests('Chromium', {
  launch: () => launch({ args: ['--js-flags=--expose-gc'] }),
  variant: 'relaxed',
});

/** Of a model that loads at once. */
const config = checkpointConfig({
  ...{ vocabulary: 19, numLayers: 2, dModel: 16, numHeads: 4, dFeedForward: 24, maxLength: 30 },
});

// Those of the simd build are compared with Node's in tests/package/determinism.
test('package in Chromium: relaxed numbers are within the bounds of the formula, under a strict policy', async () => {
  const { isa, results } = await of.pages.run(
    `import { init } from '/dist/index.js';
    import { compute } from '/support/compute.js';
    const engine = await init({ variant: 'relaxed' });
    const all = Object.entries(compute(engine)).map(([name, array]) => [name, bits(array)]);
    report({ isa: engine.info.isa, results: Object.fromEntries(all) });`,
    { policy: strictPolicy },
  );
  assert.equal(isa, 'wasm-relaxed-simd');
  const { q, k, v } = problem(sizes);
  const actual = Object.fromEntries(
    allResults.map((name) => [name, { data: floats(results[name]) }]),
  );
  expectResults(actual, oracle.attention(q, k, v, options), sizes.tk, { asked: allResults });
});

test('package in Chromium: loads of Blobs end, whatever the collector takes meanwhile', async () => {
  const weights = await checkpoint(config).arrayBuffer();
  const loads = await of.pages.run(`
    import { init } from '/dist/index.js';
    import { load } from '/dist/models.js';
    const bytes = Uint8Array.from(${JSON.stringify(Array.from(new Uint8Array(weights)))});
    const engine = await init();
    let loads = 0;
    const collecting = setInterval(gc);
    setTimeout(() => report(loads + ' of 100 loads have ended'), 30000);
    for (; loads < 100; ++loads) {
      // Given up as often as not, which leaves streams behind that were not read to their ends.
      const stop = new AbortController();
      const onProgress = () => loads % 2 && stop.abort();
      const weights = new Blob([bytes]);
      const model = await load(engine, { weights }, { signal: stop.signal, onProgress }).catch(
        ({ name }) => (name === 'AbortError' ? undefined : report(name)),
      );
      model?.dispose();
    }
    clearInterval(collecting);
    report(loads);
  `);
  assert.equal(loads, 100);
});

test('package in Chromium: a model is taken apart with the bits of Node, in the page and in a worker', async () => {
  const weights = await checkpoint(config, randomWeights(config, 11)).arrayBuffer();
  const clean = rowsOf(config, 9);
  const prompts = [clean, clean.with(3, (clean[3] + 1) % 19)];
  const report = await of.pages.run(`
    import { init } from '/dist/index.js';
    import { load } from '/dist/models.js';
    import { init as initAway } from '/dist/worker.js';
    import { apart } from '/support/apart.js';
    const weights = Uint8Array.from(${JSON.stringify(Array.from(new Uint8Array(weights)))}).buffer;
    const here = await load(await init({ deterministic: true }), { weights });
    const away = await initAway({ deterministic: true, models: true });
    const there = await away.loadModel({ weights });
    const prompts = ${JSON.stringify(prompts)};
    const both = [await apart(here, ...prompts), await apart(there, ...prompts)];
    await away.dispose();
    report(both);
  `);
  const engine = await init({ deterministic: true });
  const expected = await apart(await load(engine, { weights }), ...prompts);
  engine.dispose();
  assert.ok(expected.length > 1000);
  assert.deepEqual(report, [expected, expected]);
});
