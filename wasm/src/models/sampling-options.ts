// Options of a choice among tokens, as the core takes them.

import { QkvError } from '../api/errors.js';
import type { SamplingOptions, TokenProbability } from '../api/sampling-types.js';
import type { Input } from '../arguments/arrays.js';
import { checkInteger, checkNumber, mostInt } from '../arguments/numbers.js';
import { within } from '../arguments/ranges.js';
import { describe, fromOptions, kindOf, lengthOf } from '../arguments/values.js';
import { plainView } from '../arguments/views.js';
import type { Group } from '../memory/abi.js';
import type { Call, Slot } from '../memory/call.js';

/** Numbers of a choice, all but the step. */
export function samplingOf(fn: string, taken: SamplingOptions): Omit<Group<'sampling'>, 'step'> {
  const { temperature = 0, topK = 0, topP = 1, minP = 0, repetitionPenalty = 1, seed = 0 } = taken;
  const { frequencyPenalty = 0, presencePenalty = 0 } = taken;
  checkInteger(fn, 'topK', topK, 0, mostInt);
  checkInteger(fn, 'seed', seed, 0, Number.MAX_SAFE_INTEGER);
  checkNumber(fn, 'frequencyPenalty', frequencyPenalty);
  checkNumber(fn, 'presencePenalty', presencePenalty);
  return {
    ...{ topK, seed, frequencyPenalty, presencePenalty },
    temperature: within(fn, 'temperature', temperature, 'at least 0'),
    topP: within(fn, 'topP', topP, '(0, 1]'),
    minP: within(fn, 'minP', minP, '[0, 1]'),
    repetitionPenalty: within(fn, 'repetitionPenalty', repetitionPenalty, 'above 0'),
  };
}

/** Tokens and what is added to their logits. */
export interface LogitBias {
  readonly ids: Int32Array;
  readonly values: Float32Array;
}

/** The option `logitBias`; undefined if it is left out, or empty. */
export function logitBiasOf(fn: string, given: unknown, vocabulary: number): LogitBias | undefined {
  if (given === undefined) return undefined;
  const entries = fromOptions(fn, 'logitBias', given, (biases) => {
    const all: [string, unknown][] = [];
    // Those that are inherited count, as everywhere in options.
    for (const key in biases) all.push([key, biases[key]]);
    return all;
  });
  if (!entries) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: logitBias is ${describe(given)}, expected an object with a number for each token, as { 50256: -Infinity }`,
    );
  }
  for (const [key, value] of entries) {
    // "1e3" and "" are no tokens, though they are numbers.
    const id = /^\d+$/.test(key) ? Number(key) : key;
    checkInteger(fn, 'a token of logitBias', id, 0, vocabulary - 1);
    if (value !== -Infinity) checkNumber(fn, `logitBias[${key}]`, value);
  }
  if (entries.length === 0) return undefined;
  return {
    ids: Int32Array.from(entries, ([id]) => Number(id)),
    values: Float32Array.from(entries, ([, value]) => value as number),
  };
}

/** The words of the option `allowed`. */
export function allowedOf(fn: string, given: unknown, vocabulary: number): Int32Array | undefined {
  if (given === undefined) return undefined;
  const words = Math.ceil(vocabulary / 32);
  if (kindOf(given) !== 'Uint32Array') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: allowed is ${describe(given)}, expected a Uint32Array of ${words} words, with a bit for each token`,
    );
  }
  // Before a view of its buffer: an array that is detached has no words, and its buffer no views.
  const length = lengthOf(given as Uint32Array);
  if (length !== words) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: allowed has ${length} words, expected ${words} for a vocabulary of ${vocabulary}`,
    );
  }
  const view = plainView(given as Uint32Array);
  return new Int32Array(view.buffer, view.byteOffset, length);
}

/** What a choice reads and writes beside logits. */
export interface Choice {
  readonly seen?: Input | undefined;
  readonly bias?: LogitBias | undefined;
  readonly allowed?: Int32Array | undefined;
  /** How many of the likeliest tokens to tell. */
  readonly top?: number | undefined;
}

/** The fields of a choice in a call, and the likeliest tokens that it has found. */
export function choiceIn(call: Call, { seen, bias, allowed, top = 0 }: Choice) {
  const input = (name: string, source: Int32Array | Float32Array | undefined): Slot | undefined =>
    source && call.input({ name, shape: [source.length], source });
  const ids = top > 0 ? call.output('topIds', [top]) : undefined;
  const logProbabilities = top > 0 ? call.output('topLogProbabilities', [top]) : undefined;
  return {
    fields: {
      seen: call.input(seen),
      biasIds: input('logitBias', bias?.ids),
      biases: input('logitBias', bias?.values),
      allowed: input('allowed', allowed),
      ...{ topIds: ids, topLogProbabilities: logProbabilities },
    },
    /** After the call; none if they were not requested. */
    result(): { topLogprobs?: readonly TokenProbability[] } {
      if (!ids || !logProbabilities) return {};
      const tokens = new Int32Array(call.read(ids).buffer);
      const numbers = call.read(logProbabilities);
      return {
        topLogprobs: Array.from(tokens, (id, i) => ({ id, logProbability: numbers[i] ?? NaN })),
      };
    },
  };
}
