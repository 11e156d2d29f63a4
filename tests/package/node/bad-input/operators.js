// The operators around attention, positions, caches and tensors.
import { randomArray, zeros } from '../../../support/js/arrays.js';
import {
  all,
  array,
  boolean,
  choice,
  floats,
  integers,
  methodsOf,
  number,
  options,
  output,
  beside,
  refused,
  required,
  whole,
  shown,
  to,
  noneOf,
} from './kinds.js';
import { rotaryKinds } from './rotary.js';

const invalid = 'invalid_argument';
const shapes = 'shape_mismatch';
const range = 'out_of_range';
const most = 2 ** 31 - 1;
const far = 2 ** 20;
const x = randomArray([2, 3, 5, 8], 1);

const method = methodsOf('Qkv');
const base = number(...[0, 0.5, -1].map((value) => [value, invalid, 'at least 1']));
const positions = (name) => whole(-most, most)(name);
const epsilon = number([-1, invalid, 'at least 0']);
const axis = (name) => [...whole(-4, 3, '-4 to 3')(name)];
/** A tensor for a result of this shape. */
const out = (shape) => ({ 'options.out': output(shape, [], [...shape, 1], shape.with(0, 9)) });
const rank0 = refused(zeros([]), shapes, 'is []', '[...,');

const ofTable = (shape, expected) =>
  array(shape, to(expected, [], [shape[0] * shape[1]], [1, ...shape]));

const cacheOptions = { batch: 2, numKvHeads: 3, capacity: 4, dK: 8, dV: 6 };
const cacheTable = (name, { args: base, ...kinds }) => ({
  method: `KvCache.${name}`,
  says: `KvCache.${name}`,
  base: () => base,
  call: ({ engine }, args) => {
    const cache = engine.kvCache(cacheOptions);
    cache.append(zeros([2, 2, 24]), randomArray([2, 2, 18], 1));
    const before = [cache.keys(), cache.values()];
    try {
      cache[name](...Object.values(args));
    } catch (error) {
      const after = [cache.keys(), cache.values()];
      if (JSON.stringify(after) !== JSON.stringify(before))
        throw new Error('the cache has changed');
      throw error;
    } finally {
      cache.dispose();
    }
  },
  kinds,
});
const appended = (shape, others, wanted) =>
  array(shape, [
    ...to('[B,H,T,d]', [], [48]),
    [[3, 2, shape[2]], wanted],
    [[1, shape[2]], wanted.replace('[2,', '[')],
    [[2, 2, shape[2] + 3], wanted],
    ...others,
  ]);

