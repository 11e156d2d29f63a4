// @build any
// array(), zeros(), random() and toNested(): plain arrays, made and read without an engine, by every entry.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import * as main from 'qkv';
import * as inline from 'qkv/inline';
import * as worker from 'qkv/worker';
import { expectSame, expectThrows } from '../../support/js/check.js';

const { array, init, random, toNested, zeros } = main;
const [invalid, shapes, range] = ['invalid_argument', 'shape_mismatch', 'out_of_range'];
const floats = (...values) => Float32Array.from(values);

for (const [name, entry] of Object.entries({
  qkv: main,
  'qkv/inline': inline,
  'qkv/worker': worker,
})) {
  test(`plain arrays: ${name} makes them`, () => {
    const made = [entry.array([[1], [2]]), entry.zeros([2, 1]), entry.random([2, 1], 3)];
    for (const { data, shape } of made) {
      assert.ok(data instanceof Float32Array && data.buffer instanceof ArrayBuffer);
      assert.deepEqual(shape, [2, 1]);
    }
    assert.deepEqual(entry.toNested(made[0]), [[1], [2]]);
    expectSame(made[2].data, random([2, 1], 3).data);
  });
}

describe('array(): nested rows become an array', () => {
  const cases = [
    [7, [], [7]],
    [[], [0], []],
    [[1, 2, 3], [3], [1, 2, 3]],
    [[[1, 2], [3, 4], [5, 6]], [3, 2], [1, 2, 3, 4, 5, 6]],
    [[[[1], [2]], [[3], [4]]], [2, 2, 1], [1, 2, 3, 4]],
    [[[], []], [2, 0], []],
    [[[[]], [[]]], [2, 1, 0], []],
    [[0.1, -0, NaN, -Infinity, 1e300], [5], [0.1, -0, NaN, -Infinity, Infinity]],
    [runInNewContext('[[1, 2], [3, 4]]'), [2, 2], [1, 2, 3, 4]],
  ]; // prettier-ignore
  for (const [nested, shape, data] of cases) {
    test(`of shape [${shape}]`, () => {
      const made = array(nested);
      assert.deepEqual(made.shape, shape);
      expectSame(made.data, floats(...data), 'element', { empty: true });
      assert.deepEqual(array(toNested(made)), made);
    });
  }

  test('attention reads it', async () => {
    const engine = await init();
    const x = array([[1, 0], [0, 1]]); // prettier-ignore
    const { output } = engine.attention(x, x, x, { numHeads: 1, causal: true });
    assert.deepEqual(toNested(output)[0], [1, 0]);
  });

  test('of more elements than the core can count is refused before they are collected', () => {
    const row = Array(2 ** 20).fill(0);
    expectThrows(() => array(Array(2 ** 11).fill(row)), 'array', range, '[2048,1048576]');
  });

  const deep = (depth) => (depth === 0 ? 1 : [deep(depth - 1)]);
  const circle = [];
  circle.push(circle);
  const broken = new Proxy([1], {
    get() {
      throw new Error('no entry');
    },
  });
  const hole = [1, 2];
  delete hole[1];
  const refused = [
    ['nothing', undefined, invalid, 'nested is undefined', 'a number or an array'],
    ['text', 'abc', invalid, 'nested is "abc"'],
    ['an element of text', [1, '2'], invalid, 'nested[1] is "2"', 'expected a number or an array'],
    ['a hole', hole, invalid, 'nested[1] is undefined'],
    ['a bigint', [[1n]], invalid, 'nested[0][0] is a bigint'],
    ['typed rows', [floats(1)], invalid, 'nested[0] is Float32Array'],
    ['an array of this package', zeros([1]), invalid, 'nested is Object'],
    ['a longer row', [[1], [2, 3]], shapes, 'nested[1] has 2 elements, expected 1'],
    ['a shorter row', [[[1], [2]], [[3]]], shapes, 'nested[1] has 1 element, expected 2'],
    ['a row beside an empty one', [[], [1]], shapes, 'nested[1] has 1 element, expected 0'],
    ['a number beside a row', [[1], 2], shapes, 'nested[1] is 2', 'an array of 1'],
    ['a row beside a number', [1, [2]], shapes, 'nested[1] is an array', 'a number'],
    ['a number below an empty row', [[[]], [1]], shapes, 'nested[1][0] is 1', 'array of 0'],
    ['65 axes', deep(65), range, 'is an array', 'at most 64 axes'],
    ['an array that holds itself', circle, range, 'at most 64 axes'],
    ['what cannot be read', broken, invalid, 'nested cannot be read', 'no entry'],
  ];
  for (const [what, nested, ...says] of refused) {
    test(`refuses ${what}`, () => expectThrows(() => array(nested), 'array', ...says));
  }
  test('takes 64 axes', () => assert.equal(array(deep(64)).shape.length, 64));
});

