// sinusoidalEncoding() and sinusoidalShift(): every argument that does not fit is named, and nothing
// changes.
import { test } from 'node:test';
import { init } from 'qkv';
import { notNumbers } from './support/bad-arrays.js';
import { expectThrows } from './support/check.js';
import { expectLooks, nothingChanges } from './support/refusals.js';

const engine = await init();
const out = engine.tensor([4]);
nothingChanges(engine, out, () => engine.sinusoidalEncoding(3, 4).data);

const encode = (...args) => ['sinusoidalEncoding', () => engine.sinusoidalEncoding(...args)];
const shift = (...args) => ['sinusoidalShift', () => engine.sinusoidalShift(...args)];
const refuses = ([fn, call], code, ...says) => expectThrows(call, fn, code, ...says);
const notWhole = [
  ...notNumbers,
  [undefined, 'undefined'],
  [1.5, '1.5'],
  [NaN, 'NaN'],
  [Infinity, 'Infinity'],
];

for (const [value, was] of notWhole) {
  test(`${was} for a whole number is refused`, () => {
    refuses(encode(value, 4), 'invalid_argument', `length is ${was}`, 'a whole number');
    refuses(encode(3, value), 'invalid_argument', `dModel is ${was}`, 'a whole number');
    refuses(shift(value, 4), 'invalid_argument', `k is ${was}`, 'a whole number');
    refuses(shift(3, value), 'invalid_argument', `dModel is ${was}`, 'a whole number');
    if (value === undefined) return;
    refuses(
      encode(3, 4, { offset: value }),
      'invalid_argument',
      `offset is ${was}`,
      'a whole number',
    );
  });
}

test('sizes out of range are refused', () => {
  refuses(encode(-1, 4), 'out_of_range', 'length is -1', '0 to');
  for (const dModel of [0, -2, 2 ** 31]) {
    refuses(encode(3, dModel), 'out_of_range', `dModel is ${dModel}`, '1 to');
    refuses(shift(3, dModel), 'out_of_range', `dModel is ${dModel}`, '1 to');
  }
});

test('positions beyond 2^20 are refused', () => {
  const most = 2 ** 20;
  refuses(encode(2, 4, { offset: most }), 'out_of_range', 'offset', `${most + 1}`, `${most}`);
  refuses(encode(most + 2, 1), 'out_of_range', 'length', `${most + 1}`, `${most}`);
  refuses(encode(1, 4, { offset: -most - 1 }), 'out_of_range', 'offset', `${-most - 1}`, `${most}`);
  refuses(encode(1, 4, { offset: 2 ** 31 }), 'out_of_range', 'offset is 2147483648');
  for (const k of [most + 1, -most - 1, 2 ** 31]) {
    refuses(shift(k, 4), 'out_of_range', 'k ', `${k}`);
    refuses(shift(k, 4, { form: 'dense' }), 'out_of_range', 'k ', `${k}`);
  }
});

for (const make of [(options) => encode(3, 4, options), (options) => shift(3, 4, options)]) {
  const [fn] = make({});

  test(`${fn} refuses what is no base`, () => {
    for (const [value, was] of notNumbers) {
      refuses(make({ base: value }), 'invalid_argument', `base is ${was}`, 'a number');
    }
    for (const value of [0, 0.5, -1, NaN, Infinity]) {
      refuses(make({ base: value }), 'invalid_argument', 'base is ', 'at least 1');
      if (fn !== 'sinusoidalShift') continue;
      refuses(make({ base: value, form: 'dense' }), 'invalid_argument', 'base is ', 'at least 1');
    }
  });

  test(`${fn} refuses what is no layout`, () => {
    for (const [value, was] of [
      ['Interleaved', '"Interleaved"'],
      [null, 'null'],
      [1, '1'],
    ]) {
      const says = [`layout is ${was}`, "'interleaved' or 'concatenated'"];
      refuses(make({ layout: value }), 'invalid_argument', ...says);
    }
  });

  test(`${fn} refuses what are no options, and unknown ones`, () => {
    for (const [value, was] of [
      [null, 'null'],
      [3, '3'],
      [[], 'an array'],
    ]) {
      refuses(make(value), 'invalid_argument', `options is ${was}`, 'an object');
    }
    refuses(make({ Base: 3 }), 'invalid_argument', "'Base'", 'base');
  });
}

test('the form is one of two, and dense needs an even width', () => {
  for (const [value, was] of [
    ['matrix', '"matrix"'],
    [null, 'null'],
  ]) {
    refuses(
      shift(1, 4, { form: value }),
      'invalid_argument',
      `form is ${was}`,
      "'blocks' or 'dense'",
    );
  }
  refuses(shift(1, 5, { form: 'dense' }), 'unsupported', 'dModel is 5', 'an even number');
});

test('nothing was changed by any of these', () => expectLooks(15));
