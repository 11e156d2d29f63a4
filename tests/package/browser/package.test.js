// @build any
// The package in Chromium.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problem } from '../../support/js/arrays.js';
import { launch, strictPolicy } from '../../support/js/chromium.js';
import { options, sizes } from '../../support/js/compute.js';
import { allResults, expectResults } from '../../support/js/expect-results.js';
import * as oracle from '../../support/js/oracle.js';
import { floats, packageTests } from './package-tests.js';

const of = packageTests('Chromium', { launch, variant: 'relaxed' });

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