describe('zeros() and random()', () => {
  const makers = { zeros, random: (shape) => random(shape, 1) };
  for (const [name, make] of Object.entries(makers)) {
    test(`${name}() has the shape it is asked for, of its own`, () => {
      for (const shape of [[], [0], [3], [2, 3], [2, 0, 2 ** 20], [1, 1, 1, 4]]) {
        const { data, shape: made } = make(shape);
        assert.deepEqual(made, shape);
        assert.notEqual(made, shape);
        assert.equal(
          data.length,
          shape.reduce((n, e) => n * e, 1),
        );
      }
    });
    for (const [what, shape, code, ...says] of [
      ['a number', 3, invalid, 'the shape of the array is 3'],
      ['nothing', undefined, invalid, 'the shape of the array is undefined'],
      ['an extent below 0', [2, -1], invalid, 'is [2,-1]', 'whole numbers >= 0'],
      ['a fraction', [1.5], invalid, 'is [1.5]'],
      ['text', ['2'], invalid, 'is [2]'],
      ['2^31 elements', [2 ** 31], range, 'is [2147483648]', 'at most 2147483647'],
      ['2^31 elements in rows', [2 ** 16, 2 ** 15], range, 'is [65536,32768]'],
    ]) {
      test(`${name}() refuses ${what}`, () => expectThrows(() => make(shape), name, code, ...says));
    }
    test(`${name}() tells of memory that cannot be had`, (t) => {
      const { Float32Array: Original } = globalThis;
      t.after(() => (globalThis.Float32Array = Original));
      globalThis.Float32Array = class {
        constructor() {
          throw new RangeError('Array buffer allocation failed');
        }
      };
      expectThrows(() => make([1000]), name, 'out_of_memory', '4000 bytes');
    });
  }
  test('zeros() are zeros', () => assert.ok(zeros([100]).data.every((x) => Object.is(x, 0))));
  for (const [seed, code, ...says] of [
    [undefined, invalid, 'seed is undefined', 'a whole number'],
    [1.5, invalid, 'seed is 1.5'],
    ['1', invalid, 'seed is "1"'],
    [-1, range, 'seed is -1', '0 to 9007199254740991'],
  ]) {
    test(`random() refuses the seed ${seed}`, () => {
      expectThrows(() => random([1], seed), 'random', code, ...says);
    });
  }
});

describe('random(): numbers', () => {
  const many = (seed, n = 1e5) => random([n], seed).data;

  test('are those of the formula, which any language can compute', () => {
    const word = (n) => BigInt.asUintN(32, n);
    const h = (x) => {
      let bits = word(x);
      bits = word((bits ^ (bits >> 16n)) * 0x85ebca6bn);
      bits = word((bits ^ (bits >> 13n)) * 0xc2b2ae35n);
      return bits ^ (bits >> 16n);
    };
    for (const seed of [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]) {
      const [s1, s0] = [BigInt(seed) >> 32n, BigInt(seed) & 0xffffffffn];
      const key = h(h(s1 + 0x9e3779b9n) ^ s0);
      const expected = Array.from(
        { length: 9 },
        (_, i) => Number(h(h(BigInt(i)) ^ key) >> 8n) / 2 ** 23 - 1,
      );
      expectSame(many(seed, 9), floats(...expected));
    }
  });

  test('do not depend on how many there are', () => {
    expectSame(many(5, 100), many(5, 1000).slice(0, 100));
  });
});

describe('toNested(): an array becomes nested rows', () => {
  const cases = [
    [floats(7), [], 7],
    [floats(), [0], []],
    [floats(), [2, 0], [[], []]],
    [floats(), [0, 3], []],
    [floats(1, 2, 3, 4), [2, 2], [[1, 2], [3, 4]]],
    [floats(1, 2, 3, 4, 5, 6), [1, 3, 2], [[[1, 2], [3, 4], [5, 6]]]],
    [Uint8Array.of(1, 0), [2, 1], [[1], [0]]],
  ]; // prettier-ignore
  for (const [data, shape, nested] of cases) {
    test(`of shape [${shape}]`, () => assert.deepEqual(toNested({ data, shape }), nested));
  }
  for (const [what, value, code, ...says] of [
    ['nothing', undefined, invalid, 'array is undefined', '{ data:'],
    ['numbers alone', floats(1), invalid, 'array is Float32Array'],
    ['float64', { data: new Float64Array(1), shape: [1] }, invalid, '{ data: Float64Array }'],
    ['no shape', { data: floats(1) }, invalid, 'the shape of array is undefined'],
    ['a shape that does not fit', { data: floats(1), shape: [2] }, shapes, 'has 1 elements'],
    ['2^28 empty rows', { data: floats(), shape: [2 ** 28, 0] }, range, 'at most 134217728'],
  ]) {
    test(`refuses ${what}`, () => expectThrows(() => toNested(value), 'toNested', code, ...says));
  }
  test('refuses a tensor, and says what it is', async () => {
    const tensor = (await init()).tensor([1]);
    expectThrows(() => toNested(tensor), 'toNested', invalid, 'array is Tensor');
    tensor.dispose();
  });
});
