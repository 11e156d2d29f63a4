// From texts to tokens, and back while they are chosen.

import { QkvError } from '../api/errors.js';
import type { Tokenizer } from '../api/model-types.js';
import { checkInteger } from '../arguments/numbers.js';
import { describe, reading } from '../arguments/values.js';
import { checkRows } from '../language/rows.js';
import type { ModelSpec } from './model-state.js';
import { type Decoder, decodeStream, type TextStream } from './tokenizers/tokenizer.js';

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
      `${fn}: plain is true and the tokenizer has no encodePlain(), expected one that has, or tokens`,
    );
  }
  return reading(fn, name, () => encoded(tokenizer, given, options)) as ArrayLike<number>;
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
  // A copy, because the caller's array may change before all of it was read; all of it is checked, because the first tokens are
  // read before the core sees the others.
  const source = new Int32Array(rows.source as Int32Array);
  source.forEach((id, i) => checkInteger(fn, `${name}[${i}]`, id, 0, config.vocabulary - 1));
  return { ...rows, source };
}

/** What decodes by the caller's tokenizer, which may say anything, or throw. */
const carefully = (fn: string, tokenizer: Tokenizer): Decoder => ({
  decode(ids) {
    const text: unknown = reading(fn, 'tokenizer.decode()', () => tokenizer.decode(ids));
    if (typeof text === 'string') return text;
    throw new QkvError(
      'invalid_argument',
      `${fn}: tokenizer.decode() is ${describe(text)}, expected a text`,
    );
  },
});

/** The length of the longest end of `text` with which one of `words` begins, less the whole of it. */
function overlap(text: string, words: readonly string[]): number {
  let longest = 0;
  for (const word of words) {
    for (let n = Math.min(word.length - 1, text.length); n > longest; n -= 1) {
      if (text.endsWith(word.slice(0, n))) longest = n;
    }
  }
  return longest;
}

/** The text of tokens as they come. What may be the beginning of a letter, or of a stop, waits for later tokens. */
export class StreamedText {
  readonly #stream: TextStream | undefined;
  readonly #stops: readonly string[];
  /** What is decoded and was not told. */
  #text = '';

  constructor(fn: string, { tokenizer }: ModelSpec, stops: readonly string[], prompt: Int32Array) {
    this.#stream = tokenizer && decodeStream(carefully(fn, tokenizer), [...prompt]);
    this.#stops = stops;
  }

  /** What a token adds, and whether that ends it. */
  push(id: number): { text: string; isStopped: boolean } {
    this.#text += this.#stream?.push(id) ?? '';
    const found = this.#stops.map((stop) => this.#text.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) return { text: this.#take(Math.min(...found)), isStopped: true };
    const held = overlap(this.#text, this.#stops);
    return { text: this.#take(this.#text.length - held), isStopped: false };
  }

  /** What waited, after which nothing comes. */
  end(): string {
    this.#text += this.#stream?.end() ?? '';
    return this.#take(this.#text.length);
  }

  #take(length: number): string {
    const text = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return text;
  }
}
