// What the panel about positions asks the engine for and works out of it: residuals to the last bit, the steps along diagonals, the
// colours of its pictures. The engine is the test's, in float64.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules(
  'features/positions/worker/{residuals,scheme_maps,position_pictures,frame_feature}',
  'domain/pair_table',
  'domain/schemes',
);
const D = 64;
const PAIRS = 32;
const w = (pair) => 10000 ** ((-2 * pair) / D);
const columns = (layout, pair) =>
  layout === 'interleaved' ? [2 * pair, 2 * pair + 1] : [pair, pair + PAIRS];

// ---- pairs ----

// ---- residuals ----

/** PE of `length` positions from `offset` on in float32, from the formula, with an error of the test's. */
function encoding(length, { offset = 0, layout = 'interleaved' }, wrong = () => 0) {
  const data = new Float32Array(length * D);
  for (let row = 0; row < length; row++) {
    for (let pair = 0; pair < PAIRS; pair++) {
      const [a, b] = columns(layout, pair);
      const angle = (offset + row) * w(pair);
      data[row * D + a] = Math.sin(angle) + wrong(offset + row, pair);
      data[row * D + b] = Math.cos(angle);
    }
  }
  return data;
}
const blocksOf = (k) =>
  Float32Array.from({ length: 4 * PAIRS }, (_, i) => {
    const [s, c] = [Math.sin(k * w(i >> 2)), Math.cos(k * w(i >> 2))];
    return [c, s, -s, c][i % 4];
  });
const engine = (wrong) => ({
  sinusoidalShift(k, width) {
    assert.equal(width, D);
    return { data: blocksOf(k) };
  },
  sinusoidalEncoding: (length, width, options) => {
    assert.equal(width, D);
    return { data: encoding(length, options ?? {}, wrong) };
  },
});

/** The largest |to - M from|, row by row. */
function largest(from, to, blocks, layout) {
  const off = [];
  for (let row = 0; row * D < from.length; row++) {
    for (let pair = 0; pair < PAIRS; pair++) {
      const [a, b] = columns(layout, pair).map((col) => row * D + col);
      const m = blocks.slice(4 * pair);
      off.push(Math.abs(to[a] - (m[0] * from[a] + m[1] * from[b])));
      off.push(Math.abs(to[b] - (m[2] * from[a] + m[3] * from[b])));
    }
  }
  return Math.max(...off);
}

test('positions: a residual is the largest difference of all rows, pairs and columns', () => {
  for (const layout of web.LAYOUTS) {
    for (const [k, rows] of [
      [3, 1],
      [7, 5],
    ]) {
      const [from, exact] = [0, k].map((offset) => encoding(rows, { offset, layout }));
      const blocks = blocksOf(k);
      assert.equal(web.residual(from, exact, blocks, layout), largest(from, exact, blocks, layout));
      for (const at of [0, 1, 33, 63, rows * D - 1, (rows - 1) * D]) {
        for (const off of [0.5, -0.25]) {
          const to = exact.slice();
          to[at] += off;
          const found = web.residual(from, to, blocks, layout);
          assert.equal(found, largest(from, to, blocks, layout), `${at}`);
          assert.ok(Math.abs(found - Math.abs(off)) < 1e-6);
        }
        const to = exact.slice();
        to[at] = NaN;
        assert.ok(
          Number.isNaN(web.residual(from, to, blocks, layout)),
          'what is no number is no small one',
        );
      }
    }
  }
});

// ---- schemes ----

const SPAN = 48;
/** An engine that answers with these numbers. */
function answering(values) {
  const ramp = (count) => Float32Array.from({ length: count }, (_, i) => (i % 1000) - 300);
  const map = () => ({ data: values });
  return {
    ...{
      attention: () => ({ logits: map() }),
      learnedEncoding: (table) => table,
    },
    sinusoidalEncoding: (rows, cols) => ({ data: ramp(rows * cols), shape: [rows, cols] }),
    rotaryEmbedding: (row) => row,
  };
}
const square = (value) =>
  Float32Array.from({ length: SPAN ** 2 }, (_, at) => value(Math.floor(at / SPAN), at % SPAN));

