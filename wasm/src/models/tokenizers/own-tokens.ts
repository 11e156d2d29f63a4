// The tokens of tokenizers that our own files carry: LanguageModel.save() writes them again.

import type { Tokenizer } from '../../api/model-types.js';

export interface OwnTokens {
  readonly type: 'characters' | 'pieces';
  readonly tokens: readonly string[];
}

const known = new WeakMap<Tokenizer, OwnTokens>();

/** The same tokenizer, of which ownTokensOf() knows these from now on. */
export function withOwnTokens(
  tokenizer: Tokenizer,
  type: OwnTokens['type'],
  tokens: readonly string[],
): Tokenizer {
  known.set(tokenizer, { type, tokens: [...tokens] });
  return tokenizer;
}

/** Undefined for a tokenizer of another kind. */
export const ownTokensOf = (tokenizer: Tokenizer): OwnTokens | undefined => known.get(tokenizer);
