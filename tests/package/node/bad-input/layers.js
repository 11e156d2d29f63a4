// multiHeadAttention(), transformerBlock() and their forward().
import { randomArray, zeros } from '../../../support/js/arrays.js';
import {
  config,
  context,
  fused,
  fusedConfig,
  weights,
  x,
} from '../../../support/js/small-layer.js';
import { attentionKinds } from './attention.js';
import {
  all,
  array,
  boolean,
  choice,
  floats,
  given,
  number,
  options,
  beside,
  refused,
  required,
  whole,
  integers,
  to,
} from './kinds.js';
import { rotaryKinds } from './rotary.js';

const most = 2 ** 31 - 1;
const invalid = 'invalid_argument';
const missing = (name, was, ...says) => refused(undefined, invalid, `${name} is ${was}`, ...says);

/** Options of a layer that has a rotary embedding of width 4. */
const ofConfig = {
  config: options('dModel', 'dmodel'),
  'config.dModel': required(whole(1, most, '1 to')),
  'config.numHeads': all(required(whole(1, most, '1 to')), [
    refused(3, 'out_of_range', 'numKvHeads is 2', 'a divisor of numHeads = 3'),
  ]),
  'config.numKvHeads': all(whole(1, most, '1 to'), [
    refused(3, 'out_of_range', 'numKvHeads is 3', 'a divisor of numHeads'),
  ]),
  'config.dK': whole(1, most, '1 to'),
  'config.dV': whole(1, most, '1 to'),
  'config.dContext': whole(1, most, '1 to'),
  'config.rotary': options('offset', 'ofset'),
  ...rotaryKinds('config.rotary', { width: 4, heads: 2 }),
  'config.weightLayout': choice('in_out', 'out_in'),
  'config.qkNorm': choice('layer', 'rms'),
  'config.qkEpsilon': number([-1, invalid, 'at least 0']),
};

/** Matrices and biases by name and shape, below `at`. */
function ofWeights(at, shapes) {
  const kinds = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const path = `${at}.${name}`;
    if (shape.length === 1) {
      kinds[path] = floats(shape[0]);
      continue;
    }
    const [rows, columns] = shape;
    const expected = `expected [${shape}]`;
    const wrong = [[rows * columns], [rows + 1, columns], [rows, columns - 1], [1, rows, columns]];
    kinds[path] = all(
      array(
        shape,
        wrong.map((of) => [of, expected]),
        { optional: true },
      ),
      (of) => [missing(of, 'missing', expected)],
    );
  }
  return kinds;
}
/** wqkv and bqkv instead of what `base` has. */
function ofFused(at, base, { shape, layer }) {
  const use = { [at]: base, ...layer };
  const [, columns] = shape;
  const both = (name, value) => (of) => [
    {
      ...refused(
        value,
        invalid,
        `${of.replace(/\w+$/, name)} is given together with wqkv`,
        'either',
      ),
      with: use,
    },
  ];
  const separate = Object.fromEntries(
    ['wq', 'wk', 'wv', 'bq', 'bk', 'bv'].map((name) => [
      `${at}.${name}`,
      both(name, name[0] === 'w' ? zeros([8, 8]) : new Float32Array(8)),
    ]),
  );
  return {
    separate,
    kinds: {
      [`${at}.wqkv`]: given(
        use,
        array(shape, to(`[${shape}]`, [8, columns + 8], [columns, 8]), {
          optional: true,
        }),
      ),
      [`${at}.bqkv`]: all(given(use, floats(columns)), (of) => [
        refused(new Float32Array(columns), invalid, `${of} is given without wqkv`),
      ]),
    },
  };
}
const merge = (kinds, more) => {
  const merged = { ...kinds };
  for (const [path, kind] of Object.entries(more)) {
    merged[path] = merged[path] ? all(merged[path], kind) : kind;
  }
  return merged;
};

const shapes = {
  ...{ wq: [8, 8], wk: [6, 4], wv: [6, 4], wo: [8, 8] },
  ...{ bq: [8], bk: [4], bv: [4], bo: [8] },
  ...{ qGamma: [4], kGamma: [4], qBeta: [4], kBeta: [4] },
};
const layerFused = ofFused('weights', fused, {
  shape: [8, 16],
  layer: { config: fusedConfig },
});
const rotaryConfig = { ...config, numKvHeads: 2 };

