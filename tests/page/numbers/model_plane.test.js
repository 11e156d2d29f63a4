// @about web/src/features/model/
// The plane of a table of embeddings, in Node, where its axes are known beforehand: columns that are at right angles, columns that
// are alike, and tables without a second direction, or without any; how often it lets others have a turn; and who is near whom.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { close } from '../support/close.js';
import { modules } from '../support/engine.js';

const web = await modules('features/model/worker/pca');

/** The plane of these rows, and how often it made way. */
function planeOf(rows) {
  const steps = web.principalPlane(Float32Array.from(rows.flat()), rows[0].length);
  for (let turns = 0; ; turns++) {
    const { done, value } = steps.next();
    if (done) return { ...value, turns };
    assert.equal(value, undefined);
  }
}
/** Two rows for each of these lengths, one on either side of the mean, along an axis each: its column's sum of squares is 2 l^2. */
const cross = (lengths) =>
  lengths.flatMap((length, column) =>
    [length, -length].map((x) => lengths.map((_, i) => (i === column ? x : 0))),
  );
const begin = (width) => Array.from({ length: width }, (_, i) => 1 + (i % 7) / 7);
const unit = (x) => {
  const length = Math.hypot(...x);
  return x.map((value) => value / length);
};

describe('model: the plane', () => {
  test('has the two longest axes of a cross, the longer one first', () => {
    const { points, shares } = planeOf(cross([1, 4, 2]));
    const wanted = [
      [0, 0],
      [0, 0],
      [4, 0],
      [-4, 0],
      [0, 2],
      [0, -2],
    ].flat();
    wanted.forEach((value, i) => close(points[i], value, 1e-6, `number ${i}`));
    close(shares[0], 16 / 21, 1e-9, 'first share');
    close(shares[1], 4 / 21, 1e-9, 'second share');
  });

  test('takes powers of the matrix 2000 times at most, from a vector that is always the same', () => {
    const lengths = Float32Array.from({ length: 9 }, (_, i) => 1 - i * 1e-4);
    const rows = cross([...lengths]);
    const { points, shares, turns } = planeOf(rows);
    // Of a cross the matrix is diagonal, so that every part of the vector grows by itself.
    const squares = Array.from(lengths, (x) => 2 * x * x);
    const axis = unit(begin(9).map((x, i) => x * (squares[i] / squares[0]) ** 2000));
    rows.forEach((row, r) => {
      const along = row.reduce((sum, x, i) => sum + x * axis[i], 0);
      close(points[2 * r], along, 1e-6, `row ${r}`);
    });
    const before = unit(begin(9).map((x, i) => x * (squares[i] / squares[0]) ** 1999));
    const value = Math.hypot(...before.map((x, i) => squares[i] * x));
    close(shares[0], value / squares.reduce((a, b) => a + b), 1e-9, 'first share');
    assert.equal(turns, 2 * 31, 'a turn for others after every 64');
  });

  test('ends when the vector turns no further than by 1e-10 of its length', () => {
    const square = (ratio) => planeOf(cross([1, Math.sqrt(ratio)])).turns;
    // The angle shrinks by the ratio each time, and with it the part that is left of the last turn.
    for (const ratio of [0.9, 0.95, 0.975, 0.98]) {
      const rounded = Math.fround(Math.sqrt(ratio)) ** 2;
      let steps = 1;
      for (let part = 8 / 7; ; part *= rounded, steps++) {
        const length = Math.hypot(1, part);
        const [a, b] = [1 / length, part / length];
        const value = Math.hypot(a, rounded * b);
        if (Math.max(Math.abs(a - value * a), Math.abs(rounded * b - value * b)) <= 1e-10 * value)
          break;
      }
      assert.equal(square(ratio), Math.floor((steps - 1) / 64), `ratio ${ratio} of ${steps} steps`);
    }
  });

  test('lets others have a turn after every 256 rows', () => {
    for (const [pairs, turns] of [
      [127, 0],
      [128, 1],
      [255, 1],
      [256, 2],
    ]) {
      const rows = Array.from({ length: pairs }, () => [[1], [-1]]).flat();
      assert.equal(planeOf(rows).turns, turns, `${2 * pairs} rows`);
    }
  });

  test('of rows on a line has nothing along the second axis, and of equal rows nothing at all', () => {
    const line = planeOf([-1, 0, 1].map((x) => [3 * x + 1, 4 * x + 2]));
    [-5, 0, 5].forEach((value, r) => close(line.points[2 * r], value, 1e-6, `row ${r}`));
    [1, 3, 5].forEach((i) => close(line.points[i], 0, 1e-6, `number ${i}`));
    close(line.shares[0], 1, 1e-12, 'first share');
    close(line.shares[1], 0, 1e-12, 'second share');
    const none = planeOf([
      [2, 3],
      [2, 3],
    ]);
    assert.deepEqual([[...none.points], none.shares, none.turns], [[0, 0, 0, 0], [0, 0], 0]);
    const single = planeOf([[1], [3]]);
    assert.deepEqual(
      [[...single.points], single.shares],
      [
        [-1, 0, 1, 0],
        [1, 0],
      ],
    );
  });

  test('an axis points to where its largest part is positive, of equal ones the first', () => {
    const signsOf = (direction) => {
      const { points } = planeOf([direction, direction.map((x) => -x)]);
      return Math.sign(points[0]);
    };
    for (const [direction, sign] of [
      [[1, 1, 1, -2], -1],
      [[-1, -1, -1, 2], 1],
      [[2, 1, 1, -1], 1],
      [[-2, 1, 1, 1], -1],
      [[1, -1], 1],
      [[-1, 1], -1],
      [[1, 2, -1, -3], -1],
    ]) {
      assert.equal(signsOf(direction), sign, `${direction}`);
    }
  });
});

describe('model: neighbours', () => {
  const nearest = (rows, of, count) =>
    web.nearest(Float32Array.from(rows.flat()), rows[0].length, { of, count });
  const ids = (...args) => nearest(...args).map(({ id }) => id);

  test('of equal cosines the first come first, and stay', () => {
    const rows = [
      [1, 0],
      [1, 0],
      [0, 1],
      [2, 0],
      [3, 0],
      [0, -1],
      [-1, 0],
    ];
    assert.deepEqual(ids(rows, 1, 2), [0, 3]);
    assert.deepEqual(ids(rows, 1, 3), [0, 3, 4]);
    assert.deepEqual(ids(rows, 1, 5), [0, 3, 4, 2, 5]);
    assert.deepEqual(ids(rows, 2, 4), [0, 1, 3, 4]);
    assert.deepEqual(ids(rows, 1, 9), [0, 3, 4, 2, 5, 6]);
  });

  test('are told with their cosine, whatever their length', () => {
    const found = nearest(
      [
        [3, 4],
        [-6, -8],
        [4, 3],
        [0, 0],
      ],
      0,
      3,
    );
    assert.deepEqual(
      found.map(({ id, cosine }) => [id, cosine.toFixed(6)]),
      [
        [2, '0.960000'],
        [3, '0.000000'],
        [1, '-1.000000'],
      ],
    );
  });
});
