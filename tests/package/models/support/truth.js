// Models of random numbers, of which files are made.
import assert from 'node:assert/strict';
import { randomArray } from '../../../support/js/arrays.js';
import { expectSame } from '../../../support/js/check.js';
import { collect } from './collect.js';
import { exactly } from './numbers.js';

/** A model: `array(name, shape)` makes an array of it, in our layout, and remembers it. */
export function newTruth() {
  const arrays = {};
  const array = (name, shape) => {
    const { data } = randomArray(shape, Object.keys(arrays).length);
    arrays[name] = { shape, data: data.map(exactly) };
    return { shape, values: arrays[name].data };
  };
  return { arrays, array };
}

/** [in, out] as [out, in]. */
export function turned({ shape: [rows, columns], values }) {
  const data = values.map((_, i) => values[(i % rows) * columns + Math.floor(i / rows)]);
  return { shape: [columns, rows], values: data };
}

/** Rows of several, one below the other. */
export const stacked = (...all) => ({
  shape: [all.reduce((n, { shape }) => n + shape[0], 0), ...all[0].shape.slice(1)],
  values: Float32Array.from(all.flatMap(({ values }) => [...values])),
});

/** Rows or elements [begin, end). */
export function part({ shape: [, ...rest], values }, begin, end) {
  const size = rest.reduce((n, extent) => n * extent, 1);
  return { shape: [end - begin, ...rest], values: values.slice(begin * size, end * size) };
}

/** What is read is the model, bit for bit, and nothing more. */
export async function expectModel(opened, { arrays }) {
  const found = await collect(opened);
  assert.deepEqual(Object.keys(found).sort(), Object.keys(arrays).sort());
  for (const [name, { shape, data }] of Object.entries(arrays)) {
    assert.deepEqual(found[name].shape, shape, name);
    expectSame(found[name].data, data, name);
  }
}