const createLayer = ({ engine }, { config: of, weights: given }) => {
  engine.multiHeadAttention(of, given).dispose();
};
export const multiHeadAttention = {
  method: 'Qkv.multiHeadAttention',
  says: 'multiHeadAttention',
  base: () => ({ config, weights }),
  call: createLayer,
  kinds: merge(
    {
      weights: all(options('wqkv', 'wqkvv'), [
        beside(
          { 'config.weightLayout': 'out_in' },
          refused(weights, 'shape_mismatch', 'wk is [6,4]', 'expected [4,6]'),
        ),
        missing('weights', 'undefined', 'an object'),
      ]),
      ...ofWeights('weights', shapes),
      ...layerFused.kinds,
      'weights.wqkv': all(layerFused.kinds['weights.wqkv'], [
        refused(fused.wqkv, invalid, 'wq is given together with wqkv'),
        beside(
          { weights: fused },
          refused(fused.wqkv, invalid, 'wqkv', 'dContext is 6', 'dModel = 8'),
        ),
      ]),
    },
    layerFused.separate,
  ),
};
export const multiHeadAttentionConfig = {
  ...multiHeadAttention,
  base: () => ({
    config: rotaryConfig,
    weights: { ...weights, wk: zeros([6, 8]), wv: zeros([6, 8]) },
  }),
  kinds: {
    ...ofConfig,
    'config.dModel': all(ofConfig['config.dModel'], [
      {
        ...refused(9, 'out_of_range', 'dModel is 9', 'numHeads = 2'),
      },
    ]),
    config: all(ofConfig.config, [missing('config', 'undefined', 'an object')]),
  },
};

const normWeights = () => ({ gamma: new Float32Array(8).fill(1), beta: new Float32Array(8) });
const blockConfig = { ...rotaryConfig, dFeedForward: 12, crossAttention: true };
const square = (seed) => randomArray([8, 8], seed);
const selfWeights = { wq: square(1), wk: square(2), wv: square(3), wo: square(4) };
const crossWeights = { ...selfWeights, wk: randomArray([6, 8], 5), wv: randomArray([6, 8], 6) };
const blockWeights = {
  ...{ attention: selfWeights, cross: crossWeights },
  ...{ norm1: normWeights(), normCross: normWeights(), norm2: normWeights() },
  ...{ w1: randomArray([8, 12], 7), w2: randomArray([12, 8], 8) },
};

const selfShapes = { ...shapes, wk: [8, 8], wv: [8, 8], bk: [8], bv: [8] };
const crossShapes = { ...selfShapes, wk: [6, 8], wv: [6, 8] };
const wqkv = randomArray([8, 24], 9);
const selfFused = ofFused(
  'weights.attention',
  { wqkv, wo: square(4) },
  { shape: [8, 24], layer: {} },
);
const crossFused = ofFused(
  'weights.cross',
  { wqkv, wo: square(4) },
  { shape: [8, 24], layer: { 'config.dContext': 8 } },
);
const norm = (at) => ({
  [`weights.${at}`]: all(options('gamma', 'gama'), [
    missing(at, at === 'normCross' ? 'missing' : 'undefined'),
  ]),
  [`weights.${at}.gamma`]: all(floats(8), [
    missing(`${at}.gamma`, 'undefined', 'Float32Array of 8'),
  ]),
  [`weights.${at}.beta`]: all(floats(8), [
    beside(
      {
        'config.normType': 'rms',
        ...Object.fromEntries(
          ['norm1', 'normCross', 'norm2'].map((name) => [
            `weights.${name}`,
            { gamma: new Float32Array(8).fill(1) },
          ]),
        ),
      },
      refused(new Float32Array(8), invalid, `beta is [8]`, 'expected none'),
    ),
  ]),
});
const swiglu = { 'config.activation': 'swiglu', 'weights.wGate': zeros([8, 12]) };
const withoutSwiglu = (name, value) =>
  refused(value, invalid, `${name} is given and activation is 'gelu'`, "'swiglu'");

export const transformerBlock = {
  method: 'Qkv.transformerBlock',
  says: 'transformerBlock',
  base: () => ({ config: blockConfig, weights: blockWeights }),
  call: ({ engine }, { config: of, weights: given }) => {
    engine.transformerBlock(of, given).dispose();
  },
  kinds: merge(
    merge(
      {
        ...ofConfig,
        config: all(ofConfig.config, [missing('config', 'undefined', 'an object')]),
        'config.dFeedForward': required(whole(1, most, '1 to')),
        'config.norm': choice('pre', 'post'),
        'config.normType': choice('layer', 'rms'),
        'config.activation': choice('relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu'),
        'config.crossAttention': all(boolean, [
          refused(false, invalid, 'dContext is 6 without crossAttention'),
          beside(
            { 'config.dContext': undefined },
            refused(false, invalid, 'cross is given', 'crossAttention is false'),
          ),
        ]),
        'config.epsilon': number([-1, invalid, 'at least 0']),
        weights: all(options('norm1', 'norm11'), [missing('weights', 'undefined', 'an object')]),
        'weights.attention': all(options('wqkv', 'wqkvv'), [missing('attention', 'undefined')]),
        'weights.cross': all(options('wqkv', 'wqkvv'), [
          missing('cross', 'missing', 'crossAttention is true'),
        ]),
        ...ofWeights('weights.attention', selfShapes),
        ...selfFused.kinds,
        ...ofWeights('weights.cross', crossShapes),
        ...crossFused.kinds,
        ...norm('norm1'),
        ...norm('normCross'),
        ...norm('norm2'),
        ...ofWeights('weights', { w1: [8, 12], b1: [12], w2: [12, 8], b2: [8] }),
        'weights.wGate': all(
          given(swiglu, ofWeights('weights', { wGate: [8, 12] })['weights.wGate']),
          [withoutSwiglu('wGate', zeros([8, 12]))],
        ),
        'weights.bGate': all(given(swiglu, floats(12)), [
          withoutSwiglu('bGate', new Float32Array(12)),
        ]),
      },
      selfFused.separate,
    ),
    crossFused.separate,
  ),
};

