// The tokenizer in the metadata of our own safetensors files: JSON, { type, tokens }, where the place of a token is its number. Of
// type 'characters' each is a letter, of type 'pieces' a word or a piece of one. For other types a model has no tokenizer of its own.

import { describe, isRecord } from '../../arguments/values.js';
import type { ModelFile } from '../file.js';
import { type FoundTokenizer, remedy } from './found.js';
import { charactersTokenizer } from './characters-tokenizer.js';
import { piecesTokenizer } from './pieces-tokenizer.js';

const KINDS = { characters: charactersTokenizer, pieces: piecesTokenizer } as const;

/**
 * The tokenizer of a file, or why there is none.
 *
 * @throws {@link QkvError} `invalid_argument` for tokens that the tokenizer of this type refuses
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
  const type = isRecord(value) ? value['type'] : undefined;
  if (!isRecord(value) || (type !== 'characters' && type !== 'pieces')) {
    const was = isRecord(value) ? `of type ${describe(type)}` : describe(text);
    return { problem: `the file's tokenizer is ${was}, which is not known here: ${remedy()}` };
  }
  return { tokenizer: KINDS[type](value['tokens'] as readonly string[], 'load') };
}
