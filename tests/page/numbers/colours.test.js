// The colours of pictures, in Node: the place of a number on its scale, and the pixels of cells.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules } from '../support/engine.js';
import { colourOf } from '../support/oracle.js';

const web = await modules(
  ...['domain/colour_scale', 'domain/cividis', 'domain/cell_edges', 'engine/paint'],
);

describe('colours: a number on its scale', () => {
  const near = (got, wanted, what) => assert.ok(Math.abs(got - wanted) < 1e-6, `${what}: ${got}`);
  /** Where a scale has a value, between 0 and 1: as it is, its root, and its logarithm from a millionth on. */
  const SCALES = {
    weights: (value) => value,
    sqrt: Math.sqrt,
    log: (value) => Math.max(0, (Math.log10(value) + 6) / 6),
  };

  test('of a weight has the place of its scale, and the colour of that place', () => {
    for (const [show, place] of Object.entries(SCALES)) {
      const colour = web.colourIndex(show, 1);
      for (const value of [0, 1e-7, 1e-6, 1.1e-6, 1e-4, 0.09, 0.25, 0.5, 1]) {
        near(web.position(value, show, 1), place(value), `${show} ${value}`);
        assert.ok(Math.abs(colour(value) - 255 * place(value)) <= 0.5 + 1e-3, `${show} ${value}`);
      }
      assert.equal(web.isSigned(show), false);
    }
  });

  test('that has a sign is in the middle where it is 0, and equally far from it to both sides', () => {
    for (const show of ['scores', 'difference']) {
      assert.equal(web.isSigned(show), true);
      for (const range of [0.001, 1, 40]) {
        const place = web.colourIndex(show, range);
        assert.deepEqual([-2, -1, 0, 1, 2].map((part) => place(part * range)), [1, 1, 128, 255, 255]);
        assert.equal(place(0.3 * range) - 128, 128 - place(-0.3 * range));
        near(web.position(range / 2, show, range), 0.75, show);
      }
      assert.deepEqual([-4, 0, 3].map((value) => web.position(value, show, 0)), [0.5, 0.5, 0.5], 'all are 0');
      assert.ok(Number.isNaN(web.position(NaN, show, 0)));
    }
  }); // prettier-ignore

  test('the numbers below a scale', () => {
    for (const [show, range, ticks] of [
      ['weights', 1, [0, 0.25, 0.5, 0.75, 1]],
      ['sqrt', 1, [0, 0.01, 0.1, 0.25, 0.5, 1]],
      ['log', 1, [1e-6, 1e-4, 1e-2, 1]],
      ['scores', 3, [-3, 0, 3]],
      ['difference', 0.5, [-0.5, 0, 0.5]],
      ['scores', 0, [0]],
    ]) {
      assert.deepEqual(web.ticks(show, range), ticks);
    }
  });

  test('goes evenly through the colours that a scale is made of', () => {
    const bytes = web.ramp([[0, 100, 255], [255, 100, 0], [0, 0, 0]]); // prettier-ignore
    assert.equal(bytes.length, 1024);
    for (const [i, wanted] of [
      [0, [0, 100, 255, 255]],
      [51, [102, 100, 153, 255]],
      [153, [204, 80, 0, 255]],
      [255, [0, 0, 0, 255]],
    ]) {
      assert.deepEqual([...bytes.slice(4 * i, 4 * i + 4)], wanted, `${i}`);
    }
  });
});

test('colours: all 256 of cividis are there, between those of the paper', () => {
  for (let i = 0; i < 256; ++i) {
    const [red, green, blue, alpha] = web.cividis.slice(4 * i, 4 * i + 4);
    colourOf(i / 255, 'weights').forEach((exact, c) => {
      const byte = [red, green, blue][c];
      assert.ok(Math.abs(byte - exact) <= 0.5, `${i}: ${byte}, expected ${exact}`);
    });
    assert.equal(alpha, 255);
  }
  assert.equal(web.cividisPixels.length, 256);
});

describe('pictures: painted', () => {
  const palette = { background: 1, hatch: 2, notANumber: 3, diverging: new Uint32Array(256) };
  const ramp = Uint32Array.from({ length: 256 }, (_, i) => 1000 + i);
  /** The pixels of a picture without signs, whose values are their own places. */
  const pixels = (rows, cols, values, [width, height], more = {}) => {
    const image = { width, height, data: new Uint8ClampedArray(4 * width * height) };
    const picture = {
      ...{ rows, cols, values: Float32Array.from(values), signed: false },
      ...{ allowed: () => [0, cols], place: (value) => value, ramp, ...more },
    };
    web.paint(image, picture, palette, 1);
    return Array.from(new Uint32Array(image.data.buffer));
  };

  test('masked cells are background or hatching, and count for nothing beside others', () => {
    const painted = pixels(1, 2, [5, 7], [2, 1], { allowed: () => [0, 1] });
    assert.equal(painted[0], 1005);
    assert.ok([1, 2].includes(painted[1]));
    assert.deepEqual(pixels(1, 2, [5, 7], [1, 1], { allowed: () => [0, 1] }), [1005]);
    const mask = Uint8Array.of(1, 0);
    assert.deepEqual(pixels(1, 2, [5, 7], [1, 1], { mask }), [1005]);
    const wide = pixels(1, 1, [5], [12, 12], { allowed: () => [0, 0] });
    assert.deepEqual([...new Set(wide)].sort(), [1, 2]);
  });

  test('a weight of 0 has the colour of 0, and is not taken for a masked one', () => {
    assert.deepEqual(pixels(1, 2, [0, 7], [2, 1]), [1000, 1007]);
    assert.deepEqual(pixels(1, 2, [0, -0], [1, 1]), [1000]);
  });

  test('NaN has a colour of its own', () => {
    assert.deepEqual(pixels(1, 2, [NaN, 7], [2, 1]), [3, 1007]);
    assert.deepEqual(pixels(1, 2, [NaN, 7], [1, 1]), [3]);
  });
});
