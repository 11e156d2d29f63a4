// attention(): every array that does not fit is named, and nothing changes.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { problem, toRank, zeros } from './support/arrays.js';
import { badArrays, notNumbers } from './support/bad-arrays.js';
import { expectThrows } from './support/check.js';
import { wasmFile } from './support/files.js';
import { expectLooks, nothingChanges } from './support/refusals.js';

const fn = 'attention';
const engine = await init();
const other = await init({ wasm: wasmFile('simd') });
const { q, k, v } = problem();
const out = engine.tensor(q.shape);
const dead = engine.tensor(q.shape);
dead.dispose();
const foreign = other.tensor(q.shape);

nothingChanges(engine, out, () => engine.attention(q, k, v).output.data);
after(() => other.dispose());

/** The call is refused with and without an output tensor. */
function refuses(arrays, options, code, ...says) {
  expectThrows(() => engine.attention(...arrays, options), fn, code, ...says);
  expectThrows(() => engine.attention(...arrays, { out, ...options }), fn, code, ...says);
}

for (const [position, name] of ['q', 'k', 'v'].entries()) {
  describe(name, () => {
    const withArray = (value) => [q, k, v].map((array, at) => (at === position ? value : array));

    for (const [claim, value, ...error] of badArrays(name)) {
      test(`is refused when ${claim}`, () => refuses(withArray(value), {}, ...error));
    }

    for (const shape of [[], [64], [1, 1, 2, 4, 8]]) {
      test(`is refused with rank ${shape.length}`, () => {
        const says = [`${name} is [${shape}]`, '[B,H,T,d], [B,T,H*d] or [T,H*d]'];
        refuses(withArray(zeros(shape)), {}, 'shape_mismatch', ...says);
      });
    }

    test('is refused when it is a disposed tensor', () =>
      refuses(withArray(dead), {}, 'disposed', `${name} is a disposed tensor`));

    test('is refused when it is a tensor of another engine', () =>
      refuses(withArray(foreign), {}, 'invalid_argument', `${name} is a tensor of another engine`));

    test('is refused with columns that the heads do not divide', () => {
      const says = [`${name} is [2,7,10]`, 'divides'];
      refuses(withArray(zeros([2, 7, 10])), { numHeads: 4 }, 'shape_mismatch', ...says);
    });

    test('is refused with another batch', () => {
      const names = { q: 'k', k: 'k', v: 'v' };
      refuses(
        withArray(zeros([3, 4, 7, 8])),
        {},
        'shape_mismatch',
        `${names[name]} is `,
        'expected',
      );
    });
  });
}

describe('arrays that do not fit each other', () => {
  const cases = [
    ['k of another width', q, zeros([2, 4, 7, 9]), v, 'k is [2,4,7,9]', '[2,*,*,8]', 'q [2,4,7,8]'],
    [
      'v of another length',
      q,
      k,
      zeros([2, 4, 6, 8]),
      'v is [2,4,6,8]',
      '[2,4,7,*]',
      'k [2,4,7,8]',
    ],
    ['v of other heads', q, k, zeros([2, 2, 7, 8]), 'v is [2,2,7,8]', '[2,4,7,*]', 'k [2,4,7,8]'],
    ['heads that are no multiple', q, zeros([2, 3, 7, 8]), zeros([2, 3, 7, 8]), '4 heads', 'has 3'],
    ['more key heads than query heads', q, zeros([2, 8, 7, 8]), zeros([2, 8, 7, 8]), 'has 8'],
  ];
  for (const [claim, cq, ck, cv, ...says] of cases) {
    test(`${claim} are refused`, () => refuses([cq, ck, cv], {}, 'shape_mismatch', ...says));
  }

  test('the message speaks in the rank of the array', () => {
    const [q3, k3] = [toRank(q, 3), zeros([2, 6, 28])];
    const says = ['k is [2,6,28]', '[2,*,32]', 'q [2,7,32]'];
    expectThrows(
      () => engine.attention(q3, k3, k3, { numHeads: 4 }),
      fn,
      'shape_mismatch',
      ...says,
    );
  });

  test('a width of 0 is refused', () => {
    const none = zeros([2, 4, 7, 0]);
    expectThrows(
      () => engine.attention(none, none, v),
      fn,
      'shape_mismatch',
      'd_k is 0',
      'at least 1',
    );
    expectThrows(
      () => engine.attention(q, k, none),
      fn,
      'shape_mismatch',
      'd_v is 0',
      'at least 1',
    );
  });
});

