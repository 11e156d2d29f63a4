// @build any
// Spectra against formulas and matrices whose spectra are known.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv/spectra';
import { filled, randomArray, zeros } from '../../support/js/arrays.js';
import { expectClose, expectSame } from '../../support/js/check.js';

const spectra = await init();
after(() => spectra.dispose());
const u = 2 ** -24;
const range = (n) => Array.from({ length: n }, (_, i) => i);
const identity = (n) => filled([n, n], (i) => Number(i % (n + 1) === 0));
const diagonal = (...values) =>
  filled([values.length, values.length], (i) =>
    i % (values.length + 1) === 0 ? values[i % values.length] : 0,
  );

/** a b^T of two matrices, in double precision. */
const timesTurned = (a, b) => {
  const [m, k] = a.shape;
  const [n] = b.shape;
  const sum = (i, j) => range(k).reduce((s, c) => s + a.data[i * k + c] * b.data[j * k + c], 0);
  return range(m * n).map((at) => sum(Math.floor(at / n), at % n));
};

describe('effectiveRank: how many directions a product has', () => {
  /** Of two columns and two rows: singular values have a product and a sum of squares that determinants and traces say. */
  function rankOfPairs(left, right) {
    const gram = (a, b) => a.reduce((s, e, i) => s + e * b[i], 0);
    const [p, q] = [left, right].map(([a, b]) => [gram(a, a), gram(a, b), gram(b, b)]);
    const product = Math.sqrt((p[0] * p[2] - p[1] ** 2) * (q[0] * q[2] - q[1] ** 2));
    const squares = p[0] * q[0] + 2 * p[1] * q[1] + p[2] * q[2];
    const sum = Math.sqrt(squares + 2 * product);
    const apart = Math.sqrt(Math.max(squares - 2 * product, 0));
    const parts = [(sum + apart) / 2 / sum, (sum - apart) / 2 / sum];
    return Math.exp(-parts.reduce((s, w) => s + (w > 0 ? w * Math.log(w) : 0), 0));
  }

  test('effective ranks of stacks of products', () => {
    const left = randomArray([2, 3, 7, 2], 8);
    const right = randomArray([2, 3, 2, 5], 9);
    const exact = range(6).map((a) => {
      const column = (c) => range(7).map((i) => left.data[(a * 7 + i) * 2 + c]);
      const row = (c) => [...right.data.subarray((a * 2 + c) * 5, (a * 2 + c + 1) * 5)];
      return rankOfPairs([column(0), column(1)], [row(0), row(1)]);
    });
    const { data, shape } = spectra.effectiveRank(left, right);
    assert.deepEqual(shape, [2, 3]);
    expectClose(data, exact, 4 * u, { size: 2, quantity: 'effectiveRank' });
    const turned = filled([2, 3, 5, 2], (i) => {
      const [a, j, c] = [Math.floor(i / 10), Math.floor(i / 2) % 5, i % 2];
      return right.data[(a * 2 + c) * 5 + j];
    });
    expectSame(spectra.effectiveRank(left, turned, { transposed: true }).data, data);
  });

  test('effective ranks that are known', () => {
    const rankOf = (...given) => {
      const { data, shape } = spectra.effectiveRank(...given);
      assert.deepEqual(shape, []);
      return data[0];
    };
    assert.equal(rankOf(identity(4), identity(4)), 4);
    assert.equal(rankOf(randomArray([6, 1], 1), randomArray([1, 9], 2)), 1);
    assert.equal(rankOf(zeros([3, 2]), randomArray([2, 3], 3)), 0);
    assert.equal(rankOf(zeros([3, 0]), zeros([0, 3])), 0);
    assert.ok(Number.isNaN(rankOf({ data: Float32Array.of(NaN), shape: [1, 1] }, zeros([1, 1]))));
  });
});

describe('singularValues: products of low rank', () => {
  const left = randomArray([3, 9, 4], 1);
  const right = randomArray([3, 7, 4], 2);

  test('values and vectors make the product again, with one sign', () => {
    const found = spectra.singularValues(left, right, { transposed: true, vectors: true });
    assert.deepEqual(found.values.shape, [3, 4]);
    assert.deepEqual(found.left.shape, [3, 9, 4]);
    assert.deepEqual(found.right.shape, [3, 7, 4]);
    for (const a of range(3)) {
      const of = ({ data }, rows, columns) => ({
        data: data.subarray(a * rows * columns, (a + 1) * rows * columns),
        shape: [rows, columns],
      });
      const values = found.values.data.subarray(a * 4, a * 4 + 4);
      assert.deepEqual(
        [...values],
        [...values].sort((x, y) => y - x),
      );
      const scaled = of(found.left, 9, 4);
      const stretched = { ...scaled, data: scaled.data.map((x, i) => x * values[i % 4]) };
      const product = timesTurned(stretched, of(found.right, 7, 4));
      const expected = timesTurned(of(left, 9, 4), of(right, 7, 4));
      expectClose(Float32Array.from(product), expected, 2 ** -20 * values[0]);
      for (const column of range(4)) {
        const numbers = range(9).map((i) => scaled.data[i * 4 + column]);
        assert.ok(Math.max(...numbers) >= -Math.min(...numbers));
      }
    }
    const alone = spectra.singularValues(left, right, { transposed: true });
    expectSame(alone.data, found.values.data);
  });

  test('diagonal matrices have their own numbers, without signs and in order', () => {
    const { data } = spectra.singularValues(diagonal(1, -4, 2), identity(3));
    assert.deepEqual([...data], [4, 2, 1]);
    assert.deepEqual(spectra.singularValues(zeros([2, 0]), zeros([0, 2])).shape, [0]);
    const wide = spectra.singularValues(randomArray([2, 6], 3), randomArray([6, 5], 4));
    assert.deepEqual(wide.shape, [2]);
  });

  test('a number that is not finite gives NaN for its matrix alone', () => {
    const broken = randomArray([2, 3, 2], 5);
    broken.data[1] = Infinity;
    const { data } = spectra.singularValues(broken, randomArray([2, 2, 3], 6));
    assert.ok(data.subarray(0, 2).every(Number.isNaN));
    assert.ok(data.subarray(2).every(Number.isFinite));
  });
});

