// sinusoidalEncoding() and sinusoidalShift().
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { expectClose, expectSame } from '../../support/js/check.js';
import { sinusoid } from '../../support/js/oracle.js';

const engine = await init();
const encodingBound = 1.2e-7;
const shiftBound = 2.4e-7;
const farthest = 2 ** 20;

function expectEncoding(length, dModel, options = {}) {
  const { data, shape } = engine.sinusoidalEncoding(length, dModel, options);
  assert.deepEqual(shape, [length, dModel]);
  const { offset = 0 } = options;
  const exact = Array.from({ length: length * dModel }, (_, at) =>
    sinusoid(offset + Math.floor(at / dModel), at % dModel, dModel, options),
  );
  expectClose(data, exact, encodingBound, { size: 1 });
}

for (const dModel of [1, 2, 3, 5, 8, 63, 64, 65, 512]) {
  test(`the encoding of width ${dModel} is the formula`, () => {
    for (const layout of ['interleaved', 'concatenated']) expectEncoding(100, dModel, { layout });
  });
}

test('positions up to 2^20 are as exact as the first', () => {
  for (const offset of [-farthest, -1000, -37, 4096, 65_535, farthest - 199]) {
    expectEncoding(200, 64, { offset });
    expectEncoding(200, 65, { offset, layout: 'concatenated' });
  }
});

test('base sets the wavelengths', () => {
  for (const base of [1, 2, 100, 5e5]) expectEncoding(70, 10, { base });
});

test('the default is the base and layout of the paper, from position 0', () => {
  const plain = engine.sinusoidalEncoding(9, 6).data;
  const said = { offset: 0, base: 10000, layout: 'interleaved' };
  expectSame(engine.sinusoidalEncoding(9, 6, said).data, plain);
  assert.deepEqual([...plain.slice(0, 6)], [0, 1, 0, 1, 0, 1]);
});

test('a position does not depend on where its table starts, bit for bit', () => {
  const table = engine.sinusoidalEncoding(200, 12, { offset: -50 }).data;
  for (const p of [-50, -1, 0, 1, 63, 64, 65, 149]) {
    const row = engine.sinusoidalEncoding(1, 12, { offset: p }).data;
    expectSame(row, table.slice((p + 50) * 12, (p + 51) * 12), `position ${p}, element`);
  }
});

test('concatenated holds the numbers of interleaved, sines first', () => {
  for (const dModel of [8, 9]) {
    const one = engine.sinusoidalEncoding(20, dModel).data;
    const other = engine.sinusoidalEncoding(20, dModel, { layout: 'concatenated' }).data;
    const sines = Math.ceil(dModel / 2);
    const moved = one.map((_, at) => {
      const [p, c] = [Math.floor(at / dModel), at % dModel];
      return one[p * dModel + (c < sines ? 2 * c : 2 * (c - sines) + 1)];
    });
    expectSame(other, moved);
  }
});

test('an empty table is empty, at once however wide it is', () => {
  assert.deepEqual(engine.sinusoidalEncoding(0, 6), { data: new Float32Array(0), shape: [0, 6] });
  // Work for each of these columns would take minutes.
  assert.deepEqual(engine.sinusoidalEncoding(0, 2 ** 30).shape, [0, 2 ** 30]);
});

/** M PE(p) in float64 for M as blocks or dense. */
function shifted({ data, shape }, row, layout) {
  const dModel = row.length;
  if (shape.length === 2) {
    return Array.from(row, (_, i) => row.reduce((sum, x, j) => sum + data[i * dModel + j] * x, 0));
  }
  const [sineOf, cosineOf] =
    layout === 'concatenated'
      ? [(i) => i, (i) => dModel / 2 + i]
      : [(i) => 2 * i, (i) => 2 * i + 1];
  const result = Array(dModel);
  for (let i = 0; i < shape[0]; ++i) {
    const [a, b, c, d] = data.subarray(4 * i, 4 * i + 4);
    const [sine, cosine] = [row[sineOf(i)], row[cosineOf(i)]];
    result[sineOf(i)] = a * sine + b * cosine;
    result[cosineOf(i)] = c * sine + d * cosine;
  }
  return result;
}

const shifts = [0, 1, -1, 7, 64, 1000, -4096, farthest / 2];

for (const form of ['blocks', 'dense']) {
  for (const layout of ['interleaved', 'concatenated']) {
    test(`the ${form} shift an encoding: PE(p + k) = M_k PE(p), ${layout}`, () => {
      const dModel = 16;
      for (const k of shifts) {
        const m = engine.sinusoidalShift(k, dModel, { form, layout });
        assert.deepEqual(m.shape, form === 'blocks' ? [8, 2, 2] : [16, 16]);
        for (const offset of [0, 1, -50, 4000, 500_000]) {
          const at = (p) => engine.sinusoidalEncoding(1, dModel, { offset: p, layout }).data;
          expectClose(shifted(m, at(offset), layout), at(offset + k), shiftBound, { size: 1 });
        }
      }
    });
  }
}

test('blocks are the default form, and are rotations by k w_i', () => {
  const k = 3;
  const { data, shape } = engine.sinusoidalShift(k, 9, { base: 100 });
  assert.deepEqual(shape, [5, 2, 2]);
  const exact = Array.from({ length: 5 }, (_, i) => k * 100 ** ((-2 * i) / 9)).flatMap((angle) => {
    const [s, c] = [Math.sin(angle), Math.cos(angle)];
    return [c, s, -s, c];
  });
  expectClose(data, exact, encodingBound);
  expectSame(engine.sinusoidalShift(k, 9, { base: 100, form: 'blocks' }).data, data);
});

test('dense holds the blocks and zeros', () => {
  const blocks = engine.sinusoidalShift(5, 6).data;
  const dense = engine.sinusoidalShift(5, 6, { form: 'dense' }).data;
  const expected = new Float32Array(36);
  for (let i = 0; i < 3; ++i) {
    for (let r = 0; r < 2; ++r) {
      for (let c = 0; c < 2; ++c) expected[(2 * i + r) * 6 + 2 * i + c] = blocks[4 * i + 2 * r + c];
    }
  }
  expectSame(dense, expected);
});

test('a shift by 0 is the identity', () => {
  const { data } = engine.sinusoidalShift(0, 4, { form: 'dense' });
  assert.deepEqual(Array.from(data, Math.abs), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
});

test('every build gives the same bits', async () => {
  const simd = await init({ deterministic: true });
  const options = { offset: 12_345, layout: 'concatenated' };
  expectSame(
    engine.sinusoidalEncoding(130, 65, options).data,
    simd.sinusoidalEncoding(130, 65, options).data,
  );
});
