// The 3 x 2 example that tutorials work through, with its arithmetic right: they print q1.k1 = 0.14, and it
// is 0.1 * 0.7 + 0.2 * 0.8 = 0.07 + 0.16 = 0.23. Every step is computed by plain loops in float64, compared
// with digits that can be checked by hand, and asked of the package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { expectClose } from '../../support/js/check.js';
import { u } from '../../support/js/oracle.js';

const engine = await init();

const q = [
  [0.1, 0.2],
  [0.3, 0.4],
  [0.5, 0.6],
];
const k = [
  [0.7, 0.8],
  [0.9, 1.0],
  [1.1, 1.2],
];
const v = [
  [1.3, 1.4],
  [1.5, 1.6],
  [1.7, 1.8],
];

/** The steps for each query: products, scaled scores, weights and output. */
function workOut(causal) {
  const steps = { products: [], scaled: [], weights: [], output: [] };
  for (let i = 0; i < 3; ++i) {
    const [products, scaled, weights, output] = [[], [], [0, 0, 0], [0, 0]];
    const keys = causal ? i + 1 : 3;
    let sum = 0;
    for (let j = 0; j < 3; ++j) {
      products[j] = q[i][0] * k[j][0] + q[i][1] * k[j][1];
      scaled[j] = products[j] / Math.sqrt(2);
      if (j < keys) sum += Math.exp(scaled[j]);
    }
    for (let j = 0; j < keys; ++j) {
      weights[j] = Math.exp(scaled[j]) / sum;
      output[0] += weights[j] * v[j][0];
      output[1] += weights[j] * v[j][1];
    }
    Object.entries({ products, scaled, weights, output }).forEach(([n, row]) => steps[n].push(row));
  }
  return steps;
}

// prettier-ignore
const printed = {
  products: [0.23, 0.29, 0.35,
             0.53, 0.67, 0.81,
             0.83, 1.05, 1.27],
  scaled: [0.16263456, 0.20506097, 0.24748737,
           0.37476659, 0.47376154, 0.57275649,
           0.58689863, 0.74246212, 0.89802561],
  weights: [0.31929539, 0.33313342, 0.34757118,
            0.30093191, 0.33224711, 0.36682098,
            0.28302325, 0.33066062, 0.38631613],
  output: [1.50565516, 1.60565516,
           1.51317781, 1.61317781,
           1.52065858, 1.62065858],
};
// prettier-ignore
const printedCausal = {
  weights: [1, 0, 0,
            0.47527145, 0.52472855, 0,
            0.28302325, 0.33066062, 0.38631613],
  output: [1.3, 1.4,
           1.40494571, 1.50494571,
           1.52065858, 1.62065858],
};
const lastDigit = 0.5001e-8;

// The documented bounds with dK = 2 and Tk = 3. The inputs are float32, and 0.1 is not one: rounding q and k
// moves a score by 2 u A, and the weights and outputs by twice that. A = 1.27 is the largest product, and
// also bounds the scaled ones; the largest value is 1.8.
const A = 1.27;
const scoreBound = u * (2 + 16 + 2) * A;
const weightBound = u * (2 * (2 + 16 + 2) * A + 3 + 40);
const outputBound = u * 1.8 * (2 * (2 + 16 + 2) * A + 3 * 3 + 40 + 1);

const array = (rows) => ({ data: Float32Array.from(rows.flat()), shape: [3, 2] });
const attend = (options) =>
  engine.attention(array(q), array(k), array(v), { numHeads: 1, ...options });

test('worked example: q1.k1 is 0.23, not 0.14', () => {
  const [[exact]] = workOut(false).products;
  assert.ok(Math.abs(exact - 0.23) < 1e-15);
  assert.ok(Math.abs(exact - 0.14) > 0.08);
  const [computed] = attend({ scale: 1, returnLogits: 'raw' }).logits.data;
  assert.ok(Math.abs(computed - 0.23) <= scoreBound, `q1.k1 is ${computed}`);
  assert.ok(Math.abs(computed - 0.14) > 0.08, `q1.k1 is ${computed}`);
});

test('worked example: products and scaled scores', () => {
  const { products, scaled } = workOut(false);
  expectClose(products.flat(), printed.products, lastDigit);
  expectClose(scaled.flat(), printed.scaled, lastDigit);
  const raw = attend({ scale: 1, returnLogits: 'raw' });
  expectClose(raw.logits.data, products.flat(), scoreBound, { what: 'product' });
  const { logits } = attend({ returnLogits: 'raw' });
  expectClose(logits.data, scaled.flat(), scoreBound, { what: 'scaled score' });
});

for (const causal of [false, true]) {
  test(`worked example: weights and output${causal ? ', causal' : ''}`, () => {
    const { weights, output } = workOut(causal);
    const digits = causal ? printedCausal : printed;
    expectClose(weights.flat(), digits.weights, lastDigit);
    expectClose(output.flat(), digits.output, lastDigit);
    const result = attend({ causal, returnWeights: true });
    expectClose(result.weights.data, weights.flat(), weightBound, { what: 'weight' });
    expectClose(result.output.data, output.flat(), outputBound, { what: 'output' });
    if (!causal) return;
    // The first query reads the first key alone, and nothing of the others.
    assert.deepEqual([...result.output.data.subarray(0, 2)], [1.3, 1.4].map(Math.fround));
    for (const at of [1, 2, 5]) assert.equal(result.weights.data[at], 0);
  });
}
