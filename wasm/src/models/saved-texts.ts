// What is known of a model's texts, as our own files keep it. families/ and tokenizers/trainer-tokenizer.ts read it.

import { type SavedTexts, savedTokenizer } from '../language/saved-texts.js';
import type { ModelSpec } from './model-spec.js';

/** For the metadata of a file. A tokenizer that does not say what it is made of is left out. */
export function textsOf(
  fn: string,
  { tokenizer, chatTemplates, ends, pooling }: ModelSpec,
): SavedTexts {
  const texts = new Map([['endTokens', JSON.stringify(ends)]]);
  if (pooling) texts.set('pooling', pooling);
  if (chatTemplates) {
    // The texts of control tokens are those of the tokenizer.
    const { templates, tokens } = chatTemplates;
    texts.set('chatTemplates', JSON.stringify({ templates, tokens }));
  }
  const saved = savedTokenizer(fn, tokenizer);
  if (saved !== undefined) texts.set('tokenizer', saved);
  return texts;
}