export const operators = [
  method('tensor', {
    args: { shape: [2, 3], data: [1, 2, 3, 4, 5, 6] },
    shape: () => [
      ...[
        ...[undefined, null, 4, '4', {}, Int32Array.of(2, 3)],
        [-1],
        [1.5],
        [NaN],
        ['2'],
        [2 ** 53],
      ].map((value) => {
        const was = Array.isArray(value) ? `[${value}]` : shown(value);
        return refused(value, invalid, `shape of the tensor is ${was}`, 'whole numbers');
      }),
      refused([2 ** 30 + 1], range, '1073741825', '1073741824'),
      refused([2 ** 20, 2 ** 20], range, '1099511627776'),
      refused([2, 2], shapes, 'data has 6 elements', 'expected 4 for shape [2,2]'),
    ],
    data: () => ofNumbers(6),
  }),
  {
    method: 'Tensor.set',
    says: 'Tensor.set',
    base: () => ({ data: [1, 2, 3] }),
    call: ({ engine }, { data }) => {
      const tensor = engine.tensor([3], [7, 8, 9]);
      try {
        tensor.set(data);
      } catch (error) {
        if (String(tensor.view()) !== '7,8,9') throw new Error('the tensor has changed');
        throw error;
      } finally {
        tensor.dispose();
      }
    },
    kinds: {
      data: all(() => ofNumbers(3), [refused(undefined, invalid, 'data is undefined', 'numbers')]),
    },
  },
  {
    ...method('kvCache', {
      args: { options: cacheOptions },
      options: all(options('capacity', 'capacty'), [
        refused(undefined, invalid, 'options is undefined', 'an object'),
      ]),
      'options.batch': whole(1, most, '1 to'),
      'options.numKvHeads': required(whole(1, most, '1 to')),
      'options.capacity': required(whole(0, most, '0 to')),
      'options.dK': required(whole(1, most, '1 to')),
      'options.dV': whole(1, most, '1 to'),
      'options.format': choice('f32', 'bf16', 'int8'),
    }),
    call: ({ engine }, { options: of }) => engine.kvCache(of).dispose(),
  },
  cacheTable('append', {
    args: { keys: zeros([2, 1, 24]), values: zeros([2, 1, 18]) },
    keys: appended(
      [2, 1, 24],
      [
        [[2, 1, 1, 8], '[*,3,*,*]'],
        [[2, 3, 1, 6], '[2,3,*,8]'],
      ],
      '[2,*,24]',
    ),
    values: appended(
      [2, 1, 18],
      [
        [[2, 3, 1, 8], '[2,3,*,6]'],
        [[2, 2, 18], 'to match keys [2,1,24]'],
      ],
      '[2,*,18]',
    ),
  }),
  {
    ...cacheTable('append', {
      args: { keys: zeros([2, 1, 24]), values: zeros([2, 3, 18]) },
      keys: () => [refused(zeros([2, 3, 24]), range, '2 of 4 tokens', 'at most 2')],
    }),
    base: () => ({ keys: zeros([2, 1, 24]), values: zeros([2, 1, 18]) }),
    kinds: {
      values: () => [
        beside(
          { keys: zeros([2, 3, 24]) },
          refused(zeros([2, 3, 18]), range, '2 of 4 tokens', 'at most 2'),
        ),
      ],
    },
  },
  cacheTable('truncate', { args: { length: 1 }, length: required(whole(0, 2, '0 to 2')) }),
  method('sinusoidalEncoding', {
    args: { length: 3, dModel: 4, options: {} },
    length: all(required(whole(0, most, '0 to')), [
      refused(far + 2, range, 'length', `${far + 1}`),
    ]),
    dModel: required(whole(1, most, '1 to')),
    options: options('base', 'bas'),
    'options.offset': all(positions, [
      refused(far, range, 'offset', `${far + 2}`, `${far}`),
      refused(-far - 1, range, 'offset', `${-far - 1}`, `${far}`),
    ]),
    'options.base': base,
    'options.layout': choice('interleaved', 'concatenated'),
    ...out([3, 4]),
  }),
  method('sinusoidalShift', {
    args: { k: 3, dModel: 4, options: {} },
    k: all(required(positions), [
      refused(far + 1, range, 'k ', `${far + 1}`),
      refused(-far - 1, range, 'k ', `${-far - 1}`),
      beside({ 'options.form': 'dense' }, refused(far + 1, range, 'k ', `${far + 1}`)),
    ]),
    dModel: all(required(whole(1, most, '1 to')), [
      beside(
        { 'options.form': 'dense' },
        refused(5, 'unsupported', 'dModel is 5', 'an even number'),
      ),
    ]),
    options: options('base', 'bas'),
    'options.base': base,
    'options.form': choice('blocks', 'dense'),
    'options.layout': choice('interleaved', 'concatenated'),
  }),
  method('rotaryEmbedding', {
    args: { x, options: {} },
    x: all(array(x.shape, to('[B,H,T,d]', [], [8], [1, 1, 1, 1, 8])), [
      refused(zeros([4, 8]), invalid, 'numHeads is missing', 'x is [4,8]'),
      refused(zeros([1, 1, 2, 7]), range, 'rotaryDim is 7', 'd = 7'),
    ]),
    options: options('scaling', 'scalng'),
    ...rotaryKinds('options', { width: 8, tokens: [2, 5] }),
    ...out(x.shape),
    'options.numHeads': all(whole(1, most, '1 to'), [
      refused(2, shapes, 'x is [2,3,5,8]', 'numHeads = 2'),
    ]),
  }),
  method('alibiSlopes', { args: { numHeads: 4 }, numHeads: required(whole(1, most, '1 to')) }),
  method('t5RelativeBias', {
    args: { table: zeros([32, 3]), queryLength: 2, keyLength: 4, options: {} },
    table: all(ofTable([32, 3], '[numBuckets,H]'), [
      refused(zeros([3, 3]), shapes, 'table is [3,3]', '4 to 1024 rows'),
      refused(zeros([1025, 1]), shapes, 'table is [1025,1]', '1024 rows'),
    ]),
    queryLength: required(whole(0, most, '0 to')),
    keyLength: required(whole(0, most, '0 to')),
    options: options('maxDistance', 'maxDistanc'),
    'options.bidirectional': boolean,
    'options.maxDistance': all(whole(1, most), [
      refused(8, range, 'maxDistance is 8', '9 to'),
      refused(far + 1, range, `maxDistance is ${far + 1}`, `${far}`),
    ]),
    'options.offset': all(positions, [
      refused(far + 1, range, `offset is ${far + 1}`, `${far}`),
      refused(-far - 1, range, `offset is ${-far - 1}`, `${far}`),
    ]),
  }),
  method('transformerXlBias', {
    args: { q: x, r: zeros([9, 24]), v: zeros([3, 8]) },
    q: array(x.shape, [...to('[B,H,Tq,d]', [3, 8], [2, 3, 5], []), [[2, 3, 5, 0], '']].slice(0, 3)),
    r: array([9, 24], to('[Tk+4,24]', [9, 23], [3, 24], [216], [1, 9, 24])),
    v: array([3, 8], to('[3,8]', [8, 3], [24], [1, 3, 8], [1, 1, 1, 1, 3, 8])),
  }),
  method('learnedEncoding', {
    args: { table: zeros([6, 3]), length: 2, options: {} },
    table: ofTable([6, 3], '[maxLength,dModel]'),
    length: all(required(whole(0, most, '0 to')), [
      refused(7, range, 'length 7', 'at most 6 rows'),
    ]),
    options: options('offset', 'ofset'),
    'options.offset': all(whole(0, most, '0 to'), [
      refused(5, range, 'offset is 5', 'at most 6 rows'),
    ]),
    'options.outOfRange': choice('error', 'clamp'),
  }),
  ...['layerNorm', 'rmsNorm'].map((name) =>
    method(name, {
      args: { x, options: {} },
      x: all(array(x.shape, []), [rank0]),
      options: options('epsilon', 'epsilom'),
      'options.gamma': floats(8),
      ...(name === 'layerNorm' ? { 'options.beta': floats(8) } : {}),
      'options.axis': axis,
      'options.epsilon': epsilon,
      ...out(x.shape),
    }),
  ),
  method('gelu', {
    args: { x, options: {} },
    x: array(x.shape, []),
    options: options('approximate', 'aproximate'),
    'options.approximate': choice('none', 'tanh'),
    ...out(x.shape),
  }),
  method('softmax', {
    args: { x, options: {} },
    x: all(array(x.shape, []), [rank0]),
    options: options('temperature', 'temprature'),
    'options.axis': axis,
    'options.temperature': number(
      ...[0, -1, 1e-39].map((value) => [value, invalid, 'at least 1.18e-38']),
    ),
    ...out(x.shape),
  }),
  method('embedding', {
    args: { table: zeros([6, 3]), ids: Int32Array.of(1, 2) },
    table: ofTable([6, 3], '[vocabulary,dModel]'),
    ids: all(required(integers()), [
      refused(Int32Array.of(1, 6), range, 'ids[1] is 6', '[0, 6)'),
      refused(Int32Array.of(-1), range, 'ids[0] is -1', '[0, 6)'),
    ]),
  }),
  method('entropy', { args: { weights: x }, weights: all(array(x.shape, []), [rank0]) }),
  method('headStatistics', {
    args: { weights: x },
    weights: array(
      x.shape,
      [[], [8], [5, 8], [3, 5, 8], [1, 2, 3, 5, 8]].map((shape) => [shape, '[B,H,Tq,Tk]']),
    ),
  }),
  method('attentionRollout', {
    args: { weights: randomArray([2, 3, 5, 5], 1) },
    weights: array(
      [2, 3, 5, 5],
      [
        ...[[], [5], [5, 5], [3, 5, 5], [2, 3, 4, 5], [1, 2, 3, 5, 5]].map((shape) => [
          shape,
          '[L,H,T,T]',
        ]),
        [[2, 0, 5, 5], 'at least 1 head'],
      ],
    ),
  }),
];

/** What are not `n` numbers. */
function ofNumbers(n) {
  return [
    ...noneOf(
      'data',
      invalid,
      [null, 5, true, '123456', {}, () => 1, new BigInt64Array(n), new ArrayBuffer(n * 4)],
      'an array of numbers',
    ),
    ...['x', 1n, null, [1], undefined].map((value) =>
      refused(Array(n).fill(1).with(1, value), invalid, `data[1] is ${shown(value)}`, 'a number'),
    ),
    refused({ length: n }, invalid, 'data[0] is undefined', 'a number'),
    ...[0, n - 1, n + 1].map((length) =>
      refused(new Float32Array(length), shapes, `data has ${length} elements`, `expected ${n}`),
    ),
  ];
}
