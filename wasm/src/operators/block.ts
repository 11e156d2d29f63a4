import { Call, type Slot } from '../memory/call.js';
import { checkWeight } from '../arguments/arrays.js';
import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkNumber,
  mostInt,
} from '../arguments/numbers.js';
import type { Group } from '../memory/abi.js';
import type { Instance } from '../memory/instance.js';
import { QkvError } from '../api/errors.js';
import { describe, takeOptions } from '../arguments/values.js';
import {
  checkWeights,
  configFields,
  configNames,
  type LayerConfig,
  resolveConfig,
  weightFields,
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
] as const;
const blockWeightNames = [
  ...['attention', 'cross', 'norm1', 'normCross', 'norm2', 'w1', 'b1', 'w2', 'b2'],
  ...['wGate', 'bGate'],
] as const;

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

function normFields(
  call: Call,
  name: string,
  given: NormWeights | undefined,
  width: number,
): Group<'normWeights'> {
  const weights = takeOptions(fn, name, given, ['gamma', 'beta']);
  if (weights.gamma === undefined) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name}.gamma is ${describe(weights.gamma)}, expected a Float32Array of ${width}`,
    );
  }
  return {
    gamma: call.input(checkWeight(fn, `${name}.gamma`, weights.gamma, [width])),
    beta: call.input(checkWeight(fn, `${name}.beta`, weights.beta, [width])),
  };
}

function feedForwardFields(
  call: Call,
  config: BlockConfig,
  weights: TransformerBlockWeights,
): Group<'feedForwardWeights'> {
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
  const fields: Partial<Record<keyof typeof shapes, Slot>> = {};
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
    const slot = call.input(checkWeight(fn, name, weights[name], shapes[name]));
    if (slot) fields[name] = slot;
  }
  return fields;
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
  const { attention, norm, normType, activation, crossAttention, dFeedForward, epsilon } = config;
  const { dModel } = attention;
  const call = new Call(instance, fn);
  const attentionFields = (
    of: 'attention' | 'cross',
    own: LayerConfig,
    given: TransformerBlockWeights['attention'],
  ): Group<'layerWeights'> => weightFields(call, checkWeights(fn, own, given, of));
  const given = {
    config: configFields(call, attention),
    ...{ dFeedForward, norm, normType, activation, crossAttention, epsilon },
    // The self-attention reads x, which has the width dModel.
    attention: attentionFields('attention', { ...attention, dContext: dModel }, weights.attention),
    norm1: normFields(call, 'norm1', weights.norm1, dModel),
    cross: weights.cross !== undefined ? attentionFields('cross', attention, weights.cross) : {},
    normCross:
      weights.cross !== undefined ? normFields(call, 'normCross', weights.normCross, dModel) : {},
    norm2: normFields(call, 'norm2', weights.norm2, dModel),
    feedForward: feedForwardFields(call, config, weights),
  };
  instance.withRoom(fn, (room) => call.run('createBlock', given, room));
  const kind = {
    name: 'block',
    destroyer: 'destroyBlock',
    optionNames: [...layerOptionNames, 'contextKeyLengths'],
    readsContext: false,
  } as const;
  return new TokenLayer(instance, kind, attention, call.made());
}
