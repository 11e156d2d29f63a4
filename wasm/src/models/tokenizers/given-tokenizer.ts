// The tokenizer that a caller gives: one that works, or tokenizer.json.

import type { Tokenizer, TokenizerJson } from '../../api/model-types.js';
import { describe, isRecord, reading } from '../../arguments/values.js';
import { refuse } from '../errors.js';
import { jsonTokenizer } from './json/json-tokenizer.js';

export function givenTokenizer(given: unknown): Tokenizer | undefined {
  if (given === undefined) return undefined;
  const kind = reading('load', 'tokenizer', () => {
    const { encode, decode, model } = (given ?? {}) as Partial<Tokenizer & TokenizerJson>;
    const works = typeof encode === 'function' && typeof decode === 'function';
    return works ? 'works' : isRecord(model) ? 'json' : undefined;
  });
  if (kind === 'works') return given as Tokenizer;
  if (kind === 'json') return jsonTokenizer(given);
  return refuse(
    `tokenizer is ${describe(given)}`,
    'an object with encode() and decode(), or tokenizer.json: the parsed object, or its URL or path',
  );
}
