// The simplest tokenizer: each token is one letter.

import type { Tokenizer } from '../../api/model-types.js';
import { describe, listOf, listText } from '../../arguments/values.js';
import { QkvError } from '../../api/errors.js';
import { wholeBytesOf } from './byte-letters.js';
import { withoutEscape } from './special.js';
import { replacement } from './text-stream.js';

/**
 * Ids are places in `characters`, each of which is one letter (a code point).
 *
 * @throws {@link QkvError} `invalid_argument` for anything else, for a duplicate, and when a text has another
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
    invalid(`${fn}: characters have duplicates (${list.length - ids.size}), expected each once`);
  const encode = (text: string): number[] =>
    Array.from(
      text,
      (character) =>
        ids.get(character) ??
        invalid(`encode: the text has ${describe(character)}, expected characters of the model`),
    );
  return {
    encode,
    // There are no control tokens, and none around a text.
    encodePlain: encode,
    encodeBare: (text, escape = '') => encode(withoutEscape(text, escape)),
    controls: [],
    decode: (all) => Array.from(all, (id) => list[id] ?? replacement).join(''),
    bytesOf: (id) => wholeBytesOf(list[id]),
    toJSON: () => ({ type: 'characters', tokens: [...list] }),
  };
}
