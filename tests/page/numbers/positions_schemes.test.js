// @about web/src/features/positions/
// What the panel about positions asks the engine for and works out of it: residuals to the last bit, the steps along diagonals, the
// colours of its pictures. The engine is the test's, in float64.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';
import { requireWritten } from '../support/operate.js';
import { hashed } from '../support/window.js';

const web = await modules(
  ...[
    'worker/residuals',
    'worker/scheme_maps',
    'worker/position_pictures',
    'shared/pair_table',
    'state',
    'worker/frame_feature',
  ].map((name) => `features/positions/${name}`),
  ...['domain/schemes', 'domain/cividis', 'engine/random'],
);
const D = 64;
const PAIRS = 32;
const w = (pair) => 10000 ** ((-2 * pair) / D);
const columns = (layout, pair) =>
  layout === 'interleaved' ? [2 * pair, 2 * pair + 1] : [pair, pair + PAIRS];

// ---- pairs ----

test('positions: the columns of a pair, and the pair of a column', () => {
  for (const layout of web.LAYOUTS) {
    for (let pair = 0; pair < PAIRS; pair++) {
      assert.deepEqual(web.columnsOfPair(layout, pair), columns(layout, pair));
      for (const col of columns(layout, pair)) assert.equal(web.pairOfColumn(layout, col), pair);
      assert.equal(web.frequency(pair), w(pair));
    }
  }
});

test('positions: fields of the state and their limits', () => {
  const lines = Object.entries(web.positionsFields).map(
    ([name, { key, initial, limits, options }]) =>
      JSON.stringify({ name, key, initial, limits, options }),
  );
  requireWritten('positions-fields', lines);
});

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

