// The tokenizer in the metadata of our own safetensors files, as toJSON() of it says it: JSON. Of type 'characters' each of the `tokens` is a
// letter, of type 'pieces' a word or a piece of one, and their places are their numbers; 'tokenizer.json' has the file of the hub,
// and 'gguf' what the metadata of such a file says of it.

import { describe, isRecord, jsonIn } from '../../arguments/values.js';
import type { ModelFile } from '../file.js';
import { type FoundTokenizer, remedy } from './found.js';
import { charactersTokenizer } from './characters-tokenizer.js';
import { ggufMetadata, ggufTokenizer } from './gguf-tokenizer.js';
import { jsonTokenizer } from './json/json-tokenizer.js';
import { piecesTokenizer } from './pieces-tokenizer.js';

type Saved = Readonly<Record<string, unknown>>;

const tokensOf = ({ tokens }: Saved): readonly string[] => tokens as readonly string[];
const kinds: ReadonlyMap<unknown, (saved: Saved) => FoundTokenizer> = new Map<
  unknown,
  (saved: Saved) => FoundTokenizer
>([
  ['characters', (saved) => ({ tokenizer: charactersTokenizer(tokensOf(saved), 'load') })],
  ['pieces', (saved) => ({ tokenizer: piecesTokenizer(tokensOf(saved), 'load') })],
  ['tokenizer.json', ({ json }) => ({ tokenizer: jsonTokenizer(json) })],
  ['gguf', ({ metadata }) => ggufTokenizer({ metadata: ggufMetadata(metadata) })],
]);

/**
 * The tokenizer of a file, or why there is none.
 *
 * @throws {@link QkvError} `invalid_argument` for what the tokenizer of this type refuses, `unsupported` for what it does not know
 */
export function trainerTokenizer({ metadata }: ModelFile): FoundTokenizer {
  const text = metadata.get('format') === 'qkv' ? metadata.get('tokenizer') : undefined;
  if (typeof text !== 'string')
    return { problem: `the files of the model have no tokenizer: ${remedy()}` };
  const value = jsonIn(text);
  const read = isRecord(value) ? kinds.get(value['type']) : undefined;
  if (!isRecord(value) || !read) {
    const was = isRecord(value) ? `of type ${describe(value['type'])}` : describe(text);
    return { problem: `the file's tokenizer is ${was}, which is not known here: ${remedy()}` };
  }
  return read(value);
}
