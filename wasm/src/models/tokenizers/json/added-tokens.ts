// Tokens that tokenizer.json has besides its vocabulary: texts that are one token wherever they stand.

import { refuse, refuseUnsupported } from '../../errors.js';
import type { Fields } from '../../fields.js';
import { mostSpecial, type Special } from '../special.js';
import { known, partsOf } from './parts.js';

export interface AddedToken extends Special {
  /** Whether it is no text when it is decoded. */
  readonly isSpecial: boolean;
  /** Whether it is looked for in the normalized text. */
  readonly isNormalized: boolean;
}

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
