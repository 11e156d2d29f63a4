// attention() and the options it shares with layers and blocks.
import { booleanMask, problem, toRank, zeros } from '../../../support/js/arrays.js';
import {
  all,
  array,
  boolean,
  cache,
  choice,
  floats,
  given,
  integers,
  number,
  options,
  output,
  beside,
  refused,
  whole,
  shown,
  to,
} from './kinds.js';

const most = 2 ** 31 - 1;
/** Refusals of pairs of numbers, which messages show in full. */
const pairs = (name, code, expected, values) =>
  values.map((value) => {
    const was = Array.isArray(value) ? `[${value}]` : shown(value);
    return refused(value, code, `${name} is ${was}`, expected);
  });
const notPairs = [
  ...['0-3', 3, null, Int32Array.of(0, 2), [1], [0, 1, 2], [0.5, 2], ['0', '2'], [NaN, 2]],
  [0, Infinity],
];
const rows = (...of) => pairs('rows', of[0], '[start, end) within [0, ', of[1]);
const windows = (...of) => pairs('window', of[0], '[left, right] of whole numbers >= -1', of[1]);

/**
 * Kinds of the options of a call with these sizes, by path. `misfits` are options of caches that do not
 * fit; `outShape` is that of `out`.
 */
export function attentionKinds({ batch, heads, tq, tk, outShape, misfits }) {
  const scores = `[${[batch, heads, tq, tk]}]`;
  const wrongMasks = [
    ...to(
      scores,
      [tk + 1],
      [tq + 1, tk],
      [heads + 1, tq, tk],
      [batch + 1, 1, tq, tk],
      [tk, heads, 1],
    ),
    ...to('rank 1 to 4', [], [1, 1, 1, tq, tk]),
  ];
  const causal = { 'options.causal': true, 'options.causalOffset': 0 };
  return {
    'options.scale': number(),
    'options.softcap': number([-1, 'out_of_range', 'at least 0'], [-0.001, 'out_of_range']),
    'options.temperature': number(
      [0, 'invalid_argument', 'at least'],
      [-1, 'invalid_argument', 'at least'],
      [1e-39, 'invalid_argument', 'at least'],
    ),
    'options.causal': boolean,
    'options.causalOffset': given(
      causal,
      all(
        // A number is taken as one, anything that is an object as numbers by row.
        (name) => whole(-most, most)(name).filter(({ value }) => typeof value !== 'object'),
        (name) => integers(batch)(name).filter(({ value }) => typeof value === 'object'),
      ),
    ),
    'options.window': all(
      windows('invalid_argument', notPairs),
      windows('out_of_range', [[-2, 0], [0, -9]]),
    ), // prettier-ignore
    'options.mask': array([1, 1], wrongMasks, {
      expected: '{ data: Uint8Array or Float32Array, shape } or a Tensor',
      optional: true,
      mask: true,
    }),
    'options.bias': array([1, 1], wrongMasks, { optional: true }),
    'options.bias.kind': given({ 'options.bias': { kind: 'alibi' }, ...causal }, choice('alibi')),
    'options.bias.slopes': given(
      { 'options.bias': { kind: 'alibi' }, ...causal },
      all(
        floats(heads),
        refused(
          new Float32Array(heads).fill(NaN),
          'invalid_argument',
          'bias.slopes[0] is NaN',
          'finite',
        ),
        refused(
          new Float32Array(heads).fill(-Infinity),
          'invalid_argument',
          'bias.slopes[0] is -Infinity',
        ),
      ),
    ),
    'options.keyLengths': all(
      integers(batch),
      refused(new Int32Array(batch).fill(-1), 'out_of_range', 'keyLengths[0] is -1', '0 to'),
      refused(new Int32Array(batch).fill(99), 'out_of_range', 'keyLengths[0] is 99', '0 to'),
    ),
    'options.sinks': all(
      floats(heads),
      refused(new Float32Array(heads).fill(NaN), 'invalid_argument', 'sinks[0] is NaN', 'finite'),
      refused(new Float32Array(heads).fill(Infinity), 'invalid_argument', 'sinks[0] is Infinity'),
    ),
    'options.dropout': options('rate', 'rat'),
    'options.dropout.rate': given(
      { 'options.dropout': { rate: 0.5, seed: 1 } },
      all(
        number(
          [1, 'out_of_range', '[0, 1)'],
          [-0.5, 'out_of_range', '[0, 1)'],
          [2, 'out_of_range'],
        ),
        refused(undefined, 'invalid_argument', 'dropout.rate is undefined'),
      ),
    ),
    'options.dropout.seed': given(
      { 'options.dropout': { rate: 0.5, seed: 1 } },
      all(
        (name) =>
          whole(
            0,
            2 ** 53 - 1,
          )(name).filter(({ code, value }) => !(code === 'out_of_range' && value > 0)),
        refused(undefined, 'invalid_argument', 'dropout.seed is undefined'),
      ),
    ),
    'options.cache': cache(...misfits),
    'options.returnWeights': boolean,
    'options.returnLogits': choice('raw', 'capped', 'biased'),
    'options.returnLse': boolean,
    'options.returnEntropy': boolean,
    'options.rows': all(
      rows('invalid_argument', notPairs),
      rows('out_of_range', [[-1, 2], [2, 1], [0, tq + 1], [tq + 1, tq + 1]]),
    ), // prettier-ignore
    'options.out': output(
      outShape,
      outShape.slice(1),
      [...outShape.slice(0, -1), outShape.at(-1) + 1],
      [1, ...outShape],
      [outShape.reduce((n, e) => n * e)],
    ),
  };
}

