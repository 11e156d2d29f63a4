// Tokens that tokenizer.json has besides its vocabulary: texts that are one token wherever they stand.

import { refuse, refuseUnsupported } from '../../errors.js';
import type { Fields } from '../../fields.js';
import { finder, mostSpecial } from '../special.js';
import type { Normalizer } from './normalizers.js';
import { known, partsOf } from './parts.js';

export interface AddedToken {
  readonly id: number;
  readonly text: string;
  /** Whether it is no text when it is decoded. */
  readonly isSpecial: boolean;
  /** Whether it is looked for in the normalized text. */
  readonly isNormalized: boolean;
  /** Whether no letter may stand beside it. */
  readonly isWord: boolean;
  /** Whether the spaces before it, and after it, belong to it. */
  readonly takesBefore: boolean;
  readonly takesAfter: boolean;
}

/** Parts of a text: tokens, and what is between them. */
export type Parts = readonly (string | number)[];

export function addedTokens(fields: Fields): AddedToken[] {
  if (!fields.has('added_tokens')) return [];
  const tokens = partsOf(fields, 'added_tokens').map((token) => {
    known(token, 'id', 'content', 'single_word', 'lstrip', 'rstrip', 'normalized', 'special');
    const isSpecial = token.flag('special', false);
    return {
      id: token.count('id', undefined, 0),
      text: token.text('content'),
      isSpecial,
      isNormalized: token.flag('normalized', !isSpecial),
      isWord: token.flag('single_word', false),
      takesBefore: token.flag('lstrip', false),
      takesAfter: token.flag('rstrip', false),
    };
  });
  const length = tokens.reduce((sum, { text }) => sum + text.length, 0);
  if (length > mostSpecial)
    refuseUnsupported(
      `${fields.pathOf('added_tokens')} have ${length} letters`,
      `at most ${mostSpecial}`,
    );
  const empty = tokens.find(({ text }) => text === '');
  if (empty) refuse(`${fields.pathOf('added_tokens')} have an empty content`, 'a text');
  return tokens;
}

const wordLetter = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]/u;
const space = /\p{White_Space}/u;

/** Whether a letter of a word stands before or after this part of a text. */
function isInWord(text: string, from: number, to: number): boolean {
  const before = Array.from(text.slice(Math.max(0, from - 2), from)).pop() ?? '';
  const after = String.fromCodePoint(text.codePointAt(to) ?? 0);
  return wordLetter.test(before) || wordLetter.test(after);
}

/** How a text is cut at such tokens, which are there as `normalize` has them. */
export function cutterOf(
  tokens: readonly AddedToken[],
  normalize: Normalizer = (text) => text,
): (text: string) => Parts {
  const byText = new Map(tokens.map((token) => [normalize(token.text), token]));
  byText.delete('');
  if (byText.size === 0) return (text) => (text === '' ? [] : [text]);
  const specialAt = finder(byText.keys());
  return (text) => {
    const parts: (string | number)[] = [];
    /** Until where the text is in `parts`. */
    let done = 0;
    for (let at = 0; at < text.length;) {
      const found = specialAt(text, at);
      const token = found === undefined ? undefined : byText.get(found);
      if (found === undefined || !token) {
        at += 1;
        continue;
      }
      let [from, to] = [at, at + found.length];
      at = to;
      if (token.isWord && isInWord(text, from, to)) continue;
      while (token.takesBefore && from > done && space.test(text.charAt(from - 1))) from -= 1;
      while (token.takesAfter && space.test(text.charAt(to))) to += 1;
      if (from > done) parts.push(text.slice(done, from));
      parts.push(token.id);
      // What it took is not looked at again.
      done = to;
      at = Math.max(at, to);
    }
    if (done < text.length) parts.push(text.slice(done));
    return parts;
  };
}
