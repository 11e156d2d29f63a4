// multiHeadAttention(): every size and weight that does not fit is named, and nothing changes.
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { zeros } from './support/arrays.js';
import { badArrays, notNumbers } from './support/bad-arrays.js';
import { expectThrows } from './support/check.js';
import { expectLooks, nothingChanges } from './support/refusals.js';
import { config, context, fused, fusedConfig, weights, x } from './support/small-layer.js';

const engine = await init();
const layer = engine.multiHeadAttention(config, weights);
const out = engine.tensor(x.shape);

nothingChanges(engine, out, () => layer.forward(x, { context }).output.data);

function refusesToMake(givenConfig, givenWeights, code, ...says) {
  const create = () => engine.multiHeadAttention(givenConfig, givenWeights);
  expectThrows(create, 'multiHeadAttention', code, ...says);
}

describe('config', () => {
  for (const [value, was] of [
    [undefined, 'undefined'],
    [null, 'null'],
    [8, '8'],
    ['x', '"x"'],
    [[], 'an array'],
  ]) {
    test(`${was} is refused`, () =>
      refusesToMake(value, weights, 'invalid_argument', `config is ${was}`, 'an object'));
  }

  test('an unknown key is refused, and the known ones are told', () =>
    refusesToMake({ ...config, heads: 2 }, weights, 'invalid_argument', "'heads'", 'numHeads'));

  for (const name of ['dModel', 'numHeads']) {
    test(`a missing ${name} is refused`, () => {
      const says = [`${name} is undefined`, 'a whole number'];
      refusesToMake({ ...config, [name]: undefined }, weights, 'invalid_argument', ...says);
    });
  }

  for (const name of ['dModel', 'numHeads', 'numKvHeads', 'dK', 'dV', 'dContext']) {
    for (const [value, was] of [...notNumbers, [1.5, '1.5'], [NaN, 'NaN']]) {
      test(`${name}: ${was} is refused`, () =>
        refusesToMake(
          { ...config, [name]: value },
          weights,
          'invalid_argument',
          `${name} is ${was}`,
        ));
    }

    for (const value of [0, -1, 2 ** 31]) {
      test(`${name}: ${value} is refused`, () =>
        refusesToMake(
          { ...config, [name]: value },
          weights,
          'out_of_range',
          `${name} is ${value}`,
          '1 to',
        ));
    }
  }

  for (const [value, was] of [
    ['IN_OUT', '"IN_OUT"'],
    [null, 'null'],
    [1, '1'],
  ]) {
    test(`weightLayout: ${was} is refused`, () => {
      const says = [`weightLayout is ${was}`, "'in_out' or 'out_in'"];
      refusesToMake({ ...config, weightLayout: value }, weights, 'invalid_argument', ...says);
    });
  }

  test('heads that do not divide each other or dModel are refused', () => {
    const odd = { ...config, numHeads: 4, numKvHeads: 3 };
    refusesToMake(odd, weights, 'out_of_range', 'numKvHeads is 3', 'numHeads = 4');
    const says = ['dModel is 8', 'numHeads = 3'];
    refusesToMake({ dModel: 8, numHeads: 3 }, weights, 'out_of_range', ...says);
  });
});

describe('weights', () => {
  for (const [value, was] of [
    [undefined, 'undefined'],
    [null, 'null'],
    [[], 'an array'],
  ]) {
    test(`${was} is refused`, () =>
      refusesToMake(config, value, 'invalid_argument', `weights is ${was}`, 'an object'));
  }

  test('an unknown key is refused, and the known ones are told', () =>
    refusesToMake(config, { ...weights, Wq: weights.wq }, 'invalid_argument', "'Wq'", 'wq, wk'));

  for (const [name, { shape }] of Object.entries(weights)) {
    test(`a missing ${name} is refused, and its shape is told`, () => {
      const says = [`${name} is missing`, `[${shape}]`];
      refusesToMake(config, { ...weights, [name]: undefined }, 'invalid_argument', ...says);
    });

    for (const [claim, value, ...error] of badArrays(name).slice(1)) {
      test(`${claim}, which is refused`, () =>
        refusesToMake(config, { ...weights, [name]: value }, ...error));
    }

    for (const wrong of [
      [shape[0] * shape[1]],
      [shape[0] + 1, shape[1]],
      [shape[0], shape[1] - 1],
      [1, ...shape],
    ]) {
      test(`${name} of [${wrong}] is refused`, () => {
        const says = [`${name} is [${wrong}]`, `expected [${shape}]`];
        refusesToMake(config, { ...weights, [name]: zeros(wrong) }, 'shape_mismatch', ...says);
      });
    }
  }

  test("'out_in' asks for the other extents", () => {
    const swapped = { ...config, weightLayout: 'out_in' };
    refusesToMake(swapped, weights, 'shape_mismatch', 'wk is [6,4]', 'expected [4,6]');
  });

  for (const [name, length] of [
    ['bq', 8],
    ['bk', 4],
    ['bv', 4],
    ['bo', 8],
  ]) {
    for (const [value, was] of [
      [null, 'null'],
      [Array(length).fill(0), 'an array'],
      [zeros([length]), 'Object'],
    ]) {
      test(`${name}: ${was} is refused`, () => {
        const says = [`${name} is ${was}`, `a Float32Array of ${length}`];
        refusesToMake(config, { ...weights, [name]: value }, 'invalid_argument', ...says);
      });
    }

    test(`${name} of another length is refused`, () => {
      const says = [`${name} has ${length + 1} elements`, `${length}`];
      const value = new Float32Array(length + 1);
      refusesToMake(config, { ...weights, [name]: value }, 'shape_mismatch', ...says);
    });
  }

  test('fused weights of another shape are refused', () => {
    const wqkv = zeros([8, 24]);
    refusesToMake(
      fusedConfig,
      { ...fused, wqkv },
      'shape_mismatch',
      'wqkv is [8,24]',
      'expected [8,16]',
    );
    const bqkv = new Float32Array(24);
    refusesToMake(fusedConfig, { ...fused, bqkv }, 'shape_mismatch', 'bqkv has 24 elements', '16');
  });

  for (const name of ['wq', 'wk', 'wv', 'bq', 'bk', 'bv']) {
    test(`wqkv and ${name} together are refused`, () => {
      const both = { ...fused, [name]: name[0] === 'w' ? zeros([8, 8]) : new Float32Array(8) };
      refusesToMake(fusedConfig, both, 'invalid_argument', name, 'wqkv', 'either');
    });
  }

  test('bqkv without wqkv is refused', () => {
    const both = { ...weights, bqkv: new Float32Array(16) };
    refusesToMake(config, both, 'invalid_argument', 'bqkv is given without wqkv');
  });

  test('wqkv for another width of the context is refused', () => {
    const says = ['wqkv', 'dContext is 6', 'dModel = 8'];
    refusesToMake({ ...fusedConfig, dContext: 6 }, fused, 'invalid_argument', ...says);
  });
});

test('nothing was changed by any of these', () => expectLooks(140));
