// What the operators around attention refuse, and how they say so.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { randomArray } from './support/arrays.js';
import { badArrays } from './support/bad-arrays.js';
import { expectThrows } from './support/check.js';

const engine = await init();
const x = randomArray([2, 3, 5, 8], 1);
const table = randomArray([6, 3], 2);
const ids = Int32Array.of(1, 2);

/** Operator, arguments, [index of an array argument, its name]. */
const takers = {
  rotaryEmbedding: [[x], [0, 'x']],
  layerNorm: [[x], [0, 'x']],
  rmsNorm: [[x], [0, 'x']],
  gelu: [[x], [0, 'x']],
  entropy: [[x], [0, 'weights']],
  headStatistics: [[x], [0, 'weights']],
  embedding: [
    [table, ids],
    [0, 'table'],
  ],
  learnedEncoding: [
    [table, 2],
    [0, 'table'],
  ],
  t5RelativeBias: [
    [table, 2, 2],
    [0, 'table'],
  ],
  transformerXlBias: [
    [x, randomArray([9, 24], 3), randomArray([3, 8], 4)],
    [0, 'q'],
  ],
};

for (const [fn, [args, [index, name]]] of Object.entries(takers)) {
  describe(fn, () => {
    const call = (value) => engine[fn](...args.with(index, value));

    for (const [claim, value, code, ...says] of badArrays(name)) {
      test(`is refused when ${claim}`, () => expectThrows(() => call(value), fn, code, ...says));
    }

    test('is refused with a disposed tensor, and with one of another engine', async () => {
      const tensor = engine.tensor(args[index].shape);
      tensor.dispose();
      expectThrows(() => call(tensor), fn, 'disposed', `${name} is a disposed tensor`);
      const other = await init({
        deterministic: true,
        wasm: new URL('../../dist/qkv-simd.wasm', import.meta.url),
      });
      const foreign = other.tensor(args[index].shape);
      expectThrows(
        () => call(foreign),
        fn,
        'invalid_argument',
        `${name} is a tensor of another engine`,
      );
      foreign.dispose();
    });
  });
}

const refused = [
  ['rotaryEmbedding', [x, { rotaryDim: 3 }], 'out_of_range', 'rotary_dim is 3', 'even'],
  ['rotaryEmbedding', [x, { rotaryDim: 10 }], 'out_of_range', 'rotary_dim is 10', '8'],
  ['rotaryEmbedding', [x, { offset: 0.5 }], 'invalid_argument', 'offset is 0.5'],
  ['rotaryEmbedding', [x, { offset: 2 ** 21 }], 'out_of_range', 'offset'],
  ['rotaryEmbedding', [x, { base: 'x' }], 'invalid_argument', 'base is "x"'],
  ['rotaryEmbedding', [x, { base: 0 }], 'invalid_argument', 'base is 0'],
  ['rotaryEmbedding', [x, { interleaved: 1 }], 'invalid_argument', 'interleaved is 1'],
  ['rotaryEmbedding', [x, { positions: [1, 2] }], 'invalid_argument', 'positions is an array'],
  ['rotaryEmbedding', [x, { positions: Int32Array.of(1) }], 'shape_mismatch', 'positions has 1'],
  ['rotaryEmbedding', [x, { scaling: { type: 'ntk' } }], 'invalid_argument', 'scaling.factor'],
  [
    'rotaryEmbedding',
    [x, { scaling: { type: 'x', factor: 2 } }],
    'invalid_argument',
    'scaling.type',
  ],
  ['rotaryEmbedding', [x, { cos: randomArray([9, 4], 1) }], 'invalid_argument', 'sin'],
  ['rotaryEmbedding', [x, { heads: 2 }], 'invalid_argument', "unknown key 'heads'"],
  ['rotaryEmbedding', [randomArray([4, 8], 1)], 'invalid_argument', 'numHeads is missing'],
  ['alibiSlopes', [0], 'out_of_range', 'numHeads is 0'],
  ['alibiSlopes', ['8'], 'invalid_argument', 'numHeads is "8"'],
  ['t5RelativeBias', [table, -1, 2], 'out_of_range', 'queryLength is -1'],
  ['t5RelativeBias', [table, 2, 1.5], 'invalid_argument', 'keyLength is 1.5'],
  ['t5RelativeBias', [table, 2, 2, { maxDistance: 0 }], 'out_of_range', 'maxDistance is 0'],
  ['t5RelativeBias', [table, 2, 2, { bidirectional: 1 }], 'invalid_argument', 'bidirectional is 1'],
  ['t5RelativeBias', [table, 2, 2, { offset: NaN }], 'invalid_argument', 'offset is NaN'],
  ['t5RelativeBias', [x, 2, 2], 'shape_mismatch', 'table is [2,3,5,8]', '[numBuckets,H]'],
  ['transformerXlBias', [x, table, table], 'shape_mismatch', 'r is [6,3]', '24'],
  ['transformerXlBias', [table, table, table], 'shape_mismatch', 'q is [6,3]', '[B,H,Tq,d]'],
  ['layerNorm', [x, { axis: 4 }], 'out_of_range', 'axis is 4', '-4 to 3'],
  ['layerNorm', [x, { axis: 0.5 }], 'invalid_argument', 'axis is 0.5'],
  ['layerNorm', [x, { gamma: new Float32Array(3) }], 'shape_mismatch', 'gamma has 3', '8'],
  ['layerNorm', [x, { beta: [1] }], 'invalid_argument', 'beta is an array'],
  ['layerNorm', [x, { epsilon: -1 }], 'invalid_argument', 'epsilon is -1'],
  ['rmsNorm', [x, { beta: new Float32Array(8) }], 'invalid_argument', "unknown key 'beta'"],
  ['gelu', [x, { approximate: 'erf' }], 'invalid_argument', 'approximate is "erf"', "'tanh'"],
  ['embedding', [table, [1]], 'invalid_argument', 'ids is an array'],
  ['embedding', [table, undefined], 'invalid_argument', 'ids is'],
  ['embedding', [table, Int32Array.of(1, 6)], 'out_of_range', '6'],
  ['embedding', [x, ids], 'shape_mismatch', 'table is [2,3,5,8]'],
  ['learnedEncoding', [table, 7], 'out_of_range', '6'],
  ['learnedEncoding', [table, 2, { offset: -1 }], 'out_of_range', 'offset is -1'],
  [
    'learnedEncoding',
    [table, 2, { outOfRange: 'wrap' }],
    'invalid_argument',
    'outOfRange is "wrap"',
  ],
  ['headStatistics', [table], 'shape_mismatch', 'weights is [6,3]', '[B,H,Tq,Tk]'],
  ['entropy', [{ data: new Float32Array(1), shape: [] }], 'shape_mismatch', 'weights is []'],
];

