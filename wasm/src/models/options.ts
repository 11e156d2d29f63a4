// Options that load() and create() share.

import { QkvError } from '../api/errors.js';
import type { Tokenizer } from '../api/model-types.js';
import { describe, reading } from '../arguments/values.js';

/** Something with encode() and decode(). */
export function checkTokenizer(fn: string, given: unknown): asserts given is Tokenizer | undefined {
  if (given === undefined) return;
  const fits = reading(fn, 'tokenizer', () => {
    const { encode, decode } = (given ?? {}) as Partial<Tokenizer>;
    return typeof encode === 'function' && typeof decode === 'function';
  });
  if (!fits) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: tokenizer is ${describe(given)}, expected an object with encode() and decode()`,
    );
  }
}
