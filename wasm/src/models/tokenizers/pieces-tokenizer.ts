// Words and pieces of words: at each place of a text the token is the longest one that stands there.

import type { Tokenizer } from '../../api/model-types.js';
import { QkvError } from '../../api/errors.js';
import { describe, listOf, listText } from '../../arguments/values.js';
import { wholeBytesOf } from './byte-letters.js';
import { withoutEscape } from './special.js';
import { replacement } from './text-stream.js';

/**
 * Ids are places in `pieces`. A piece may begin with a space; where the text begins, that space may be missing, so that a name is
 * the same token there.
 *
 * @throws {@link QkvError} `invalid_argument` for anything but different texts, and when none of them stands at a place of a text
 */
export function piecesTokenizer(pieces: readonly string[], fn: string): Tokenizer {
  const list = listOf(fn, 'pieces', pieces, 2 ** 21);
  const isPiece = (value: unknown): value is string => typeof value === 'string' && value !== '';
  const ids = new Map(list?.map((piece, id) => [piece, id]));
  if (!list?.every(isPiece) || ids.size < list.length) {
    const was = list ? listText(list) : describe(pieces);
    throw new QkvError(
      'invalid_argument',
      `${fn}: pieces are ${was}, expected a list of different texts`,
    );
  }
  const longest = list.reduce((most, { length }) => Math.max(most, length), 0);
  const pieceAt = (text: string, at: number): { id: number; end: number } => {
    for (let end = Math.min(at + longest, text.length); end > at; end -= 1) {
      const piece = text.slice(at, end);
      const id = ids.get(piece) ?? (at === 0 ? ids.get(` ${piece}`) : undefined);
      if (id !== undefined) return { id, end };
    }
    const was = describe(text.slice(at, at + 12));
    throw new QkvError(
      'invalid_argument',
      `encode: the text has ${was}, expected pieces of the model`,
    );
  };
  const encode = (text: string): number[] => {
    const found: number[] = [];
    for (let at = 0; at < text.length;) {
      const { id, end } = pieceAt(text, at);
      found.push(id);
      at = end;
    }
    return found;
  };
  return {
    encode,
    // There are no control tokens, and none around a text.
    encodePlain: encode,
    encodeBare: (text, escape = '') => encode(withoutEscape(text, escape)),
    controls: [],
    decode: (all) => Array.from(all, (id) => list[id] ?? replacement).join(''),
    bytesOf: (id) => wholeBytesOf(list[id]),
    toJSON: () => ({ type: 'pieces', tokens: [...list] }),
  };
}
