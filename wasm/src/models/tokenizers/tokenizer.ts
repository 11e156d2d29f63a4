// The simplest tokenizer, those of others, and texts that come token by token.

import type { HuggingFaceTokenizer, Tokenizer } from '../../api/model-types.js';
import { describe, isRecord, listOf, listText } from '../../arguments/values.js';
import { QkvError } from '../../api/errors.js';
import { refuse } from '../errors.js';

/** All that is asked of a tokenizer while tokens come. */
export type Decoder = Pick<Tokenizer, 'decode'>;

/** A text that comes token by token. */
export interface TextStream {
  /** What is sure of the text once this token has come: a letter whose bytes are not all there waits for the others. */
  push(id: number): string;
  /** What was waiting. */
  end(): string;
}

/** Stands for bytes that are no letter, also for those of one that is not whole. */
const replacement = '\ufffd';
/** Tokens that wait at most. The bytes of a letter are four; more are of no letter, or of one after such bytes. */
const mostWaiting = 16;
/** Tokens with the bytes of a letter that is not whole, at most. */
const mostOpen = 3;

/** Whether the last letter of a text may not be whole: bytes of one, or half a surrogate pair. */
const isOpen = (text: string): boolean => /[\ud800-\udbff\ufffd]$/.test(text);

/** The length of what both texts begin with, in whole letters. */
function common(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return /[\ud800-\udbff]$/.test(a.slice(0, length)) ? length - 1 : length;
}

/**
 * What `text` has after `before`, which was told. A tokenizer may decode the same tokens otherwise once others follow: some take a space
 * away, and what were bytes is a letter then. Letters that were told are not told again.
 */
function newsOf(before: string, text: string): string {
  const length = common(before, text);
  const news = text.slice(length);
  const told = before.slice(length).replace(/[\s\ufffd]/g, '');
  return news.startsWith(told) ? news.slice(told.length) : news;
}

/**
 * The last tokens of a prompt from the beginning of a letter on, less those of one that is not whole, and these. Both ends are looked
 * for at once: some decoders make signs of all bytes in a row if a letter in it is not whole.
 */
function endOf({ decode }: Decoder, prompt: readonly number[]): [end: number[], open: number[]] {
  const first = Math.max(prompt.length - mostWaiting, 0);
  for (let open = 0; open <= Math.min(mostOpen, prompt.length); open += 1) {
    const to = prompt.length - open;
    for (let from = first; from >= 0 && first - from <= mostOpen; from -= 1) {
      const text = decode(prompt.slice(from, to));
      if (text.startsWith(replacement) || isOpen(text)) continue;
      return [prompt.slice(from, to), prompt.slice(to)];
    }
  }
  return [prompt.slice(first), []];
}

/** A text that was begun, of which some tokens wait. */
class Stream implements TextStream {
  readonly #decoder: Decoder;
  /** What was told last. */
  #before: readonly number[];
  #told: string;
  #waiting: number[];
  /** What of the prompt is not to be told, should its last letter stay as it is. */
  #asPrompt: string | undefined;

