// attention(): every option that does not fit is named, and nothing changes.
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { booleanMask, problem, randomArray, zeros } from './support/arrays.js';
import { badArrays, notBooleans, notNumbers } from './support/bad-arrays.js';
import { expectThrows } from './support/check.js';
import { wasmFile } from './support/files.js';
import { expectLooks, nothingChanges } from './support/refusals.js';

const fn = 'attention';
const engine = await init();
const other = await init({ wasm: wasmFile('simd') });
const { q, k, v } = problem();
const out = engine.tensor(q.shape);
const dead = engine.tensor([7, 7]);
dead.dispose();
const foreign = other.tensor([7, 7]);

nothingChanges(engine, out, () => engine.attention(q, k, v).output.data);
after(() => other.dispose());

/** The call is refused with and without an output tensor. */
function refuses(options, code, ...says) {
  expectThrows(() => engine.attention(q, k, v, options), fn, code, ...says);
  expectThrows(() => engine.attention(q, k, v, { out, ...options }), fn, code, ...says);
}

describe('options', () => {
  for (const [value, was] of [
    [null, 'null'],
    [3, '3'],
    ['causal', '"causal"'],
    [[], 'an array'],
  ]) {
    test(`${was} for options is refused`, () =>
      expectThrows(
        () => engine.attention(q, k, v, value),
        fn,
        'invalid_argument',
        `options is ${was}`,
      ));
  }

  for (const name of ['Causal', 'numheads', 'returnWeight', 'dropOut', 'kvCache', 'context']) {
    test(`the unknown option ${name} is refused, and the known ones are told`, () =>
      refuses({ [name]: true }, 'invalid_argument', `'${name}'`, 'causal, causalOffset'));
  }

  for (const name of ['causal', 'returnWeights', 'returnLse', 'returnEntropy']) {
    for (const [value, was] of notBooleans) {
      test(`${name}: ${was} is refused`, () =>
        refuses({ [name]: value }, 'invalid_argument', `${name} is ${was}`, 'a boolean'));
    }
  }

  for (const name of ['scale', 'temperature']) {
    for (const [value, was] of notNumbers) {
      test(`${name}: ${was} is refused`, () =>
        refuses({ [name]: value }, 'invalid_argument', `${name} is ${was}`, 'a number'));
    }

    for (const value of [NaN, Infinity, -Infinity, 1e300]) {
      test(`${name}: ${value} is refused`, () =>
        refuses({ [name]: value }, 'invalid_argument', `${name} is `));
    }
  }

  for (const value of [0, -1, 1e-39]) {
    test(`temperature: ${value} is refused`, () =>
      refuses({ temperature: value }, 'invalid_argument', 'temperature is ', 'at least'));
  }

  const causal = true;
  for (const [value, was] of [...notNumbers, [0.5, '0.5'], [NaN, 'NaN']]) {
    test(`causalOffset: ${was} is refused`, () =>
      refuses({ causal, causalOffset: value }, 'invalid_argument', `causalOffset is ${was}`));
  }

  for (const value of [2 ** 31, -(2 ** 31), 2 ** 53 - 1]) {
    test(`causalOffset: ${value} is refused`, () =>
      refuses({ causal, causalOffset: value }, 'out_of_range', `causalOffset is ${value}`));
  }

  test('causalOffset without causal is refused', () => {
    const says = ['causalOffset is 0', 'causal: true'];
    refuses({ causalOffset: 0 }, 'invalid_argument', ...says);
    refuses({ causalOffset: 0, causal: false }, 'invalid_argument', ...says);
  });

  test('causal with other lengths asks for the offset and tells both choices', () => {
    const keys = zeros([2, 4, 9, 8]);
    const says = ['7 queries and 9 keys', 'causalOffset', '2 the last'];
    const call = () => engine.attention(q, keys, keys, { causal });
    expectThrows(call, fn, 'invalid_argument', ...says);
  });

  for (const [value, was] of [
    ['0-3', '"0-3"'],
    [3, '3'],
    [null, 'null'],
    [[1], '[1]'],
    [[0, 1, 2], '[0,1,2]'],
    [[0.5, 2], '[0.5,2]'],
    [['0', '2'], '[0,2]'],
    [[NaN, 2], '[NaN,2]'],
  ]) {
    test(`rows: ${was} is refused`, () => {
      const says = [`rows is ${was}`, '[start, end) within [0, 7]'];
      refuses({ returnWeights: true, rows: value }, 'invalid_argument', ...says);
    });
  }

  for (const rows of [
    [-1, 2],
    [3, 2],
    [0, 8],
    [8, 8],
  ]) {
    test(`rows: [${rows}] is refused`, () =>
      refuses({ rows }, 'out_of_range', `rows is [${rows}]`, 'within [0, 7]'));
  }
});

describe('mask', () => {
  const cases = badArrays('mask', '{ data: Uint8Array or Float32Array, shape }').slice(1);
  for (const [claim, value, ...error] of cases) {
    test(`is refused when ${claim}`, () => refuses({ mask: value }, ...error));
  }

  for (const shape of [[6], [8, 7], [3, 7, 7], [3, 1, 7, 7], [2, 2, 7, 7], [7, 4, 1]]) {
    for (const mask of [booleanMask(shape, () => true), randomArray(shape, 1)]) {
      const kind = mask.data.constructor.name;
      test(`is refused when a ${kind} [${shape}] does not broadcast`, () =>
        refuses({ mask }, 'shape_mismatch', `mask is [${shape}]`, '[2,4,7,7]'));
    }
  }

  for (const shape of [[], [1, 1, 1, 7, 7]]) {
    test(`is refused with rank ${shape.length}`, () =>
      refuses({ mask: zeros(shape) }, 'shape_mismatch', `mask is [${shape}]`, 'rank 1 to 4'));
  }

  test('is refused when it is a disposed tensor or one of another engine', () => {
    refuses({ mask: dead }, 'disposed', 'mask is a disposed tensor');
    refuses({ mask: foreign }, 'invalid_argument', 'mask is a tensor of another engine');
  });
});

test('nothing was changed by any of these', () => expectLooks(80));
