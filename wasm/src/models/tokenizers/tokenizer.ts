// What a tokenizer is, the simplest one, one of others, and texts that come token by token.

import { describe, isRecord, listOf, listText } from '../../arguments/values.js';
import { QkvError } from '../../api/errors.js';
import { refuse } from '../errors.js';

/** From text to tokens and back. */
export interface Tokenizer {
  /** The ids of a text, with those that a text begins with. */
  encode(text: string): ArrayLike<number>;
  decode(ids: readonly number[]): string;
  /** The token with which encode() begins a text. */
  readonly begin?: number | undefined;
}

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

/**
 * Decodes token by token, with any tokenizer. What is new is told with the tokens that were told last before it, because some
 * tokenizers drop the space that a text begins with; and only once no letter is open at its end, because some make of a letter that
 * is not whole one sign, and some one for each byte. `prompt` is what the tokens follow; its text is not told.
 */
export function decodeStream(tokenizer: Decoder, prompt: readonly number[] = []): TextStream {
  let before = prompt.slice(-mostWaiting);
  let waiting: number[] = [];
  const take = (): string => {
    const length = before.length === 0 ? 0 : tokenizer.decode(before).length;
    const news = tokenizer.decode([...before, ...waiting]).slice(length);
    if (waiting.length > 0) before = waiting;
    waiting = [];
    return news;
  };
  return {
    push(id) {
      waiting.push(id);
      const isOpen = tokenizer.decode([...before, ...waiting]).endsWith(replacement);
      return isOpen && waiting.length < mostWaiting ? '' : take();
    },
    end: take,
  };
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
  return {
    encode: (text) =>
      Array.from(
        text,
        (character) =>
          ids.get(character) ??
          invalid(`encode: the text has ${describe(character)}, expected characters of the model`),
      ),
    decode: (all) => all.map((id) => list[id] ?? replacement).join(''),
  };
}

/** What @huggingface/tokenizers has, as far as it is used. */
export interface HuggingFaceTokenizer {
  encode(text: string): { readonly ids: ArrayLike<number> };
  decode(ids: number[], options: { skip_special_tokens: boolean }): string;
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
  return {
    encode: (text) => tokenizer.encode(text).ids,
    decode: (ids) => tokenizer.decode([...ids], { skip_special_tokens: true }),
  };
}