  constructor(tokenizer: Decoder, prompt: readonly number[]) {
    const decode: Decoder['decode'] = (ids) => (ids.length === 0 ? '' : tokenizer.decode(ids));
    this.#decoder = { decode };
    const [end, open] = endOf(this.#decoder, prompt);
    this.#before = end;
    this.#waiting = open;
    this.#told = decode(end);
    this.#asPrompt = open.length > 0 ? decode([...end, ...open]) : undefined;
  }

  push(id: number): string {
    this.#waiting.push(id);
    const text = this.#text();
    if (!isOpen(text)) return this.#take(text);
    if (this.#waiting.length < mostWaiting) return '';
    // The last of them may be bytes of a letter all the same.
    const later = this.#waiting.splice(-mostOpen);
    const news = this.#take(this.#text());
    this.#waiting = later;
    return news;
  }

  end(): string {
    return this.#take(this.#text());
  }

  #text(): string {
    return this.#decoder.decode([...this.#before, ...this.#waiting]);
  }

  #take(text: string): string {
    const asPrompt = this.#asPrompt;
    const isSame = asPrompt !== undefined && common(asPrompt, text) === asPrompt.length;
    const told = isSame ? asPrompt : this.#told;
    this.#asPrompt = undefined;
    if (this.#waiting.length > 0) this.#before = this.#waiting;
    this.#waiting = [];
    this.#told = this.#decoder.decode(this.#before);
    return newsOf(told, text);
  }
}

/**
 * Decodes token by token, with any tokenizer. What is new is told with the tokens that were told last before it, because some
 * tokenizers drop the space that a text begins with; and only once no letter is open at its end, because some make of a letter that
 * is not whole one sign, and some one for each byte. `prompt` is what the tokens follow; its text is not told, but for a letter
 * that is not whole in it.
 */
export function decodeStream(tokenizer: Decoder, prompt: readonly number[] = []): TextStream {
  // Not decoded before there is something to tell.
  let stream: Stream | undefined;
  const begun = (): Stream => (stream ??= new Stream(tokenizer, prompt));
  return { push: (id) => begun().push(id), end: () => begun().end() };
}

/**
 * Ids are places in `characters`, each of which is one letter (a code point).
 *
 * @throws {@link QkvError} `invalid_argument` for anything else, for one that is there twice, and when a text has another
 */
export function charactersTokenizer(
  characters: readonly string[],
  fn = 'charactersTokenizer',
): Tokenizer {
  const invalid = (what: string): never => {
    throw new QkvError('invalid_argument', what);
  };
  const list = listOf(fn, 'characters', characters, 2 ** 21);
  const isLetter = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= 2 && Array.from(value).length === 1;
  if (!list?.every(isLetter)) {
    const was = list ? listText(list) : describe(characters);
    return invalid(`${fn}: characters are ${was}, expected a list of single letters`);
  }
  const ids = new Map(list.map((character, id) => [character, id]));
  if (ids.size < list.length)
    invalid(
      `${fn}: ${list.length - ids.size} of the characters are there twice, expected each once`,
    );
  const encode = (text: string): number[] =>
    Array.from(
      text,
      (character) =>
        ids.get(character) ??
        invalid(`encode: the text has ${describe(character)}, expected characters of the model`),
    );
  return {
    encode,
    // There are no control tokens.
    encodePlain: encode,
    decode: (all) => Array.from(all, (id) => list[id] ?? replacement).join(''),
  };
}

/** A tokenizer of @huggingface/tokenizers: `new Tokenizer(json, config)` of that package. */
export function huggingFaceTokenizer(tokenizer: HuggingFaceTokenizer): Tokenizer {
  if (
    !isRecord(tokenizer) ||
    typeof tokenizer.encode !== 'function' ||
    typeof tokenizer.decode !== 'function'
  ) {
    refuse(`tokenizer is ${describe(tokenizer)}`, 'a Tokenizer of @huggingface/tokenizers');
  }
  /** The one token of no text, if a text begins with it too. */
  const begin = (): number | undefined => {
    const { ids } = tokenizer.encode('');
    return ids.length === 1 && tokenizer.encode('a').ids[0] === ids[0] ? ids[0] : undefined;
  };
  let asked: { readonly begin: number | undefined } | undefined;
  return {
    get begin() {
      return (asked ??= { begin: begin() }).begin;
    },
    encode: (text) => tokenizer.encode(text).ids,
    decode(ids) {
      // That package throws when there are none.
      if (ids.length === 0) return '';
      return tokenizer.decode(Array.from(ids), {
        skip_special_tokens: true,
        // What is told token by token cannot be changed afterwards.
        clean_up_tokenization_spaces: false,
      });
    },
  };
}
