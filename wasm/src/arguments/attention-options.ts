// How scores become weights: the options that attention() and layers share, checked.

import { QkvError } from '../api/errors.js';
import type { Alibi, AttentionOptions } from '../api/types.js';
import { checkIntegers, checkMask, checkVector, type Input } from './arrays.js';
import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkNumber,
  checkOption,
  mostInt,
} from './numbers.js';
import { isCache } from './genuine.js';
import { describe, isRecord, listOf, listText, reading, takeOptions } from './values.js';

export const optionNames = [
  ...['numHeads', 'numKvHeads', 'scale', 'softcap', 'temperature', 'causal', 'causalOffset'],
  ...['window', 'mask', 'bias', 'keyLengths', 'sinks', 'dropout', 'cache'],
  ...['returnWeights', 'returnLogits', 'returnLse', 'returnEntropy', 'rows', 'out'],
] as const;
export const layerOptionNames = [...optionNames.slice(2), 'context'];

const logitStages = ['raw', 'capped', 'biased'] as const;

/** Sizes of one call; tk counts what the queries read, with what a cache holds. */
interface Dimensions {
  readonly batch: number;
  readonly heads: number;
  readonly tq: number;
  readonly tk: number;
}

const isAlibi = (bias: AttentionOptions['bias']): bias is Alibi => isRecord(bias) && 'kind' in bias;

/** The options of a call that have parts of their own, read once; what is checked later is this copy. */
function takeParts(fn: string, options: AttentionOptions): AttentionOptions {
  const { bias, dropout, window, rows } = options;
  if ([bias, dropout, window, rows].every((part) => part === undefined)) return options;
  const isList = (name: string, value: unknown): boolean =>
    reading(fn, name, () => Array.isArray(value));
  // A list that is too long is not read: an array of 2^32 holes would take minutes to tell of.
  const list = (name: string, value: unknown): unknown =>
    listOf(fn, name, value, 8) ?? (isList(name, value) ? ['more than 8 elements'] : value);
  return {
    ...options,
    ...(reading(fn, 'bias', () => isAlibi(bias)) && {
      bias: takeOptions(fn, 'bias', bias as Alibi, ['kind', 'slopes']),
    }),
    ...(dropout !== undefined && {
      dropout: takeOptions(fn, 'dropout', dropout, ['rate', 'seed']),
    }),
    ...(window !== undefined && { window: list('window', window) as typeof window }),
    ...(rows !== undefined && { rows: list('rows', rows) as typeof rows }),
  };
}

const isPair = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);

/** What takeParts() has left of a list. */
const was = (value: unknown): string =>
  Array.isArray(value) ? listText(value as unknown[]) : describe(value);

