// Pictures of numbers, in Node: every pixel against a painter that looks at each pixel by itself, and canvases that are written no
// more than they must be.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules } from '../support/engine.js';
import { randomOf as random } from '../../support/js/random.js';

const { paint, Surface } = await modules('engine/{paint,canvas}');

const palette = { background: 11, hatch: 12, notANumber: 13, diverging: new Uint32Array(256) };
const ramp = Uint32Array.from({ length: 256 }, (_, i) => 1000 + i);
const range = (count) => Array.from({ length: count }, (_, i) => i);

/** What is shown of numbers that share a place: 'masked', 'nan' or a number. */
function shownOf(numbers, signed) {
  if (numbers.length === 0) return 'masked';
  if (numbers.some(Number.isNaN)) return 'nan';
  const size = Math.max(...numbers.map(Math.abs));
  return signed && !numbers.includes(size) && size > 0 ? -size : size;
}

/** The numbers of a picture in the cell (row, col) of so many rows and columns. */
function numbersIn(picture, [row, col], [rows, cols]) {
  const { values, mask } = picture;
  const [first, last] = [row, row + 1].map((at) => (at * picture.rows) / rows);
  return range(picture.rows).flatMap((r) => {
    if (r < Math.floor(first) || r >= Math.ceil(last)) return [];
    const [from, end] = picture.allowed(r);
    return range(picture.cols)
      .filter((c) => c >= from && c < end && Math.floor((c * cols) / picture.cols) === col)
      .filter((c) => !mask || mask[r * picture.cols + c] !== 0)
      .map((c) => values[r * picture.cols + c]);
  });
}

/** The cell of a pixel, and whether the pixel is on the line before it. */
function cellAt(pixel, count, length, gap) {
  const start = (cell) => Math.round((cell * length) / count);
  const cell = range(count).findLast((i) => start(i) <= pixel);
  return { cell, line: cell > 0 && pixel < start(cell) + gap };
}

/** Every pixel by itself. */
function wantedPixels(picture, { width, height }, ratio) {
  const [rows, cols] = [Math.min(picture.rows, height), Math.min(picture.cols, width)];
  const wide = width / cols >= 10 * ratio && height / rows >= 10 * ratio;
  const gap = wide ? Math.round(ratio) : 0;
  const [period, stroke] = [Math.max(4, Math.round(6 * ratio)), Math.max(1, Math.round(ratio))];
  const shown = range(rows).map((row) =>
    range(cols).map((col) =>
      shownOf(numbersIn(picture, [row, col], [rows, cols]), picture.signed || picture.mask),
    ),
  );
  return range(height).flatMap((y) =>
    range(width).map((x) => {
      const [at, down] = [cellAt(x, cols, width, gap), cellAt(y, rows, height, gap)];
      if (at.line || down.line) return palette.background;
      const value = shown[down.cell][at.cell];
      if (value === 'nan') return palette.notANumber;
      if (value !== 'masked') return ramp[picture.place(value)];
      return (x + y) % period < stroke ? palette.hatch : palette.background;
    }),
  );
}

/** A picture whose place of a number tells it from its neighbours in float32. */
function pictureOf(rows, cols, values, more = {}) {
  // Not at the beginning of their memory, as a part of a larger array.
  const all = Float32Array.from([9, 9, 9, ...values]).subarray(3);
  const known = [...new Set(all)].filter((value) => !Number.isNaN(value));
  const place = (value) => (known.includes(value) ? known.indexOf(value) : 255);
  return { rows, cols, values: all, signed: false, allowed: () => [0, cols], place, ramp, ...more };
}

function painted(picture, { width, height }, ratio) {
  const image = { width, height, data: new Uint8ClampedArray(4 * width * height) };
  paint(image, picture, palette, ratio);
  return [...new Uint32Array(image.data.buffer)];
}

/** Names the first pixel that is another: the difference of two long lists takes seconds to print. */
function requirePixels(picture, size, ratio, what = '') {
  const [got, wanted] = [painted(picture, size, ratio), wantedPixels(picture, size, ratio)];
  assert.equal(got.length, wanted.length);
  const at = wanted.findIndex((pixel, i) => pixel !== got[i]);
  assert.ok(at < 0, `${what}: pixel ${at} is ${got[at]}, not ${wanted[at]}`);
}