const { q, k, v } = problem();
const split = Object.fromEntries(
  Object.entries({ q, k, v }).map(([name, of]) => [name, toRank(of, 3)]),
);
const forms = '[B,H,T,d], [B,T,H*d] or [T,H*d]';
const heads = {
  split: { q: split.q, k: split.k, v: split.v, 'options.numHeads': 4 },
};
const misfit = (change) => ({ batch: 2, numKvHeads: 4, capacity: 9, dK: 8, ...change });

/** The kinds of q, k and v: wrong by themselves, and wrong beside the others. */
const ofInput = (name, wrong) =>
  all(
    array(q.shape, [...to(forms, [], [64], [1, 1, 2, 4, 8]), ...wrong]),
    given({ ...heads.split }, (of) => [
      refused(zeros([2, 7, 10]), 'shape_mismatch', `${of} is [2,7,10]`, 'a multiple of'),
    ]),
    name === 'q' ? refused(zeros([7, 32]), 'invalid_argument', 'numHeads is missing') : [],
  );

const call = ({ engine }, { q: a, k: b, v: c, options: given }) => engine.attention(a, b, c, given);

export const attention = {
  method: 'Qkv.attention',
  says: 'attention',
  base: () => ({ q, k, v, options: {} }),
  call,
  written: ({ tensor, engine }) => {
    const held = engine.kvCache(misfit({}));
    held.append(zeros([2, 4, 2, 8]), zeros([2, 4, 2, 8]));
    return { out: tensor(q.shape), cache: held };
  },
  kinds: {
    q: all(ofInput('q', []), [
      refused(zeros([3, 4, 7, 8]), 'shape_mismatch', 'k is [2,4,7,8]', '[3,*,*,8]'),
      refused(zeros([2, 4, 7, 6]), 'shape_mismatch', 'k is [2,4,7,8]', '[2,*,*,6]'),
      refused(zeros([2, 4, 7, 0]), 'shape_mismatch', 'k is [2,4,7,8]'),
      refused(zeros([2, 2, 7, 8]), 'shape_mismatch', '2 heads', 'has 4'),
    ]),
    k: all(
      ofInput('k', [
        [[3, 4, 7, 8], '[2,*,*,8]', 'q [2,4,7,8]'],
        [[2, 4, 7, 9], '[2,*,*,8]', 'q [2,4,7,8]'],
      ]),
      [
        refused(zeros([2, 3, 7, 8]), 'shape_mismatch', '4 heads', 'has 3'),
        refused(zeros([2, 8, 7, 8]), 'shape_mismatch', '4 heads', 'has 8'),
        refused(zeros([2, 4, 6, 8]), 'shape_mismatch', 'v is [2,4,7,8]', '[2,4,6,*]'),
      ],
      given({ ...heads.split }, () => [
        refused(zeros([2, 6, 28]), 'shape_mismatch', 'k is [2,6,28]', '[2,*,32]'),
      ]),
    ),
    v: all(
      ofInput('v', [
        [[3, 4, 7, 8], '[2,4,7,*]', 'k [2,4,7,8]'],
        ...to('[2,4,7,*]', [2, 2, 7, 8], [2, 4, 6, 8]),
      ]),
      [refused(zeros([2, 4, 7, 0]), 'shape_mismatch', 'v is [2,4,7,0]', 'at least 1')],
    ),
    options: options('causal', 'causel'),
    'options.numHeads': given(
      heads.split,
      all(whole(1, most, '1 to'), [
        refused(
          undefined,
          'invalid_argument',
          'numHeads is missing',
          'q is [2,7,32]',
          'pass numHeads: 1 for a single head',
        ),
        refused(5, 'shape_mismatch', 'q is [2,7,32]', 'numHeads = 5'),
        beside({ q, k, v }, refused(2, 'shape_mismatch', 'q is [2,4,7,8]', 'numHeads = 2')),
      ]),
    ),
    'options.numKvHeads': given(
      heads.split,
      all(whole(1, most, '1 to'), [
        refused(5, 'shape_mismatch', 'k is [2,7,32]', 'numKvHeads = 5'),
        beside({ q, k, v }, refused(2, 'shape_mismatch', 'k is [2,4,7,8]', 'numKvHeads = 2')),
      ]),
    ),
    ...attentionKinds({
      batch: 2,
      heads: 4,
      tq: 7,
      tk: 7,
      outShape: q.shape,
      misfits: [
        misfit({ batch: 1 }),
        misfit({ numKvHeads: 2 }),
        misfit({ dK: 6, dV: 8 }),
        misfit({ dV: 6 }),
        misfit({ capacity: 0 }),
      ],
    }),
  },
};

