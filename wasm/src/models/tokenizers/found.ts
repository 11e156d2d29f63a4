// What a model's files have of a tokenizer.

import type { Tokenizer } from '../../api/model-types.js';

/** A tokenizer, or why there is none, or both where it may not be the right one. */
export interface FoundTokenizer {
  readonly tokenizer?: Tokenizer | undefined;
  readonly problem?: string | undefined;
}

/** What a person can do. */
export const remedy = (what = "the address of the model's tokenizer.json"): string =>
  `pass \`tokenizer\`, such as ${what}`;