describe('eigenvalues: products of low rank', () => {
  test('of a diagonal, and how far they copy', () => {
    const { real, imaginary, copying } = spectra.eigenvalues(diagonal(1, -3, 2), identity(3));
    assert.deepEqual([...real.data], [-3, 2, 1]);
    assert.deepEqual([...imaginary.data], [0, 0, 0]);
    assert.equal(copying.data[0], 0);
    assert.deepEqual([real.shape, imaginary.shape, copying.shape], [[3], [3], []]);
    assert.equal(spectra.eigenvalues(diagonal(5, 5), identity(2)).copying.data[0], 1);
  });

  test('of a rotation, which come in pairs', () => {
    const quarter = { data: Float32Array.of(0, -2, 2, 0), shape: [2, 2] };
    const { real, imaginary, copying } = spectra.eigenvalues(quarter, identity(2));
    assert.deepEqual([...real.data], [0, 0]);
    assert.deepEqual([...imaginary.data], [2, -2]);
    assert.equal(copying.data[0], 0);
  });

  test('of stacks: their sum is the trace of the product', () => {
    const left = randomArray([2, 2, 8, 3], 7);
    const right = randomArray([2, 2, 8, 3], 8);
    const { real, copying } = spectra.eigenvalues(left, right, { transposed: true });
    assert.deepEqual(real.shape, [2, 2, 3]);
    assert.deepEqual(copying.shape, [2, 2]);
    const traces = range(4).map((a) =>
      range(24).reduce((s, i) => s + left.data[a * 24 + i] * right.data[a * 24 + i], 0),
    );
    const sums = range(4).map((a) =>
      real.data.subarray(a * 3, a * 3 + 3).reduce((s, x) => s + x, 0),
    );
    expectClose(Float32Array.from(sums), traces, 2 ** -18);
  });
});

describe('pca: rows along the directions of most variance', () => {
  test('the corners of a rectangle vary along its sides', () => {
    const corners = { data: Float32Array.of(5, 1, 5, 3, 1, 1, 1, 3), shape: [4, 2] };
    const found = spectra.pca(corners);
    assert.deepEqual([...found.mean.data], [3, 2]);
    assert.deepEqual([...found.components.data], [1, 0, 0, 1]);
    assert.deepEqual([...found.variances.data], [16 / 3, 4 / 3].map(Math.fround));
    assert.deepEqual([...found.shares.data], [0.8, 0.2].map(Math.fround));
    assert.deepEqual([...found.projections.data], [2, -1, 2, 1, -2, -1, -2, 1]);
    assert.deepEqual(found.projections.shape, [4, 2]);
  });

  for (const [n, d] of [
    [40, 6],
    [5, 30],
  ]) {
    test(`components of [${n}, ${d}] are orthogonal, and variances those along them`, () => {
      const x = randomArray([n, d], 9);
      const found = spectra.pca(x, { count: 4 });
      const gram = timesTurned(found.components, found.components);
      expectClose(Float32Array.from(gram), [...identity(4).data], 2 ** -20);
      const centred = { ...x, data: x.data.map((value, i) => value - found.mean.data[i % d]) };
      const places = timesTurned(centred, found.components);
      expectClose(found.projections.data, places, 2 ** -18);
      const variances = range(4).map(
        (c) => range(n).reduce((s, row) => s + places[row * 4 + c] ** 2, 0) / (n - 1),
      );
      expectClose(found.variances.data, variances, 2 ** -18);
      const all = centred.data.reduce((s, value) => s + value ** 2, 0) / (n - 1);
      const shares = variances.map((value) => value / all);
      expectClose(found.shares.data, shares, 2 ** -18);
    });
  }

  test('as many as there are by default, and no projections if they are not wanted', () => {
    assert.deepEqual(spectra.pca(randomArray([1, 3], 1)).components.shape, [1, 3]);
    assert.deepEqual(spectra.pca(zeros([0, 3])).mean.data.length, 3);
    assert.ok(!('projections' in spectra.pca(randomArray([3, 3], 1), { projections: false })));
  });
});
