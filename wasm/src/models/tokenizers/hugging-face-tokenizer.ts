// Tokenizers of @huggingface/tokenizers.

import type { HuggingFaceTokenizer, Tokenizer } from '../../api/model-types.js';
import { describe, isRecord, reading } from '../../arguments/values.js';
import { refuse } from '../errors.js';

/** A tokenizer of @huggingface/tokenizers: `new Tokenizer(json, config)` of that package. */
export function huggingFaceTokenizer(tokenizer: HuggingFaceTokenizer): Tokenizer {
  const isOne = reading(
    'load',
    'tokenizer',
    () =>
      isRecord(tokenizer) &&
      typeof tokenizer.encode === 'function' &&
      typeof tokenizer.decode === 'function',
  );
  if (!isOne) {
    refuse(`tokenizer is ${describe(tokenizer)}`, 'a Tokenizer of @huggingface/tokenizers');
  }
  /** The one token of no text, if a text begins with it too. */
  const begin = (): number | undefined => {
    const { ids } = tokenizer.encode('');
    return ids.length === 1 && tokenizer.encode('a').ids[0] === ids[0] ? ids[0] : undefined;
  };
  let found: { readonly begin: number | undefined } | undefined;
  return {
    get begin() {
      return (found ??= { begin: begin() }).begin;
    },
    encode: (text) => tokenizer.encode(text).ids,
    decode(ids) {
      // That package throws when there are none.
      if (ids.length === 0) return '';
      return tokenizer.decode(Array.from(ids), {
        skip_special_tokens: true,
        // Text that was returned token by token cannot be changed afterwards.
        clean_up_tokenization_spaces: false,
      });
    },
  };
}
