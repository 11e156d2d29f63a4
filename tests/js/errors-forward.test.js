// forward(): every argument that does not fit is named, and nothing changes.
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { booleanMask, zeros } from './support/arrays.js';
import { badArrays, notBooleans, notNumbers } from './support/bad-arrays.js';
import { expectThrows } from './support/check.js';
import { wasmFile } from './support/files.js';
import { expectLooks, nothingChanges } from './support/refusals.js';
import { config, context, fused, fusedConfig, weights, x } from './support/small-layer.js';

const engine = await init();
const other = await init({ wasm: wasmFile('simd') });
const layer = engine.multiHeadAttention(config, weights);
const out = engine.tensor(x.shape);
const dead = engine.tensor(x.shape);
dead.dispose();
const foreign = other.tensor(x.shape);

nothingChanges(engine, out, () => layer.forward(x, { context }).output.data);
after(() => other.dispose());

/** forward() is refused with and without an output tensor. */
function refuses(givenX, options, code, ...says) {
  expectThrows(() => layer.forward(givenX, options), 'forward', code, ...says);
  expectThrows(() => layer.forward(givenX, { out, ...options }), 'forward', code, ...says);
}

describe('forward', () => {
  for (const name of ['x', 'context']) {
    const call = (value, ...error) =>
      name === 'x'
        ? refuses(value, { context }, ...error)
        : refuses(x, { context: value }, ...error);

    for (const [claim, value, ...error] of badArrays(name).slice(name === 'x' ? 0 : 1)) {
      test(`is refused when ${claim}`, () => call(value, ...error));
    }

    const width = name === 'x' ? 8 : 6;
    for (const shape of [[], [width], [2, 3, width + 1], [3, width - 1], [1, 2, 3, width]]) {
      test(`is refused when ${name} is [${shape}]`, () =>
        call(zeros(shape), 'shape_mismatch', `${name} is [${shape}]`, `T,${width}]`));
    }

    test(`is refused when ${name} is a disposed tensor or one of another engine`, () => {
      const own = name === 'x' ? layer : engine.multiHeadAttention(fusedConfig, fused);
      const run = (value) => () =>
        name === 'x' ? own.forward(value, { context }) : own.forward(x, { context: value });
      expectThrows(run(dead), 'forward', 'disposed', `${name} is a disposed tensor`);
      expectThrows(
        run(foreign),
        'forward',
        'invalid_argument',
        `${name} is a tensor of another engine`,
      );
      if (own !== layer) own.dispose();
    });
  }

  test('is refused with a context of another batch', () => {
    refuses(x, { context: zeros([3, 5, 6]) }, 'shape_mismatch', 'context is [3,5,6]', '[2,T,6]');
    refuses(x, { context: zeros([5, 6]) }, 'shape_mismatch', 'context is [5,6]', '[2,T,6]');
  });

  test('asks for the context that a layer of another dContext needs', () =>
    refuses(x, {}, 'shape_mismatch', 'context is missing', '[2,T,6]'));

  for (const [value, was] of [
    [null, 'null'],
    [3, '3'],
    [[], 'an array'],
  ]) {
    test(`is refused when options is ${was}`, () => {
      const call = () => layer.forward(x, value);
      expectThrows(call, 'forward', 'invalid_argument', `options is ${was}`, 'an object');
    });
  }

  for (const name of ['Context', 'numHeads', 'numKvHeads', 'kvCache']) {
    test(`refuses the unknown option ${name}, and tells the known ones`, () =>
      refuses(x, { context, [name]: 2 }, 'invalid_argument', `'${name}'`, 'causal, causalOffset'));
  }

  test('refuses options of a wrong type or range', () => {
    for (const [value, was] of notBooleans) {
      refuses(x, { context, causal: value }, 'invalid_argument', `causal is ${was}`);
    }
    for (const [value, was] of notNumbers) {
      refuses(x, { context, scale: value }, 'invalid_argument', `scale is ${was}`);
    }
    refuses(x, { context, scale: NaN }, 'invalid_argument', 'scale is ', 'finite');
    refuses(x, { context, temperature: 0 }, 'invalid_argument', 'temperature is 0', 'at least');
    refuses(
      x,
      { context, causal: true },
      'invalid_argument',
      '3 queries and 5 keys',
      'causalOffset',
    );
    refuses(
      x,
      { context, causalOffset: 1 },
      'invalid_argument',
      'causalOffset is 1 without causal',
    );
    refuses(x, { context, rows: [0, 4] }, 'out_of_range', 'rows is [0,4]', 'within [0, 3]');
  });

  test('refuses a mask that does not broadcast to [B, H, Tq, Tk]', () => {
    for (const mask of [booleanMask([3, 3], () => true), zeros([3, 3])]) {
      refuses(x, { context, mask }, 'shape_mismatch', 'mask is [3,3]', '[2,2,3,5]');
    }
  });

  test('refuses an out that does not fit', () => {
    const run = (value, options) => () => layer.forward(x, { context, ...options, out: value });
    expectThrows(run(3), 'forward', 'invalid_argument', 'out is 3', 'a Tensor');
    expectThrows(run(dead), 'forward', 'disposed', 'out is a disposed tensor');
    expectThrows(run(foreign), 'forward', 'invalid_argument', 'out is a tensor of another engine');
    const wrong = engine.tensor([2, 3, 6]);
    expectThrows(run(wrong), 'forward', 'shape_mismatch', 'out is [2,3,6]', '[2,3,8]');
    wrong.dispose();
    const call = () => layer.forward(out, { context, out });
    expectThrows(call, 'forward', 'invalid_argument', 'out', 'x');
  });
});

test('a disposed layer and a disposed engine are named', async () => {
  const own = engine.multiHeadAttention(config, weights);
  own.dispose();
  expectThrows(() => own.forward(x, { context }), 'forward', 'disposed', 'the layer is disposed');
  const gone = await init({ wasm: wasmFile('simd') });
  const left = gone.multiHeadAttention(config, weights);
  gone.dispose();
  expectThrows(() => left.forward(x, { context }), 'forward', 'disposed', 'the engine is disposed');
  const create = () => gone.multiHeadAttention(config, weights);
  expectThrows(create, 'multiHeadAttention', 'disposed', 'the engine is disposed');
  left.dispose();
});

test('nothing was changed by any of these', () => expectLooks(40));
