// From texts to tokens, and back while they are chosen.

import { QkvError } from '../api/errors.js';
import type { Tokenizer } from '../api/model-types.js';
import { describe, reading } from '../arguments/values.js';
import { checkRows } from '../language/rows.js';
import type { Plan } from './state.js';

/** The tokens of a text, or those that were given, as one row that the model has room for. */
export function tokensOf(fn: string, name: string, given: unknown, plan: Plan) {
  const { tokenizer, config } = plan;
  const isText = typeof given === 'string';
  if (isText && !tokenizer) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(given)} and the model has no tokenizer, expected tokens`,
    );
  }
  const ids = isText ? reading(fn, name, () => tokenizer?.encode(given)) : given;
  const rows = checkRows(fn, name, ids as ArrayLike<number>, 1);
  if (rows.shape[1] > config.maxLength) {
    throw new QkvError(
      'out_of_range',
      `${fn}: ${name} has ${rows.shape[1]} tokens, expected at most maxLength = ${config.maxLength}`,
    );
  }
  return rows;
}

/** What stands for a letter of which bytes are missing. */
const unfinished = '\uFFFD';
/** Tokens before the first new one that decoders need to see, as for spaces. */
const context = 4;

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
export class TextStream {
  readonly #tokenizer: Tokenizer | undefined;
  readonly #stops: readonly string[];
  /** Tokens whose text is known, as far as decoding the next ones needs them, and those that wait. */
  #known: number[];
  #waiting: number[] = [];
  /** What is decoded and was not told. */
  #text = '';

  constructor(tokenizer: Tokenizer | undefined, stops: readonly string[], prompt: Int32Array) {
    this.#tokenizer = tokenizer;
    this.#stops = stops;
    this.#known = [...prompt.subarray(-context)];
  }

  /** What a token adds, and whether that ends it. */
  push(id: number): { text: string; isStopped: boolean } {
    this.#waiting.push(id);
    this.#decode(false);
    const found = this.#stops.map((stop) => this.#text.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) return { text: this.#take(Math.min(...found)), isStopped: true };
    const held = overlap(this.#text, this.#stops);
    return { text: this.#take(this.#text.length - held), isStopped: false };
  }

  /** What waited, after which nothing comes. */
  flush(): string {
    this.#decode(true);
    return this.#take(this.#text.length);
  }

  #take(length: number): string {
    const text = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return text;
  }

  #decode(isLast: boolean): void {
    const tokenizer = this.#tokenizer;
    if (!tokenizer || this.#waiting.length === 0) return;
    const before = tokenizer.decode(this.#known);
    const whole = tokenizer.decode([...this.#known, ...this.#waiting]);
    if (whole.endsWith(unfinished) && !isLast) return;
    this.#text += whole.slice(before.length);
    this.#known = [...this.#known, ...this.#waiting].slice(-context);
    this.#waiting = [];
  }
}