function checkTypes(fn: string, options: AttentionOptions): void {
  for (const name of ['scale', 'softcap', 'temperature'] as const) {
    checkOption(fn, name, options[name]);
  }
  for (const name of ['causal', 'returnWeights', 'returnLse', 'returnEntropy'] as const) {
    checkBoolean(fn, name, options[name]);
  }
  if (options.returnLogits !== undefined) {
    checkChoice(fn, 'returnLogits', options.returnLogits, logitStages);
  }
  if (options.cache !== undefined && !isCache(options.cache)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: cache is ${describe(options.cache)}, expected a KvCache`,
    );
  }
  if (options.dropout !== undefined) {
    checkNumber(fn, 'dropout.rate', options.dropout.rate);
    checkInteger(fn, 'dropout.seed', options.dropout.seed, 0, Number.MAX_SAFE_INTEGER);
  }
}

/** An offset is required only where something depends on it. */
function checkOffset(fn: string, options: AttentionOptions, { tq, tk }: Dimensions): void {
  const { causal, causalOffset, window, cache } = options;
  const bounded = isPair(window) && (window[0] >= 0 || window[1] >= 0);
  const measured = causal || bounded || isAlibi(options.bias);
  if (causalOffset !== undefined) {
    if (typeof causalOffset !== 'object') {
      checkInteger(fn, 'causalOffset', causalOffset, -mostInt, mostInt);
    }
    if (!measured) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: causalOffset is ${describe(causalOffset)} without causal, expected causal: true, a window or ALiBi too`,
      );
    }
  } else if (measured && tq !== tk && !cache) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${causal ? 'causal' : 'a window or ALiBi'} with ${tq} queries and ${tk} keys, expected a ` +
        `causalOffset (0 aligns the first query with the first key, ${tk - tq} the last with the last)`,
    );
  }
}

function checkRanges(fn: string, { window, rows }: AttentionOptions, { tq }: Dimensions): void {
  if (window !== undefined && !(isPair(window) && window[0] >= -1 && window[1] >= -1)) {
    throw new QkvError(
      isPair(window) ? 'out_of_range' : 'invalid_argument',
      `${fn}: window is ${was(window)}, expected [left, right] of whole numbers >= -1 (unbounded)`,
    );
  }
  if (rows === undefined) return;
  if (!isPair(rows) || rows[0] < 0 || rows[0] > rows[1] || rows[1] > tq) {
    throw new QkvError(
      isPair(rows) ? 'out_of_range' : 'invalid_argument',
      `${fn}: rows is ${was(rows)}, expected [start, end) within [0, ${tq}]`,
    );
  }
}

/** The slopes of an ALiBi bias; the paper's come from the engine. */
function alibiSlopes(
  fn: string,
  bias: Alibi,
  heads: number,
  paper: (numHeads: number) => Float32Array,
): Input | undefined {
  checkChoice(fn, 'bias.kind', bias.kind, ['alibi']);
  const { slopes = heads === 0 ? new Float32Array(0) : paper(heads) } = bias;
  return checkVector(fn, 'bias.slopes', slopes, heads);
}

/** An array that is returned besides the output. */
interface Wanted {
  readonly name: 'weights' | 'logits' | 'lse' | 'entropy';
  readonly shape: readonly number[];
}

function wantedOf(
  { returnWeights, returnLogits, returnLse, returnEntropy }: AttentionOptions,
  { batch, heads, tq, tk }: Dimensions,
  [begin, end]: readonly [number, number],
): Wanted[] {
  const matrix = [batch, heads, end - begin, tk];
  const column = [batch, heads, tq];
  const wanted: Wanted[] = [];
  if (returnWeights) wanted.push({ name: 'weights', shape: matrix });
  if (returnLogits) wanted.push({ name: 'logits', shape: matrix });
  if (returnLse) wanted.push({ name: 'lse', shape: column });
  if (returnEntropy) wanted.push({ name: 'entropy', shape: column });
  return wanted;
}

/** The options of one call, checked and copied. */
export interface CheckedOptions {
  readonly options: AttentionOptions;
  readonly arrays: {
    readonly [name in 'mask' | 'bias' | 'keyLengths' | 'sinks' | 'alibiSlopes' | 'causalOffsets']:
      | Input
      | undefined;
  };
  /** Query rows [start, end) of weights and logits. */
  readonly rows: readonly [number, number];
  readonly wanted: readonly Wanted[];
}

/** `paperSlopes` makes the slopes of ALiBi where the caller gives none. */
export function checkAttentionOptions(
  fn: string,
  taken: AttentionOptions,
  dimensions: Dimensions,
  paperSlopes: (numHeads: number) => Float32Array,
): CheckedOptions {
  const options = takeParts(fn, taken);
  checkTypes(fn, options);
  checkRanges(fn, options, dimensions);
  checkOffset(fn, options, dimensions);
  const { batch, heads, tq, tk } = dimensions;
  const scores = [batch, heads, tq, tk];
  const { bias, causalOffset, rows = [0, tq] } = options;
  const offsets = typeof causalOffset === 'object' ? causalOffset : undefined;
  const arrays = {
    mask: checkMask(fn, 'mask', options.mask, scores),
    bias: isAlibi(bias) ? undefined : checkMask(fn, 'bias', bias, scores),
    alibiSlopes: isAlibi(bias) ? alibiSlopes(fn, bias, heads, paperSlopes) : undefined,
    keyLengths: checkIntegers(fn, 'keyLengths', options.keyLengths, batch),
    causalOffsets: checkIntegers(fn, 'causalOffset', offsets, batch),
    sinks: checkVector(fn, 'sinks', options.sinks, heads),
  };
  return { options, arrays, rows, wanted: wantedOf(options, dimensions, rows) };
}
