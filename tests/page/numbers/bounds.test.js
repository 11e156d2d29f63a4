// @run full, or after changes in web/src/features/bounds web/src/engine
// The panel bounds, in Node: labelings that a readout of fixed heads fits against Cover's count, and how far attention moves when a
// row is replaced against bounds that are written here from the norms.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { engine, rest, viewOf, web } from '../support/scene.js';

const { modules } = await import('../support/engine.js');
const { isSeparable, rotation, coverShare, ROWS, LABELINGS } = await modules(
  ...[
    'features/bounds/worker/{separable,stability}',
    'features/bounds/shared/{capacity,stability}',
  ],
);
const near = (a, b, off) => assert.ok(Math.abs(a - b) <= off, `${a} is not ${b}`);
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

describe('bounds: capacity', () => {
  const points = (...rows) => rows.map((row) => Float64Array.from(row));
  test('isSeparable: whether all points lie on one side of a plane through 0', () => {
    assert.ok(isSeparable(points([1, 2])));
    assert.ok(isSeparable(points([1, 0.001], [-1, 0.001], [0, 1])));
    assert.ok(!isSeparable(points([1, 0], [-1, 0])));
    assert.ok(!isSeparable(points([1, 0], [-0.5, 0.8], [-0.5, -0.8])));
    // + and - of the exclusive or, with a third number that stands for the threshold.
    const xor = [[0, 0], [1, 1], [0, 1], [1, 0]].map((x, i) => [...x, 1].map((v) => (i < 2 ? v : -v))); // prettier-ignore
    assert.ok(!isSeparable(points(...xor)));
    assert.ok(isSeparable(points(...xor.slice(1))));
  });

  test('Cover counts every labeling of H + 1 rows, all but two of H + 2, and half of those of 2(H + 1)', () => {
    for (let heads = 1; heads <= 8; heads++) {
      for (let rows = 1; rows <= heads + 1; rows++) near(coverShare(rows, heads), 1, 1e-12);
      near(coverShare(heads + 2, heads), 1 - 2 / 2 ** (heads + 2), 1e-12);
      near(coverShare(2 * (heads + 1), heads), 0.5, 1e-12);
    }
  });

  for (const heads of [1, 3, 8]) {
    test(`${heads} heads fit as many labelings as Cover counts`, () => {
      for (const seed of [1, 2]) {
        const { capacity } = engine.ask({ boundsHeads: heads, boundsSeed: seed }).bounds;
        assert.equal(capacity.points.length, 3 * (heads + 1));
        capacity.points.forEach(({ share, tried }, i) => {
          const count = coverShare(i + 1, heads);
          const all = 2 ** (i + 1) <= LABELINGS;
          const chance = all ? 1e-12 : 4.5 * Math.sqrt((count * (1 - count)) / LABELINGS);
          near(share, count, chance);
          assert.equal(tried, Math.min(2 ** (i + 1), LABELINGS));
        });
      }
    });
  }
});

describe('bounds: stability', () => {
  test('all singular values of a matrix are its norm', () => {
    const rows = rotation('a test', 1, 3);
    rows.forEach((row, i) =>
      rows.forEach((other, j) => near(dot(row, other), i === j ? 9 : 0, 1e-9)),
    );
  });

  const CASES = [
    {},
    { boundsRadius: 2, boundsOutput: 0.5, boundsValue: 3, boundsQuery: 0.4, boundsKey: 0.5 },
    { boundsFactor: 0.05, boundsKey: 4, boundsValue: 0.25 },
    { boundsRadius: 4, boundsFactor: 4, boundsQuery: 4, boundsKey: 4 },
  ];
  for (const patch of CASES) {
    test(`measured <= reached <= ball <= β: ${JSON.stringify(patch)}`, () => {
      const { stability } = engine.ask(patch).bounds;
      const { radius: r, output, value, query, key, factor } = stability.norms;
      const score = factor * r ** 2 * query * key;
      ROWS.forEach((n, i) => {
        // The replaced row has the score a, the n - 1 others -a, and its value goes from one end of the ball to the other.
        const weight = Math.exp(score) / (Math.exp(score) + (n - 1) * Math.exp(-score));
        const reached = 2 * r * output * value * (Number.isNaN(weight) ? 1 : weight);
        near(stability.built[i] / reached, 1, 1e-4);
        assert.ok(stability.random[i] > 0 || score > 100);
        assert.ok(stability.random[i] <= reached * (1 + 1e-5), `n = ${n}`);
        assert.ok(
          reached <= r * output * value * (2 + factor * Math.sqrt(n) * r * r * query * key),
        );
      });
    });
  }

  test('twice M_o moves the output twice as far', () => {
    const [one, two] = [1, 2].map((boundsOutput) => engine.ask({ boundsOutput }).bounds.stability);
    one.random.forEach((move, i) => near(two.random[i] / move, 2, 1e-9));
  });
});

test('bounds: β of the formula, and a link to the experiment', async () => {
  const panel = document.createElement('qkv-panel-bounds');
  document.body.replaceChildren(panel);
  await rest();
  const patch = { boundsRadius: 2, boundsFactor: 0.5, boundsRows: 64 };
  panel.update(await viewOf('qkv-panel-bounds', patch, { ...web.initialState('en'), ...patch }, 1));
  // 2 (2 + 0.5 · 8 · 4)
  assert.equal(panel.querySelector('[data-number=beta]').textContent, '36.00');
  const { panel: id, learnExperiment } = web.parseFragment(panel.querySelector('.to-learn').hash, 'en'); // prettier-ignore
  assert.deepEqual([id, learnExperiment], ['learn', 'overfit']);
});
