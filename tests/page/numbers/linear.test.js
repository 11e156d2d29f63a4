// The panel linear, in Node: linear attention as a recurrence against its formula with all pairs, windows against softmax in float64,
// and operations against what ran.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { engine, rest, viewOf, web } from '../support/scene.js';

const { modules } = await import('../support/engine.js');
const { linearAttention, linearWeights, costOf, normals, hashText, SHARPNESS } = await modules(
  'features/linear/worker/linear_attention',
  'features/linear/shared/{counts,constants}',
  'engine/random',
);
const [TOKENS, WIDTH] = [64, 16];
const sum = (values) => values.reduce((a, b) => a + b, 0);
const near = (a, b, off) => assert.ok(Math.abs(a - b) <= off, `${a} is not ${b}`);

/** What the panel says it computes with: q, k and v of a seed, [TOKENS, WIDTH]. */
function inputs(seed) {
  const fill = normals(hashText('linear', seed));
  return [1, 2, 3].map(() => {
    const data = new Float32Array(TOKENS * WIDTH);
    fill(data);
    return data;
  });
}
const rowOf = (data, i) => Array.from(data.subarray(i * WIDTH, (i + 1) * WIDTH));
const dot = (a, b) => sum(a.map((value, c) => value * b[c]));

/** The outputs where query i gives key j a share of size(q_i, k_j), in float64, by all pairs. */
function outputsBy([q, k, v], size, first = () => 0) {
  return Array.from({ length: TOKENS }, (_, i) => {
    const keys = Array.from({ length: i + 1 }, (_key, j) => j).slice(Math.max(0, first(i)));
    const sizes = keys.map((j) => size(rowOf(q, i), rowOf(k, j)));
    const all = sum(sizes);
    return Array.from({ length: WIDTH }, (_c, c) =>
      sum(keys.map((j, at) => (sizes[at] / all) * v[j * WIDTH + c])),
    );
  }).flat();
}
const elu1 = (x) => (x > 0 ? x + 1 : Math.exp(x));
const soft = (c) => (q, k) => Math.exp((c * dot(q, k)) / Math.sqrt(WIDTH));
const kernel = (c) => (q, k) =>
  dot(
    q.map((x) => elu1(c * x)),
    k.map(elu1),
  );
const distance = (a, b) =>
  Math.sqrt(sum(a.map((x, i) => (x - b[i]) ** 2)) / sum(b.map((x) => x ** 2)));

describe('linear: numbers', () => {
  for (const [sharpness, window, seed] of [
    [1, 8, 1],
    [8, 1, 2],
    [0.25, 64, 1],
  ]) {
    test(`c = ${sharpness}, w = ${window}: errors of both ways`, () => {
      const asked = { linearSharpness: sharpness, linearWindow: window, linearSeed: seed };
      const { errors, curve } = engine.ask(asked).linear;
      const qkv = inputs(seed);
      const exact = outputsBy(qkv, soft(sharpness));
      const near64 = outputsBy(qkv, soft(sharpness), (i) => i + 1 - window);
      near(errors.window, distance(near64, exact), 1e-5);
      near(errors.linear, distance(outputsBy(qkv, kernel(sharpness)), exact), 1e-5);
      assert.deepEqual(curve[SHARPNESS.indexOf(sharpness)], errors);
    });
  }

  test('a window over all tokens is softmax', () => {
    assert.ok(engine.ask({ linearWindow: TOKENS }).linear.errors.window < 1e-6);
  });

  test('the recurrence gives what all pairs give, and its weights sum to 1', () => {
    const qkv = inputs(3);
    const { output } = linearAttention(qkv, WIDTH, 2);
    outputsBy(qkv, kernel(2)).forEach((value, i) => near(output[i], value, 1e-9));
    const weights = linearWeights(qkv[0].subarray(63 * WIDTH), qkv[1], 63, 2);
    near(sum(weights), 1, 1e-12);
    const shares = Array.from({ length: 64 }, (_, j) =>
      kernel(2)(rowOf(qkv[0], 63), rowOf(qkv[1], j)),
    );
    weights.forEach((weight, j) => near(weight, shares[j] / sum(shares), 1e-12));
  });

  test('operations are those that ran, and of softmax those of all pairs', () => {
    const sizes = { tokens: TOKENS, width: WIDTH, window: 8 };
    assert.equal(engine.ask({}).linear.operations, costOf('linear', sizes).operations);
    let pairs = 0;
    let inWindow = 0;
    for (let i = 0; i < TOKENS; i++)
      for (let j = 0; j <= i; j++) {
        pairs += 1;
        if (i - j < 8) inWindow += 1;
      }
    // A pair is d products and d sums for q·k, and as many to add a share of v.
    assert.equal(costOf('softmax', sizes).operations, 4 * WIDTH * pairs);
    assert.equal(costOf('window', sizes).operations, 4 * WIDTH * inWindow);
    assert.deepEqual(
      ['softmax', 'window', 'linear'].map((way) => costOf(way, sizes).kept),
      [2 * TOKENS * WIDTH, 2 * 8 * WIDTH, WIDTH * WIDTH + WIDTH],
    );
  });
});

test('linear: the table follows the length, and says where both ways cost the same', async () => {
  const panel = document.createElement('qkv-panel-linear');
  document.body.replaceChildren(panel);
  await rest();
  const patch = { linearLength: 2 ** 17, linearWidth: 64 };
  panel.update(await viewOf('qkv-panel-linear', patch, { ...web.initialState('en'), ...patch }, 1));
  const cells = (way) => [...panel.querySelectorAll(`[data-way=${way}] td`)].map((td) => td.textContent); // prettier-ignore
  assert.deepEqual(cells('softmax'), ['T² d', '2.20 TFLOP', '16,777,216']);
  assert.deepEqual(cells('linear'), ['T d²', '2.17 GFLOP', '4,160']);
  assert.match(panel.querySelector('.crossing').textContent, /about T = 2d = 128 /);
});