describe('pictures: every pixel', () => {
  test('is that of its cell, with the line between cells, the hatching and the largest of many', () => {
    const next = random(3);
    const below = (n) => Math.floor(next() * n);
    for (let turn = 0; turn < 120; turn++) {
      const [rows, cols] = [1 + below(7), 1 + below(9)];
      const signed = turn % 3 === 0;
      const number = () => (signed ? 1 - 2 * next() : next()) * [1e-30, 0.5, 7][below(3)];
      const values = range(rows * cols).map(() => (below(20) === 0 ? NaN : number()));
      const mask = turn % 4 === 0 ? Uint8Array.from(values, () => below(3)) : undefined;
      const allowed =
        turn % 5 === 0 ? (row) => [Math.max(0, row - 2), Math.min(cols, row + 1)] : undefined;
      const picture = pictureOf(rows, cols, values, { signed, mask, ...(allowed && { allowed }) });
      const size = { width: 1 + below(turn % 2 ? 40 : 7), height: 1 + below(turn % 2 ? 30 : 5) };
      const ratio = [1, 0.4, 1.5, 2][below(4)];
      requirePixels(picture, size, ratio, `${turn}: ${rows} x ${cols}`);
    }
  });

  test('of a hatch of its own width at every ratio', () => {
    const picture = pictureOf(1, 1, [5], { allowed: () => [0, 0] });
    for (const ratio of [0.3, 0.5, 0.7, 1, 1.25, 2, 3]) {
      requirePixels(picture, { width: 23, height: 5 }, ratio, `${ratio}`);
    }
  });

  test('of cells with a line between them from ten pixels of the screen on, both ways', () => {
    const picture = pictureOf(2, 2, [1, 2, 3, 4]);
    for (const [width, height, ratio] of [
      ...[
        [20, 20, 1],
        [19, 20, 1],
        [20, 19, 1],
        [40, 40, 2],
        [40, 39, 2],
        [39, 40, 2],
        [21, 60, 1],
      ],
      ...[
        [12, 12, 0.6],
        [8, 8, 0.4],
        [26, 31, 1.3],
      ],
    ]) {
      requirePixels(picture, { width, height }, ratio, `${width} x ${height} at ${ratio}`);
    }
    requirePixels(pictureOf(3, 4, range(12)), { width: 44, height: 33 }, 1);
  });

  test('of numbers that share it is the largest to the last bit, and -0 is 0', () => {
    const rows = [
      ...[
        [2, 3],
        [3, 2],
        [2.0000002, 2],
        [0, 3e38],
        [1e-45, 0],
        [4.000001, 2.0000005, 0.1, 7.000001],
      ],
      ...[
        [-2, 3],
        [-3, 2],
        [-3, 3],
        [3, -3],
        [-2.0000002, -2],
        [-0, -0],
        [-1e-45, 0],
        [-Infinity, 1],
      ],
      ...[
        [Infinity, 5],
        [-3e38, 1e38],
        [NaN, 3],
        [3, NaN, 4],
        [-5, NaN],
        [Infinity, NaN],
      ],
    ];
    for (const values of rows) {
      for (const signed of [false, true]) {
        const { length } = values;
        const more = { signed, place: undefined };
        const known = [...values, ...values.map((value) => -value), 0].map(Math.fround);
        more.place = (value) => 1 + known.findIndex((one) => one === value);
        const what = `${values} ${signed}`;
        requirePixels(pictureOf(1, length, values, more), { width: 1, height: 1 }, 1, what);
        requirePixels(pictureOf(length, 1, values, more), { width: 1, height: 1 }, 1, what);
      }
    }
  });

  test('of NaN with any bits is that of NaN, and of an infinity its own', () => {
    for (const signed of [false, true]) {
      const values = Float32Array.from([1, 2, 3, 4, 5]);
      new Uint32Array(values.buffer).set([
        0x7f800001, 0xff800001, 0x7f800000, 0xff800000, 0x7fffffff,
      ]);
      const place = (value) => (value === Infinity ? 1 : value === -Infinity ? 2 : 0);
      const more = { values, signed, place };
      const got = painted(pictureOf(1, 5, [], more), { width: 5, height: 1 }, 1);
      assert.deepEqual(got, [13, 13, 1001, signed ? 1002 : 1001, 13]);
    }
  });

  test('of one row does not depend on the row above it', () => {
    const picture = pictureOf(3, 2, [-9, 8, 1, 0, -2, 0], { signed: true });
    requirePixels(picture, { width: 2, height: 3 }, 1);
    requirePixels(picture, { width: 1, height: 3 }, 1);
    requirePixels(picture, { width: 1, height: 2 }, 1);
  });
});

describe('surfaces:', () => {
  const made = [];
  globalThis.ImageData = class {
    constructor(width, height) {
      Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
      made.push(this);
    }
  };
  /** A canvas of the worker that notes what is done to it. */
  function newCanvas(context) {
    const done = [];
    const size = { width: 3, height: 2 };
    const canvas = {
      done,
      getContext: (kind) => {
        done.push(['context', kind]);
        return context && { putImageData: (...args) => done.push(['put', ...args]) };
      },
    };
    for (const side of ['width', 'height']) {
      Object.defineProperty(canvas, side, {
        get: () => size[side],
        set(value) {
          size[side] = value;
          done.push([side, value]);
        },
      });
    }
    return canvas;
  }
  const picture = pictureOf(1, 1, [5]);
  const square = (width, height) => ({ width, height });

  test('a canvas without a context is left alone', () => {
    const canvas = newCanvas(null);
    assert.equal(new Surface(canvas).paint(square(3, 2), picture, palette, 1), null);
    assert.deepEqual(canvas.done, [['context', '2d']]);
  });

  test('without a canvas the pixels are given, a copy of them, as they may be handed on', () => {
    made.length = 0;
    const surface = new Surface(null);
    const first = surface.paint(square(2, 1), picture, palette, 1);
    const again = surface.paint(square(2, 1), picture, palette, 1);
    assert.deepEqual([first.width, first.height], [2, 1]);
    assert.deepEqual([...new Uint32Array(first.data.buffer)], [1000, 1000]);
    assert.notEqual(first.data.buffer, again.data.buffer);
    assert.equal(made.length, 1, 'the image is kept');
  });
});