test('positions: the largest magnitude of a map, and its largest step along a diagonal', () => {
  const mapOf = (value) =>
    web.schemeMap(answering(square(value)), { scheme: 'learned', layout: 'interleaved', seed: 1 });
  const flat = mapOf((i, j) => i - j);
  assert.deepEqual([flat.range, flat.alongDiagonals], [47, 0]);
  const rows = mapOf((i) => -i);
  assert.deepEqual([rows.range, rows.alongDiagonals], [47, 1]);
  const one = (row, col, size = 3) => mapOf((i, j) => (i === row && j === col ? size : 0));
  const onDiagonals = [[0, 0], [1, 1], [46, 46], [47, 47], [0, 46], [1, 47], [46, 0], [47, 1]]; // prettier-ignore
  const corners = [[0, 47], [47, 0]]; // prettier-ignore
  for (const [row, col] of [...onDiagonals, ...corners]) {
    const step = corners.some(([i]) => i === row && Math.abs(row - col) === 47) ? 0 : 3;
    const { range, alongDiagonals } = one(row, col);
    assert.deepEqual([range, alongDiagonals], [3, step], `${row}, ${col}`);
    assert.equal(one(row, col, -3).range, 3);
  }
  // From the end of one row to the beginning of the next but one is no diagonal.
  assert.equal(mapOf((_, j) => (j === 47 ? 2 : j === 0 ? -2 : 0)).alongDiagonals, 2);
  assert.equal(mapOf((_, j) => (j === 0 || j === 47 ? 0 : 1)).alongDiagonals, 1);
  assert.equal(one(5, 5, 0.5).range, 0.5);
  assert.ok(Number.isNaN(one(3, 3, NaN).alongDiagonals));
});

// ---- pictures and frames ----

test('positions: its pictures are signed about zero', () => {
  const palette = { diverging: 'diverging' };
  const { encoding: table, scheme: map } = web.POSITION_PICTURES;
  const painted = { encoding: { data: new Float32Array(3 * D) } };
  assert.equal(table.of(painted), painted.encoding);
  const picture = table.picture(painted, palette);
  assert.deepEqual([picture.rows, picture.cols, picture.signed, picture.ramp], [3, D, true, 'diverging']);
  assert.deepEqual([-2, -1, 0, 1, 2].map(picture.place), [1, 1, 128, 255, 255]);
  for (const scheme of web.SCHEMES) {
    const of = { scheme: { scheme, values: new Float32Array(SPAN ** 2), range: 4 } };
    assert.equal(map.of(of), of.scheme);
    const { rows, cols, signed, allowed, place, ramp } = map.picture(of, palette);
    assert.deepEqual([rows, cols, allowed(3), signed, ramp], [SPAN, SPAN, [0, SPAN], true, 'diverging']);
    assert.deepEqual([-4, 0, 4].map(place), [1, 128, 255]);
  }
}); // prettier-ignore

test('positions: the encoding has 64 rows, or one for each token, and all is about the same k', () => {
  const qkv = answering(square(() => 0));
  const frames = web.positionsFrames({
    qkv: { ...qkv, ...engine(), alibiSlopes: (heads) => Float32Array.of(heads) },
    log: [],
  });
  const request = {
    shift: 3,
    position: 9,
    layout: 'concatenated',
    scheme: 'alibi',
    rotaryQ: 4,
    rotaryK: 6,
    seed: 5,
  };
  for (const [count, rows] of [
    [0, 64],
    [64, 64],
    [65, 65],
    [200, 200],
  ]) {
    const found = frames.compute(request, { heads: { count } });
    const { encoding: table, shift, place, drift, scheme, slopes, rotary } = found;
    assert.deepEqual(
      [table.length, table.data.length, table.layout],
      [rows, rows * D, 'concatenated'],
    );
    assert.deepEqual(
      [shift.k, shift.shifted.length, shift.blocks.length, place.k, place.p, drift.k],
      [3, rows * D, 128, 3, 9, 3],
    );
    assert.deepEqual(
      [place.from.length, place.to.length, slopes[0], scheme.scheme, rotary.m, rotary.n],
      [D, D, 8, 'alibi', 4, 6],
    );
    assert.deepEqual(place.to, encoding(1, { offset: 12, layout: 'concatenated' }));
    assert.ok(shift.residual < 4e-7 && shift.residual > 0);
  }
});