for (const [fn, args, code, ...says] of refused) {
  test(`${fn} refuses: ${says[0]}`, () => {
    const { handles } = engine.memory();
    expectThrows(() => engine[fn](...args), fn, code, ...says);
    assert.equal(engine.memory().handles, handles);
  });
}

const attention = (options) => engine.attention(x, x, x, options);
for (const [options, code, ...says] of [
  [{ softcap: -1 }, 'out_of_range', 'softcap is -1'],
  [{ softcap: NaN }, 'invalid_argument', 'softcap is nan'],
  [{ window: [1] }, 'invalid_argument', 'window is [1]'],
  [{ window: [-2, 0] }, 'out_of_range', 'window is [-2,0]'],
  [{ keyLengths: [1, 2] }, 'invalid_argument', 'keyLengths is an array'],
  [{ keyLengths: Int32Array.of(1) }, 'shape_mismatch', 'keyLengths has 1', '2'],
  [{ keyLengths: Int32Array.of(1, 6) }, 'out_of_range', 'key_lengths[1] is 6'],
  [{ sinks: new Float32Array(2) }, 'shape_mismatch', 'sinks has 2', '3'],
  [{ sinks: Float32Array.of(1, 2, NaN) }, 'invalid_argument', 'sinks is nan'],
  [{ bias: { kind: 'linear' } }, 'invalid_argument', 'bias.kind is "linear"'],
  [{ bias: { kind: 'alibi', slopes: new Float32Array(1) } }, 'shape_mismatch', 'bias.slopes has 1'],
  [{ bias: randomArray([4], 1) }, 'shape_mismatch', 'bias is [4]', 'broadcasts to [2,3,5,5]'],
  [{ causal: true, causalOffset: Int32Array.of(1) }, 'shape_mismatch', 'causalOffset has 1'],
  [{ dropout: { rate: 1, seed: 1 } }, 'out_of_range', 'dropout.rate is 1'],
  [{ dropout: { rate: 0.5 } }, 'invalid_argument', 'dropout.seed is undefined'],
  [{ dropout: { seed: 1 } }, 'invalid_argument', 'dropout.rate is "missing"'],
  [{ cache: {} }, 'invalid_argument', 'cache is Object', 'KvCache'],
  [{ returnLogits: 'all' }, 'invalid_argument', 'returnLogits is "all"', "'raw'"],
]) {
  test(`attention refuses: ${says[0]}`, () =>
    expectThrows(() => attention(options), 'attention', code, ...says));
}
