import { Call, type Slot } from '../memory/call.js';
import { checkWeight, type Input } from '../arguments/arrays.js';
import { checkChoice, checkInteger, checkNumber, mostInt } from '../arguments/numbers.js';
import { shapeText } from '../arguments/shapes.js';
import type { Group } from '../memory/abi.js';
import type { Instance } from '../memory/instance.js';
import { QkvError } from '../api/errors.js';
import { takeOptions } from '../arguments/values.js';
import { TokenLayer } from './token-layer.js';
import { layerOptionNames } from '../arguments/attention-options.js';
import { CheckedRotary } from './rotary.js';
import type {
  MultiHeadAttention,
  MultiHeadAttentionConfig,
  MultiHeadAttentionWeights,
} from '../api/types.js';

export const configNames = [
  ...['dModel', 'numHeads', 'numKvHeads', 'dK', 'dV', 'dContext', 'rotary', 'weightLayout'],
  ...['qkNorm', 'qkEpsilon'],
] as const;
const weightNames = [
  'wq',
  'wk',
  'wv',
  'wqkv',
  'wo',
  'bq',
  'bk',
  'bv',
  'bqkv',
  'bo',
  'qGamma',
  'kGamma',
  'qBeta',
  'kBeta',
] as const;
type WeightName = (typeof weightNames)[number];

export type LayerConfig = Required<Omit<MultiHeadAttentionConfig, 'rotary' | 'qkNorm'>> & {
  rotary: CheckedRotary | undefined;
  qkNorm: MultiHeadAttentionConfig['qkNorm'];
};

/** The width of a head that no dK tells. */
export function widthOfHeads(fn: string, dModel: number, numHeads: number): number {
  if (dModel % numHeads === 0) return dModel / numHeads;
  throw new QkvError(
    'out_of_range',
    `${fn}: dModel is ${dModel}, expected a multiple of numHeads = ${numHeads}, or a dK`,
  );
}

/** Fills in the defaults and checks the numbers of a config that was taken. */
export function resolveConfig(fn: string, config: MultiHeadAttentionConfig): LayerConfig {
  const positive = (name: keyof MultiHeadAttentionConfig, value: unknown): void =>
    checkInteger(fn, name, value, 1, mostInt);
  positive('dModel', config.dModel);
  positive('numHeads', config.numHeads);
  const { dModel, numHeads, numKvHeads = numHeads, weightLayout = 'in_out' } = config;
  checkChoice(fn, 'weightLayout', weightLayout, ['in_out', 'out_in']);
  positive('numKvHeads', numKvHeads);
  if (numHeads % numKvHeads !== 0) {
    throw new QkvError(
      'out_of_range',
      `${fn}: numKvHeads is ${numKvHeads}, expected a divisor of numHeads = ${numHeads}`,
    );
  }
  const { dK = widthOfHeads(fn, dModel, numHeads), dContext = dModel } = config;
  const { dV = dK } = config;
  positive('dK', dK);
  positive('dV', dV);
  positive('dContext', dContext);
  const rotary = config.rotary === undefined ? undefined : new CheckedRotary(fn, config.rotary);
  checkRotaryHeads(fn, rotary?.numHeads, numHeads);
  const { qkNorm, qkEpsilon = 1e-5 } = config;
  if (qkNorm !== undefined) checkChoice(fn, 'qkNorm', qkNorm, ['layer', 'rms']);
  checkNumber(fn, 'qkEpsilon', qkEpsilon);
  const widths = { dModel, numHeads, numKvHeads, dK, dV, dContext };
  return { ...widths, rotary, weightLayout, qkNorm, qkEpsilon };
}

