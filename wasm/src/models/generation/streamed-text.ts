// The text of a generation, up to the first stop.

import type { Tokenizer } from '../../api/model-types.js';
import { QkvError } from '../../api/errors.js';
import { describe, reading } from '../../arguments/values.js';
import type { ModelSpec } from '../model-spec.js';
import { type Decoder, decodeStream, type TextStream } from '../tokenizers/text-stream.js';

/** What decodes by a tokenizer, which may be the caller's: it may return anything, or throw. */
export const checkedDecoder = (fn: string, tokenizer: Tokenizer): Decoder => ({
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

/** Of a prompt what has a text: after an encoder not the token that a decoder begins with. */
const saidIn = ({ config }: ModelSpec, prompt: Int32Array): Int32Array =>
  config.encoderLayers > 0 && prompt[0] === config.startToken ? prompt.subarray(1) : prompt;

/** The text of tokens as they come. What may be the beginning of a letter, or of a stop, waits for later tokens. */
export class StreamedText {
  readonly #stream: TextStream | undefined;
  readonly #stops: readonly string[];
  /** Text that is decoded and was not returned yet. */
  #text = '';

  constructor(fn: string, spec: ModelSpec, stops: readonly string[], prompt: Int32Array) {
    const { tokenizer } = spec;
    this.#stream =
      tokenizer && decodeStream(checkedDecoder(fn, tokenizer), [...saidIn(spec, prompt)]);
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

  /** What a token would add by itself, if it came next. */
  peek(id: number): string {
    return this.#stream?.peek(id) ?? '';
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
