import { Call } from '../memory/call.js';
import { checkWeight } from '../arguments/arrays.js';
import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkNumber,
  mostInt,
} from '../arguments/numbers.js';
import type { ArrayName } from '../memory/abi.js';
import type { Instance } from '../memory/instance.js';
import { QkvError } from '../api/errors.js';
import { describe, takeOptions } from '../arguments/values.js';
import {
  checkWeights,
  configNames,
  configNumbers,
  type LayerConfig,
  resolveConfig,
  type WeightName,
  weightNames,
} from './layer.js';
import { layerOptionNames } from '../arguments/attention-options.js';
import { TokenLayer } from './token-layer.js';
import type {
  NormWeights,
  TransformerBlock,
  TransformerBlockConfig,
  TransformerBlockWeights,
} from '../api/types.js';

const fn = 'transformerBlock';

const activations = ['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu'] as const;
const blockConfigNames = [
  ...configNames,
  ...['dFeedForward', 'norm', 'normType', 'activation', 'crossAttention', 'epsilon'],
];
const blockWeightNames = [
  ...['attention', 'cross', 'norm1', 'normCross', 'norm2', 'w1', 'b1', 'w2', 'b2'],
  ...['wGate', 'bGate'],
];

type BlockConfig = Required<Omit<TransformerBlockConfig, keyof LayerConfig | 'rotary'>> & {
  attention: LayerConfig;
};

function resolveBlock(givenConfig: TransformerBlockConfig): BlockConfig {
  const config = takeOptions(fn, 'config', givenConfig, blockConfigNames);
  const { dFeedForward, norm = 'pre', normType = 'layer', activation = 'gelu' } = config;
  const { crossAttention = false, epsilon = 1e-5 } = config;
  checkInteger(fn, 'dFeedForward', dFeedForward, 1, mostInt);
  checkChoice(fn, 'norm', norm, ['pre', 'post']);
  checkChoice(fn, 'normType', normType, ['layer', 'rms']);
  checkChoice(fn, 'activation', activation, activations);
  checkBoolean(fn, 'crossAttention', crossAttention);
  checkNumber(fn, 'epsilon', epsilon);
  const attention = resolveConfig(fn, config);
  const { dModel, dContext } = attention;
  if (!crossAttention && dContext !== dModel) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: dContext is ${dContext} without crossAttention, expected none or dModel = ${dModel}`,
    );
  }
  return { dFeedForward, norm, normType, activation, crossAttention, epsilon, attention };
}

/** Announces the weights of one of the two attentions. */
function announceAttention(
  call: Call,
  config: LayerConfig,
  [of, weights]: readonly ['attention' | 'cross', TransformerBlockWeights['attention']],
  nameOf: (name: WeightName) => ArrayName,
): void {
  const checked = checkWeights(fn, config, weights, of);
  for (const name of weightNames) call.input(nameOf(name), checked[name]);
}

const crossName = (name: WeightName): ArrayName =>
  `cross${name.charAt(0).toUpperCase()}${name.slice(1)}` as ArrayName;

function announceNorm(
  call: Call,
  name: string,
  given: NormWeights | undefined,
  [gamma, beta, width]: readonly [ArrayName, ArrayName, number],
): void {
  const weights = takeOptions(fn, name, given, ['gamma', 'beta']);
  if (weights.gamma === undefined) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name}.gamma is ${describe(weights.gamma)}, expected a Float32Array of ${width}`,
    );
  }
  call.input(gamma, checkWeight(fn, `${name}.gamma`, weights.gamma, [width]));
  call.input(beta, checkWeight(fn, `${name}.beta`, weights.beta, [width]));
}

function announceFeedForward(
  call: Call,
  config: BlockConfig,
  weights: TransformerBlockWeights,
): void {
  const { dModel, weightLayout } = config.attention;
  const { dFeedForward, activation } = config;
  const matrix = (rows: number, columns: number): readonly number[] =>
    weightLayout === 'in_out' ? [rows, columns] : [columns, rows];
  const shapes = {
    w1: matrix(dModel, dFeedForward),
    b1: [dFeedForward],
    w2: matrix(dFeedForward, dModel),
    b2: [dModel],
    wGate: matrix(dModel, dFeedForward),
    bGate: [dFeedForward],
  };
  const required = ['w1', 'w2', ...(activation === 'swiglu' ? ['wGate'] : [])];
  for (const name of Object.keys(shapes) as (keyof typeof shapes)[]) {
    if (weights[name] === undefined && required.includes(name)) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name} is missing, expected [${shapes[name].join(',')}]`,
      );
    }
    if (weights[name] !== undefined && name.endsWith('Gate') && activation !== 'swiglu') {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name} is given and activation is '${activation}', expected 'swiglu' or none`,
      );
    }
    call.input(name, checkWeight(fn, name, weights[name], shapes[name]));
  }
}

/** `cross` and `normCross` come with crossAttention, and only then. */
function checkCross(config: BlockConfig, weights: TransformerBlockWeights): void {
  for (const name of ['cross', 'normCross'] as const) {
    if ((weights[name] !== undefined) !== config.crossAttention) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name} is ${config.crossAttention ? 'missing' : 'given'} and crossAttention is ` +
          `${config.crossAttention}, expected both or neither`,
      );
    }
  }
}

export function transformerBlock(
  instance: Instance,
  givenConfig: TransformerBlockConfig,
  givenWeights: TransformerBlockWeights,
): TransformerBlock {
  const config = resolveBlock(givenConfig);
  const weights = takeOptions(fn, 'weights', givenWeights, blockWeightNames);
  checkCross(config, weights);
  const { attention } = config;
  const { dModel } = attention;
  const call = new Call(instance, fn);
  // The self-attention reads x, whatever the width of the context.
  announceAttention(
    call,
    { ...attention, dContext: dModel },
    ['attention', weights.attention],
    (name) => name,
  );
  announceNorm(call, 'norm1', weights.norm1, ['gamma1', 'beta1', dModel]);
  if (weights.cross !== undefined) {
    announceAttention(call, attention, ['cross', weights.cross], crossName);
    announceNorm(call, 'normCross', weights.normCross, ['gammaCross', 'betaCross', dModel]);
  }
  announceNorm(call, 'norm2', weights.norm2, ['gamma2', 'beta2', dModel]);
  announceFeedForward(call, config, weights);
  attention.rotary?.announce(call);
  const { dFeedForward, epsilon } = config;
  const numbers = {
    ...configNumbers(attention),
    ...{ dFeedForward, epsilon },
    postNorm: Number(config.norm === 'post'),
    rmsNorm: Number(config.normType === 'rms'),
    activation: activations.indexOf(config.activation),
    crossAttention: Number(config.crossAttention),
  };
  instance.withRoom(fn, (room) => call.run('createBlock', numbers, room));
  const kind = {
    name: 'block',
    operator: 'forwardBlock',
    destroyer: 'destroyBlock',
    optionNames: [...layerOptionNames, 'contextKeyLengths'],
    readsContext: false,
  } as const;
  return new TokenLayer(instance, kind, attention, call.handle());
}
