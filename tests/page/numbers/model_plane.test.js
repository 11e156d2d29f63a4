// The plane of a table of embeddings, in Node, where its axes are known beforehand: columns that are at right angles, columns that
// are alike, and tables without a second direction, or without any.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { close } from '../support/close.js';
import { modules, packageModule } from '../support/engine.js';

const web = await modules('engine/principal_plane');
const { init } = await packageModule('spectra');
const spectra = await init();

/** The plane of these rows. */
const planeOf = (rows) =>
  web.principalPlane(spectra, Float32Array.from(rows.flat()), rows[0].length);

describe('model: the plane', () => {
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
    assert.deepEqual(
      [[...none.points], none.shares],
      [
        [0, 0, 0, 0],
        [0, 0],
      ],
    );
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