describe('heads', () => {
  const split = [q, k, v].map((array) => toRank(array, 3));

  test('numHeads is needed for rank 3 and rank 2', () => {
    const says = ['numHeads is missing', 'q is [2,7,32]'];
    expectThrows(() => engine.attention(...split), fn, 'invalid_argument', ...says);
    const flat = zeros([7, 32]);
    expectThrows(() => engine.attention(flat, flat, flat), fn, 'invalid_argument', 'q is [7,32]');
  });

  for (const name of ['numHeads', 'numKvHeads']) {
    for (const [value, was] of [
      ...notNumbers,
      [1.5, '1.5'],
      [NaN, 'NaN'],
      [Infinity, 'Infinity'],
    ]) {
      test(`${name}: ${was} is refused`, () =>
        refuses(
          split,
          { numHeads: 4, [name]: value },
          'invalid_argument',
          `${name} is ${was}`,
          'whole',
        ));
    }

    for (const value of [0, -4, 2 ** 31]) {
      test(`${name}: ${value} is refused`, () =>
        refuses(split, { numHeads: 4, [name]: value }, 'out_of_range', `${name} is ${value}`));
    }
  }

  test('numHeads that contradicts rank 4 is refused', () =>
    refuses([q, k, v], { numHeads: 2 }, 'shape_mismatch', 'q is [2,4,7,8]', 'numHeads = 2'));

  test('numKvHeads that contradicts rank 4 is refused', () =>
    refuses([q, k, v], { numKvHeads: 2 }, 'shape_mismatch', 'k is [2,4,7,8]', 'numKvHeads = 2'));
});

describe('out', () => {
  const call =
    (value, inputs = [q, k, v]) =>
    () =>
      engine.attention(...inputs, { out: value });

  for (const [value, was] of [
    [null, 'null'],
    [3, '3'],
    [q, 'Object'],
    [q.data, 'Float32Array'],
  ]) {
    test(`is refused when it is ${was}`, () =>
      expectThrows(call(value), fn, 'invalid_argument', `out is ${was}`, 'a Tensor'));
  }

  for (const shape of [[2, 4, 7], [2, 4, 7, 9], [2, 7, 32], [448]]) {
    test(`is refused when it is [${shape}]`, () => {
      const wrong = engine.tensor(shape);
      expectThrows(call(wrong), fn, 'shape_mismatch', `out is [${shape}]`, '[2,4,7,8]');
      assert.ok(wrong.view().every((x) => x === 0));
      wrong.dispose();
    });
  }

  test('is refused when it is a disposed tensor or one of another engine', () => {
    expectThrows(call(dead), fn, 'disposed', 'out is a disposed tensor');
    expectThrows(call(foreign), fn, 'invalid_argument', 'out is a tensor of another engine');
  });

  test('is refused when it is also an input, which it would overwrite while that is read', () => {
    for (const [position, name] of ['q', 'k', 'v'].entries()) {
      const inputs = [q, k, v].map((array, at) => (at === position ? out : array));
      expectThrows(call(out, inputs), fn, 'invalid_argument', 'out', name);
    }
    const square = engine.tensor([1, 1, 7, 7]);
    const x = zeros([1, 1, 7, 7]);
    const masked = () => engine.attention(x, x, x, { mask: square, out: square });
    expectThrows(masked, fn, 'invalid_argument', 'out', 'mask');
    square.dispose();
  });
});

test('a disposed engine is named', async () => {
  const gone = await init({ wasm: wasmFile('simd') });
  const tensor = gone.tensor(q.shape);
  gone.dispose();
  expectThrows(() => gone.attention(q, k, v), fn, 'disposed', 'the engine is disposed');
  const says = 'q is a tensor of another engine';
  expectThrows(() => engine.attention(tensor, k, v), fn, 'invalid_argument', says);
});

test('nothing was changed by any of these', () => expectLooks(100));
