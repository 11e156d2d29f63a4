// From texts to tokens.

import { QkvError } from '../api/errors.js';
import type { Tokenizer } from '../api/model-types.js';
import type { Input } from '../arguments/arrays.js';
import { checkInteger } from '../arguments/numbers.js';
import { describe, reading } from '../arguments/values.js';
import { checkRows } from '../language/rows.js';
import type { ModelSpec } from './model-spec.js';

/** How a text becomes tokens. */
interface EncodeOptions {
  /** Whether texts of control tokens are plain text. */
  readonly plain?: boolean;
  /** Whether they follow others: a text then has no token that begins one, if the tokenizer says which that is. */
  readonly goesOn?: boolean;
}

interface RowOptions extends EncodeOptions {
  /** Whether no tokens at all are an argument that is wrong, and not a shape. */
  readonly isVector?: boolean;
}

/** Why a text is of no use. */
export const hasNoTokenizer = (
  fn: string,
  { tokenizerProblem }: ModelSpec,
  what: string,
  expected: string,
): QkvError =>
  new QkvError(
    'invalid_argument',
    `${fn}: ${what} and the model has no tokenizer${tokenizerProblem ? ` (${tokenizerProblem})` : ''}, expected ${expected}`,
  );

/** Refuses what reads tokens without a source, where an encoder reads one. */
export function checkAlone(fn: string, { config }: ModelSpec, expected: string): void {
  if (config.encoderLayers === 0) return;
  throw new QkvError(
    'invalid_argument',
    `${fn}: the model has an encoder, whose source its decoder attends to, expected ${expected}`,
  );
}

/** The tokens of a text. */
function encoded(tokenizer: Tokenizer, text: string, { goesOn, plain }: EncodeOptions): unknown {
  const ids = plain ? tokenizer.encodePlain?.(text) : tokenizer.encode(text);
  const begin = goesOn ? tokenizer.begin : undefined;
  const isBegun = begin !== undefined && ids?.[0] === begin;
  return isBegun ? Array.from(ids).slice(1) : ids;
}

/** The tokens of a text, or those that were given, as they are. */
export function idsOf(
  fn: string,
  name: string,
  given: unknown,
  spec: ModelSpec,
  options: EncodeOptions = {},
): ArrayLike<number> {
  if (typeof given !== 'string') return given as ArrayLike<number>;
  const { tokenizer } = spec;
  if (!tokenizer) throw hasNoTokenizer(fn, spec, `${name} is ${describe(given)}`, 'tokens');
  // Not to be taken for one that has obeyed.
  if (
    options.plain &&
    !reading(fn, 'tokenizer', () => typeof tokenizer.encodePlain === 'function')
  ) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: plain is true and the tokenizer has no encodePlain(), expected a tokenizer with encodePlain(), or token ids`,
    );
  }
  return reading(fn, name, () => encoded(tokenizer, given, options)) as ArrayLike<number>;
}

/** A copy of the tokens of a row, each of which the model has: the caller's array may change. */
function knownTokens(
  fn: string,
  name: string,
  { source }: Input,
  { vocabulary }: ModelSpec['config'],
): Int32Array {
  const ids = new Int32Array(source as Int32Array);
  ids.forEach((id, i) => checkInteger(fn, `${name}[${i}]`, id, 0, vocabulary - 1));
  return ids;
}

/** Tokens, each of which the model has, as a copy. */
export function tokensIn(
  fn: string,
  name: string,
  given: ArrayLike<number>,
  { config }: ModelSpec,
): Int32Array {
  // No tokens are no row.
  if (reading(fn, name, () => (given as ArrayLike<number> | null)?.length) === 0)
    return new Int32Array(0);
  return knownTokens(fn, name, checkRows(fn, name, given, 1), config);
}

/** The tokens of a text, or those that were given, as one row that the model has room for. */
export function tokensOf(
  fn: string,
  name: string,
  given: unknown,
  spec: ModelSpec,
  { isVector = false, ...options }: RowOptions = {},
) {
  const { config } = spec;
  const ids = idsOf(fn, name, given, spec, options);
  if (isVector && reading(fn, name, () => (ids as ArrayLike<number> | null)?.length) === 0) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} has 0 elements, expected at least one token`,
    );
  }
  const rows = checkRows(fn, name, ids, 1);
  if (rows.shape[1] > config.maxLength) {
    throw new QkvError(
      'out_of_range',
      `${fn}: ${name} has ${rows.shape[1]} tokens, expected at most maxLength = ${config.maxLength}`,
    );
  }
  // All of it is checked, because the first tokens are read before the core sees the others.
  return { ...rows, source: knownTokens(fn, name, rows, config) };
}