/** Every step of the angle rounded to float32, sines first. */
function naive(p, length) {
  const data = new Float32Array(length * D);
  const { fround } = Math;
  for (let row = 0; row < length; row++) {
    for (let pair = 0; pair < PAIRS; pair++) {
      const angle = fround(fround(p + row) * fround(10000 ** fround((-2 * pair) / D)));
      [data[row * D + pair], data[row * D + pair + PAIRS]] = [Math.sin(angle), Math.cos(angle)];
    }
  }
  return data;
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

test('positions: both ways along four positions in a row, at every quarter of an octave', () => {
  const wrong = (position, pair) => (position % 3 === 0 ? 1e-3 / (1 + position + pair) : 0);
  const drift = web.driftOver(engine(wrong), 5);
  const positions = [...new Set(Array.from({ length: 65 }, (_, i) => Math.round(2 ** (i / 4))))];
  assert.deepEqual([drift.k, [...drift.positions]], [5, positions]);
  const blocks = blocksOf(5);
  positions.forEach((p, i) => {
    const core = [p, p + 5].map((offset) => encoding(4, { offset, layout: 'concatenated' }, wrong));
    assert.equal(drift.core[i], largest(...core, blocks, 'concatenated'), `core at ${p}`);
    assert.equal(
      drift.naive[i],
      largest(naive(p, 4), naive(p + 5, 4), blocks, 'concatenated'),
      `naive at ${p}`,
    );
  });
  const one = web.residualsAt(engine(wrong), 12, 5);
  const core = [12, 17].map((offset) => encoding(1, { offset, layout: 'concatenated' }, wrong));
  assert.deepEqual(one, {
    core: largest(...core, blocks, 'concatenated'),
    naive: largest(naive(12, 1), naive(17, 1), blocks, 'concatenated'),
  });
});

// ---- schemes ----

const SPAN = 48;
const short = (value) => {
  if (ArrayBuffer.isView(value)) return `${value.length}: ${hashed(value)}`;
  if (value?.data) return `[${value.shape}] ${short(value.data)}`;
  return JSON.stringify(value);
};

/** An engine that notes what it is asked for and answers with these numbers. */
function noting(values) {
  const asked = [];
  const answer =
    (name, wrap) =>
    (...args) => {
      asked.push(`${name}(${args.map(short).join(', ')})`);
      return wrap(args);
    };
  const ramp = (count) => Float32Array.from({ length: count }, (_, i) => (i % 1000) - 300);
  const qkv = {
    attention: answer('attention', () => ({ logits: { data: values } })),
    sinusoidalEncoding: answer('sinusoidalEncoding', ([rows, cols]) => ({
      data: ramp(rows * cols),
      shape: [rows, cols],
    })),
    learnedEncoding: answer('learnedEncoding', ([table]) => table),
    t5RelativeBias: answer('t5RelativeBias', () => ({ data: values })),
    transformerXlBias: answer('transformerXlBias', () => ({ data: values })),
    rotaryEmbedding: answer('rotaryEmbedding', ([row]) => ({
      ...row,
      data: row.data.map((x) => x + 1),
    })),
  };
  return { qkv, asked };
}
const square = (value) =>
  Float32Array.from({ length: SPAN ** 2 }, (_, at) => value(Math.floor(at / SPAN), at % SPAN));

test('positions: what each scheme asks the engine for', () => {
  const lines = [];
  for (const scheme of web.SCHEMES) {
    for (const layout of web.LAYOUTS) {
      const count = scheme === 'alibi' ? 8 * SPAN ** 2 : SPAN ** 2;
      const { qkv, asked } = noting(Float32Array.from({ length: count }, (_, i) => i % 97));
      const { values, drawn, ...map } = web.schemeMap(qkv, { scheme, layout, seed: 7 });
      const random = Object.entries(drawn).map(([name, data]) => `${name} ${short(data)}`);
      lines.push(
        `=== ${scheme}, ${layout}: ${JSON.stringify(map)}`,
        short(values),
        ...random,
        ...asked,
        '',
      );
    }
  }
  for (const layout of web.LAYOUTS) {
    const { qkv, asked } = noting(Float32Array.of(0.25, 9));
    const { exact, q, k, ...rest } = web.rotaryScore(qkv, [12, 5], { layout, seed: 7 });
    lines.push(`=== q at 12, k at 5, ${layout}: ${JSON.stringify(rest)} ${exact.toPrecision(9)}`);
    lines.push(short(q), short(k), ...asked, '');
  }
  requireWritten('positions-schemes', lines);
});

test('positions: the largest magnitude of a map, and its largest step along a diagonal', () => {
  const mapOf = (value) =>
    web.schemeMap(noting(square(value)).qkv, { scheme: 't5', layout: 'interleaved', seed: 1 });
  const flat = mapOf((i, j) => i - j);
  assert.deepEqual([flat.range, flat.alongDiagonals], [47, 0]);
  const rows = mapOf((i) => -i);
  assert.deepEqual([rows.range, rows.alongDiagonals], [47, 1]);
  const one = (row, col, size = 3) => mapOf((i, j) => (i === row && j === col ? size : 0));
  for (const [row, col, step] of [
    ...[
      [0, 0, 3],
      [1, 1, 3],
      [46, 46, 3],
      [47, 47, 3],
      [0, 46, 3],
      [1, 47, 3],
      [46, 0, 3],
      [47, 1, 3],
    ],
    ...[
      [0, 47, 0],
      [47, 0, 0],
    ],
  ]) {
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

test('positions: the colours of its pictures', () => {
  const lines = [];
  const palette = { diverging: 'diverging' };
  const { encoding: table, scheme: map } = web.POSITION_PICTURES;
  const say = (name, { rows, cols, signed, allowed, place, ramp, values }, at) => {
    const from = ramp === web.cividisPixels ? 'cividis' : ramp;
    lines.push(
      `${name}: ${rows} x ${cols}, signed ${signed}, allowed ${allowed(3)}, ${from}, ${values.length} values`,
    );
    lines.push(at.map((value) => `${value}: ${place(value)}`).join(', '));
  };
  const painted = { encoding: { data: new Float32Array(3 * D) } };
  assert.equal(table.of(painted), painted.encoding);
  say('encoding', table.picture(painted, palette), [-2, -1, -0.5, 0, 0.25, 1, 2]);
  for (const scheme of web.SCHEMES) {
    const of = { scheme: { scheme, values: new Float32Array(SPAN ** 2), range: 4 } };
    assert.equal(map.of(of), of.scheme);
    say(scheme, map.picture(of, palette), [-4, -1, 0, 1, 4, 15, 16, 30, 31]);
  }
  requireWritten('positions-pictures', lines);
});

test('positions: the encoding has 64 rows, or one for each token, and all is about the same k', () => {
  const { qkv } = noting(square(() => 0));
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
