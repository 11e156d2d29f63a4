// @build any
// qkv/spectra in Chromium: the bits of Node, below a strict policy.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { init } from 'qkv/spectra';
import { randomArray } from '../../support/js/arrays.js';
import { strictPolicy } from '../../support/js/chromium.js';
import { startPages } from '../../support/js/pages.js';

let pages;
before(async () => {
  pages = await startPages({});
});
after(() => pages?.close());

const [left, right] = [randomArray([20, 5], 1), randomArray([20, 5], 2)];
const compute = (spectra, a, b) => {
  const options = { transposed: true };
  const { real, imaginary } = spectra.eigenvalues(a, b, options);
  const { left: vectors } = spectra.singularValues(a, b, { ...options, vectors: true });
  const { projections } = spectra.pca(a, { count: 3 });
  return [real, imaginary, vectors, projections].flatMap(({ data }) => [...data]);
};

test('spectra in Chromium: a page gets the bits of Node, and fetches one .wasm', async () => {
  const spectra = await init();
  const expected = compute(spectra, left, right);
  spectra.dispose();
  const plain = ({ data, shape }) => JSON.stringify({ data: [...data], shape });
  const started = pages.requests.length;
  const report = await pages.run(
    `
    import { init } from '/dist/spectra.js';
    const read = ({ data, shape }) => ({ data: Float32Array.from(data), shape });
    const compute = ${compute};
    const spectra = await init();
    report({ numbers: compute(spectra, read(${plain(left)}), read(${plain(right)})) });
  `,
    { policy: strictPolicy },
  );
  assert.deepEqual(report.numbers, expected);
  const fetched = pages.requests.slice(started).filter((path) => path.endsWith('.wasm'));
  assert.deepEqual(fetched, ['/dist/qkv-spectra-simd.wasm']);
});
