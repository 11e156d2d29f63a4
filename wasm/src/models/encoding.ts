// A model's tokenizer, for callers.

import { QkvError } from '../api/errors.js';
import type { EncodeOptions } from '../api/model-types.js';
import { checkBoolean } from '../arguments/numbers.js';
import { describe, reading, takeOptions } from '../arguments/values.js';
import { checkedDecoder } from './generation/streamed-text.js';
import type { ModelSpec } from './model-spec.js';
import { hasNoTokenizer, idsOf, tokensIn } from './text.js';

const invalid = (what: string): never => {
  throw new QkvError('invalid_argument', what);
};

/** The tokens of a text alone; `plain` is then by its letter. */
export function bareTokens(
  fn: string,
  spec: ModelSpec,
  text: string,
  escape: string | undefined,
): Int32Array {
  const { tokenizer } = spec;
  if (!tokenizer) throw hasNoTokenizer(fn, spec, `text is ${describe(text)}`, 'one that has it');
  if (!reading(fn, 'tokenizer', () => typeof tokenizer.encodeBare === 'function')) {
    invalid(
      `${fn}: the tokenizer has no encodeBare(), expected one that tells the texts of control tokens from others: the model's own, or jsonTokenizer() of tokenizer.json`,
    );
  }
  const ids = reading(fn, 'text', () => tokenizer.encodeBare?.(text, escape));
  return tokensIn(fn, 'text', ids as ArrayLike<number>, spec);
}

/** The tokens of a text. */
export function encodeText(spec: ModelSpec, text: unknown, options: EncodeOptions): Int32Array {
  const fn = 'LanguageModel.encode';
  const names = ['plain', 'bare', 'escape'] as const;
  const taken = takeOptions(fn, 'options', options, names);
  const { plain = false, bare = false, escape } = taken;
  checkBoolean(fn, 'plain', plain);
  checkBoolean(fn, 'bare', bare);
  if (typeof text !== 'string') return invalid(`${fn}: text is ${describe(text)}, expected a text`);
  if (escape !== undefined && (typeof escape !== 'string' || Array.from(escape).length !== 1))
    invalid(`${fn}: escape is ${describe(escape)}, expected a letter`);
  if (escape !== undefined && !bare)
    invalid(`${fn}: escape is ${describe(escape)} and bare is false, expected bare: true`);
  if (plain && bare) invalid(`${fn}: plain and bare are true, expected one of them`);
  if (bare) return bareTokens(fn, spec, text, escape);
  return tokensIn(fn, 'text', idsOf(fn, 'text', text, spec, { plain }), spec);
}

/** The text of tokens. */
export function decodeIds(spec: ModelSpec, given: ArrayLike<number>): string {
  const fn = 'LanguageModel.decode';
  const { tokenizer } = spec;
  if (!tokenizer) throw hasNoTokenizer(fn, spec, 'ids are given', 'one that has it');
  const ids = tokensIn(fn, 'ids', given, spec);
  return checkedDecoder(fn, tokenizer).decode(ids);
}
