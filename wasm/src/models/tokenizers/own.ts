// The tokenizer in the metadata of our own safetensors files: JSON, { type, tokens }. Of type 'characters' each token is a
// letter, and its place is its number. For other types a model has no tokenizer of its own.

import { isRecord } from '../../arguments/values.js';
import type { ModelFile } from '../file.js';
import { charactersTokenizer, type Tokenizer } from './tokenizer.js';

/**
 * The tokenizer of a file; undefined where it has none, or one of another type.
 *
 * @throws {@link QkvError} `invalid_argument` for characters that charactersTokenizer() refuses
 */
export function ownTokenizer({ metadata }: ModelFile): Tokenizer | undefined {
  if (metadata.get('format') !== 'qkv') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(String(metadata.get('tokenizer')));
  } catch {
    // What is no JSON is no tokenizer either.
  }
  if (!isRecord(value) || value['type'] !== 'characters') return undefined;
  return charactersTokenizer(value['tokens'] as readonly string[], 'load');
}
