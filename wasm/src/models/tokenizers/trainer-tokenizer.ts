// The tokenizer in the metadata of our own safetensors files: JSON, { type, tokens }. Of type 'characters' each token is a
// letter, and its place is its number. For other types a model has no tokenizer of its own.

import { describe, isRecord } from '../../arguments/values.js';
import type { ModelFile } from '../file.js';
import { type FoundTokenizer, remedy } from './found.js';
import { charactersTokenizer } from './characters-tokenizer.js';

/**
 * The tokenizer of a file, or why there is none.
 *
 * @throws {@link QkvError} `invalid_argument` for characters that charactersTokenizer() refuses
 */
export function trainerTokenizer({ metadata }: ModelFile): FoundTokenizer {
  const text = metadata.get('format') === 'qkv' ? metadata.get('tokenizer') : undefined;
  if (typeof text !== 'string')
    return { problem: `the files of the model have no tokenizer: ${remedy()}` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What is no JSON is no tokenizer either.
  }
  if (!isRecord(value) || value['type'] !== 'characters') {
    const was = isRecord(value) ? `of type ${describe(value['type'])}` : describe(text);
    return { problem: `the file's tokenizer is ${was}, which is not known here: ${remedy()}` };
  }
  return { tokenizer: charactersTokenizer(value['tokens'] as readonly string[], 'load') };
}
