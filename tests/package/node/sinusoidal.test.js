// @build each
// sinusoidalEncoding() and sinusoidalShift().
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { expectClose, expectSame } from '../../support/js/check.js';
import { sinusoid } from '../../support/js/oracle.js';

const engine = await init();
const encodingBound = 1.2e-7;
const shiftBound = 2.4e-7;

function expectEncoding(length, dModel, options = {}) {
  const { data, shape } = engine.sinusoidalEncoding(length, dModel, options);
  assert.deepEqual(shape, [length, dModel]);
  const { offset = 0 } = options;
  const exact = Array.from({ length: length * dModel }, (_, at) =>
    sinusoid(offset + Math.floor(at / dModel), at % dModel, dModel, options),
  );
  expectClose(data, exact, encodingBound, { size: 1, quantity: 'sinusoidalEncoding' });
}

for (const dModel of [1, 8, 65]) {
  test(`sinusoidalEncoding: the encoding of width ${dModel} is the formula`, () => {
    for (const layout of ['interleaved', 'concatenated']) {
      for (const offset of [0, -37, 2 ** 20 - 100]) expectEncoding(100, dModel, { layout, offset });
    }
  });
}

test('sinusoidalEncoding: base sets the wavelengths', () => {
  for (const base of [1, 2, 100, 5e5]) expectEncoding(70, 10, { base });
});

test('sinusoidalEncoding: the default is the base and layout of the paper, from position 0', () => {
  const plain = engine.sinusoidalEncoding(9, 6).data;
  const said = { offset: 0, base: 10000, layout: 'interleaved' };
  expectSame(engine.sinusoidalEncoding(9, 6, said).data, plain);
  assert.deepEqual([...plain.slice(0, 6)], [0, 1, 0, 1, 0, 1]);
});

test('sinusoidalEncoding: an empty table is empty, at once however wide it is', () => {
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

const shifts = [0, 7, -4096];

for (const form of ['blocks', 'dense']) {
  for (const layout of ['interleaved', 'concatenated']) {
    test(`sinusoidalShift: the ${form} shift an encoding: PE(p + k) = M_k PE(p), ${layout}`, () => {
      const dModel = 16;
      for (const k of shifts) {
        const m = engine.sinusoidalShift(k, dModel, { form, layout });
        assert.deepEqual(m.shape, form === 'blocks' ? [8, 2, 2] : [16, 16]);
        for (const offset of [0, -50, 4000]) {
          const at = (p) => engine.sinusoidalEncoding(1, dModel, { offset: p, layout }).data;
          expectClose(shifted(m, at(offset), layout), at(offset + k), shiftBound, {
            ...{ size: 1, quantity: 'sinusoidalShift' },
          });
        }
      }
    });
  }
}

test('sinusoidalShift: blocks are the default form, and are rotations by k w_i', () => {
  const k = 3;
  const { data, shape } = engine.sinusoidalShift(k, 9, { base: 100 });
  assert.deepEqual(shape, [5, 2, 2]);
  const exact = Array.from({ length: 5 }, (_, i) => k * 100 ** ((-2 * i) / 9)).flatMap((angle) => {
    const [s, c] = [Math.sin(angle), Math.cos(angle)];
    return [c, s, -s, c];
  });
  expectClose(data, exact, encodingBound, { quantity: 'sinusoidalShift.blocks' });
  expectSame(engine.sinusoidalShift(k, 9, { base: 100, form: 'blocks' }).data, data);
});
