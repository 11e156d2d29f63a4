// Options of a trainer, besides its model.

import { QkvError } from '../api/errors.js';
import type { TrainerOptions } from '../api/trainer-types.js';
import { checkInteger } from '../arguments/numbers.js';
import { describe, isRecord, listOf, takeOptions } from '../arguments/values.js';
import { within } from '../arguments/ranges.js';
import type { Group } from '../memory/abi.js';

export const optionNames = [
  ...['seed', 'learningRate', 'betas', 'epsilon', 'weightDecay', 'clipNorm', 'dropout'],
  'deviation',
] as const;

/** The learning rate: constant, or a rise and half a cosine. */
function scheduleOf(fn: string, given: NonNullable<TrainerOptions['learningRate']>) {
  const name = 'learningRate';
  if (typeof given === 'number') {
    return { peak: within(fn, name, given, 'at least 0'), warmup: 0, decay: 0, last: 0 };
  }
  if (!isRecord(given)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(given)}, expected a number or { peak, warmup, steps }`,
    );
  }
  const taken = takeOptions(fn, name, given, ['peak', 'warmup', 'steps', 'final']);
  const { peak, warmup, steps, final = 0 } = taken;
  checkInteger(fn, `${name}.warmup`, warmup, 0, Number.MAX_SAFE_INTEGER);
  checkInteger(fn, `${name}.steps`, steps, 0, Number.MAX_SAFE_INTEGER);
  return {
    peak: within(fn, `${name}.peak`, peak, 'at least 0'),
    warmup,
    decay: steps,
    last: within(fn, `${name}.final`, final, 'at least 0'),
  };
}

/** Both decays of the moments. */
function betasOf(fn: string, given: unknown): { beta1: number; beta2: number } {
  const list = listOf(fn, 'betas', given, 2);
  if (list?.length !== 2) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: betas is ${describe(given)}, expected an array of two numbers`,
    );
  }
  const [beta1, beta2] = list.map((beta, i) => within(fn, `betas[${i}]`, beta, '[0, 1)'));
  return { beta1: beta1 ?? 0, beta2: beta2 ?? 0 };
}

/** The options with their defaults, as the core takes them. */
export function trainerOptions(fn: string, given: TrainerOptions): Group<'trainerOptions'> {
  const options = takeOptions(fn, 'options', given, optionNames);
  const { seed = 0, learningRate = 1e-3, betas = [0.9, 0.999], epsilon = 1e-8 } = options;
  const { weightDecay = 0.01, clipNorm = 1, dropout = 0, deviation = 0.02 } = options;
  checkInteger(fn, 'seed', seed, 0, Number.MAX_SAFE_INTEGER);
  return {
    ...{ seed, ...scheduleOf(fn, learningRate), ...betasOf(fn, betas) },
    epsilon: within(fn, 'epsilon', epsilon, 'above 0'),
    weightDecay: within(fn, 'weightDecay', weightDecay, 'at least 0'),
    clipNorm: within(fn, 'clipNorm', clipNorm, 'at least 0'),
    dropout: within(fn, 'dropout', dropout, '[0, 1)'),
    deviation: within(fn, 'deviation', deviation, 'above 0'),
  };
}
