// What is known of a model besides its weights.

import type { ChatTemplates } from '../api/chat-types.js';
import type { KeptFormat, Tokenizer } from '../api/model-types.js';
import type { Config } from '../language/config.js';
import type { Names } from './families/locate.js';
import type { Pooling } from './families/pooling.js';

/** What a model is made of besides its weights. */
export interface ModelSpec {
  readonly config: Config;
  readonly format: KeptFormat;
  /** Of each array, in the order of the core; without it all matrices have `format`. */
  readonly formats?: readonly KeptFormat[];
  readonly tokenizer: Tokenizer | undefined;
  /** Why there is none, or why it may not be the right one. */
  readonly tokenizerProblem?: string | undefined;
  /** How a conversation is written, where the files say it. */
  readonly chatTemplates?: ChatTemplates | undefined;
  /** Tokens that end a generation. */
  readonly ends: readonly number[];
  /** How the rows of a text become its vector, where the files say it. */
  readonly pooling?: Pooling | undefined;
  /** How files of the hub have its arrays, where it is out of one. */
  readonly names?: Names | undefined;
  /** Arrays of the files that are left out. */
  readonly ignored?: readonly string[];
}