/** More that is wrong only together. */
const keys = zeros([2, 4, 9, 8]);
export const attentionTogether = {
  ...attention,
  base: () => ({ q, k: keys, v: keys, options: {} }),
  written: undefined,
  kinds: {
    'options.causal': () => [
      refused(true, 'invalid_argument', '7 queries and 9 keys', 'causalOffset', '2 the last'),
    ],
    'options.window': () => [
      refused([1, 1], 'invalid_argument', 'a window or ALiBi', '7 queries and 9 keys'),
    ],
    'options.bias': () => [
      refused({ kind: 'alibi' }, 'invalid_argument', 'a window or ALiBi', 'causalOffset'),
    ],
    'options.causalOffset': () => [
      refused(0, 'invalid_argument', 'causalOffset is 0', 'causal: true'),
      refused(
        Int32Array.of(1, 2),
        'invalid_argument',
        'causalOffset is Int32Array',
        'causal: true',
      ),
      beside({ 'options.window': [-1, -1] }, refused(1, 'invalid_argument', 'causalOffset is 1')),
    ],
    'options.out': () => {
      const square = ({ tensor }) => tensor([1, 1, 7, 7]);
      const on = (name, others) =>
        beside(
          {
            ...{ q: square, k: zeros([1, 1, 7, 7]), v: zeros([1, 1, 7, 7]) },
            ...others,
          },
          refused({ make: square }, 'invalid_argument', 'out', name),
        );
      const z = zeros([1, 1, 7, 7]);
      return [
        on('q', {}),
        on('k', { q: z, k: square }),
        on('v', { q: z, v: square }),
        on('mask', { q: z, 'options.mask': square }),
        on('bias', { q: z, 'options.bias': square }),
      ];
    },
    'options.mask': () => [
      refused(
        booleanMask([7, 7], () => true),
        'shape_mismatch',
        '[2,4,7,9]',
      ),
    ],
  },
};