const tokens = (width) => `T,${width}]`;
const ofTokens = (shape, optional) => {
  const width = shape.at(-1);
  const wrong = [[], [width], [2, 3, width + 1], [3, width - 1], [1, 2, 3, width]];
  return array(
    shape,
    wrong.map((of) => [of, tokens(width)]),
    { optional },
  );
};
const misfit = (change) => ({ batch: 2, numKvHeads: 2, capacity: 9, dK: 4, ...change });
const misfits = [
  misfit({ batch: 1 }),
  misfit({ numKvHeads: 1 }),
  misfit({ dK: 3, dV: 4 }),
  misfit({ dV: 5 }),
  misfit({ capacity: 0 }),
];
const heldIn = ({ engine }, width) => {
  const held = engine.kvCache(misfit({}));
  held.append(zeros([2, 2, width]), zeros([2, 2, width]));
  return held;
};

/** Layers are made once. */
const layers = new Map();
const layerOf = (name, make) => {
  if (!layers.has(name)) layers.set(name, make());
  return layers.get(name);
};

const crossLayer = ({ engine }) =>
  layerOf('cross', () =>
    engine.multiHeadAttention(
      { ...rotaryConfig },
      { ...weights, wk: zeros([6, 8]), wv: zeros([6, 8]) },
    ),
  );
export const forwardLayer = {
  method: 'MultiHeadAttention.forward',
  says: 'forward',
  base: () => ({ x, options: { context } }),
  call: (world, { x: of, options: given }) => crossLayer(world).forward(of, given),
  written: (world) => ({ out: world.tensor(x.shape), cache: heldIn(world, 8) }),
  kinds: {
    x: ofTokens([2, 3, 8], false),
    options: all(
      options('context', 'contxt'),
      ['numHeads', 'numKvHeads', 'contextKeyLengths'].map((name) =>
        refused({ context, [name]: 2 }, invalid, `the unknown key '${name}'`),
      ),
    ),
    'options.context': all(ofTokens([2, 5, 6], true), [
      refused(undefined, 'shape_mismatch', 'context is missing', '[2,T,6]'),
      refused(zeros([3, 5, 6]), 'shape_mismatch', 'context is [3,5,6]', '[2,T,6]'),
      refused(zeros([5, 6]), 'shape_mismatch', 'context is [5,6]', '[2,T,6]'),
    ]),
    ...attentionKinds({ batch: 2, heads: 2, tq: 3, tk: 5, outShape: x.shape, misfits }),
  },
};

const block = ({ engine }) =>
  layerOf('block', () => engine.transformerBlock(blockConfig, blockWeights));
export const forwardBlock = {
  method: 'TransformerBlock.forward',
  says: 'forward',
  base: () => ({ x, options: { context } }),
  call: (world, { x: of, options: given }) => block(world).forward(of, given),
  written: (world) => ({ out: world.tensor(x.shape), cache: heldIn(world, 8) }),
  kinds: {
    x: ofTokens([2, 3, 8], false),
    options: options('context', 'contxt'),
    'options.context': all(ofTokens([2, 5, 6], true), [
      refused(undefined, invalid, 'context is missing', '[2,*,6]'),
      refused(zeros([3, 5, 6]), 'shape_mismatch', 'context is [3,5,6]', '[2,T,6]'),
    ]),
    'options.contextKeyLengths': all(
      integers(2),
      refused(Int32Array.of(1, -1), 'out_of_range', 'contextKeyLengths[1] is -1', '0 to 5'),
      refused(Int32Array.of(6, 1), 'out_of_range', 'contextKeyLengths[0] is 6', '0 to 5'),
    ),
    ...attentionKinds({ batch: 2, heads: 2, tq: 3, tk: 3, outShape: x.shape, misfits }),
  },
};