/** Rotary options say numHeads to arrays of rank 2 and 3; a layer knows its own. */
function checkRotaryHeads(fn: string, given: number | undefined, numHeads: number): void {
  if (given !== undefined && given !== numHeads) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: rotary.numHeads is ${given}, expected none or numHeads = ${numHeads}`,
    );
  }
}

/**
 * Every weight that is given, checked against the shape that follows from `config`. `of` is what the
 * caller calls them all.
 */
export function checkWeights(
  fn: string,
  config: LayerConfig,
  givenWeights: MultiHeadAttentionWeights,
  of = 'weights',
): Partial<Record<WeightName, Input>> {
  const weights = takeOptions(fn, of, givenWeights, weightNames);
  const at = of === 'weights' ? '' : `${of}.`;
  const { dModel, dContext, numHeads, numKvHeads, dK, dV, weightLayout } = config;
  const [q, k, v] = [numHeads * dK, numKvHeads * dK, numKvHeads * dV];
  const matrix = (rows: number, columns: number): readonly number[] =>
    weightLayout === 'in_out' ? [rows, columns] : [columns, rows];
  const shapes: Record<WeightName, readonly number[]> = {
    wq: matrix(dModel, q),
    wk: matrix(dContext, k),
    wv: matrix(dContext, v),
    wqkv: matrix(dModel, q + k + v),
    wo: matrix(numHeads * dV, dModel),
    ...{ bq: [q], bk: [k], bv: [v], bqkv: [q + k + v], bo: [dModel] },
    ...{ qGamma: [dK], kGamma: [dK], qBeta: [dK], kBeta: [dK] },
  };
  const fused = weights.wqkv !== undefined;
  const required: readonly WeightName[] = fused ? ['wqkv', 'wo'] : ['wq', 'wk', 'wv', 'wo'];
  const foreign: readonly WeightName[] = fused ? ['wq', 'wk', 'wv', 'bq', 'bk', 'bv'] : ['bqkv'];
  const checked: Partial<Record<WeightName, Input>> = {};
  for (const name of weightNames) {
    if (weights[name] === undefined && required.includes(name)) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${at}${name} is missing, expected ${shapeText(shapes[name])}`,
      );
    }
    if (weights[name] !== undefined && foreign.includes(name)) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${at}${name} is given ${fused ? 'together with' : 'without'} wqkv, expected ` +
          'either wqkv and bqkv, or the separate weights and biases of q, k and v',
      );
    }
    const input = checkWeight(fn, `${at}${name}`, weights[name], shapes[name]);
    if (input) checked[name] = input;
  }
  if (fused && dContext !== dModel) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${at}wqkv is given and dContext is ${dContext}, expected dModel = ${dModel}`,
    );
  }
  return checked;
}

/** A config as the core takes it. */
export const configFields = (call: Call, config: LayerConfig): Group<'layerConfig'> => ({
  ...config,
  rotary: config.rotary?.fields(call),
});

/** Weights as the core takes them. */
export function weightFields(
  call: Call,
  weights: Partial<Record<WeightName, Input>>,
): Group<'layerWeights'> {
  const fields: Partial<Record<WeightName, Slot>> = {};
  for (const name of weightNames) {
    const slot = call.input(weights[name]);
    if (slot) fields[name] = slot;
  }
  return fields;
}

export function multiHeadAttention(
  instance: Instance,
  givenConfig: MultiHeadAttentionConfig,
  givenWeights: MultiHeadAttentionWeights,
): MultiHeadAttention {
  const fn = 'multiHeadAttention';
  const config = resolveConfig(fn, takeOptions(fn, 'config', givenConfig, configNames));
  const weights = checkWeights(fn, config, givenWeights);
  const call = new Call(instance, fn);
  const given = {
    config: configFields(call, config),
    weights: weightFields(call, weights),
  };
  instance.withRoom(fn, (room) => call.run('createLayer', given, room));
  const kind = {
    name: 'layer',
    destroyer: 'destroyLayer',
    optionNames: layerOptionNames,
    readsContext: true,
  } as const;
  return new TokenLayer(instance, kind, config, call.made());
}
