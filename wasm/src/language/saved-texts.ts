// What our own files say of texts, in the metadata: of models and of trainers.

import { QkvError } from '../api/errors.js';
import type { SaveOptions } from '../api/trainer-types.js';
import { describe, isRecord, reading } from '../arguments/values.js';

/** By the names of the metadata: a tokenizer, templates of conversations, tokens that end a text, and the pooling. */
export type SavedTexts = ReadonlyMap<string, string>;

const names = ['tokenizer', 'chatTemplates', 'endTokens', 'pooling'];

/** Kinds of tokenizers that load() makes again. */
const kinds: readonly unknown[] = ['characters', 'pieces', 'tokenizer.json', 'gguf'];

/** Those of a file. */
export const savedTextsIn = (metadata: SavedTexts): SavedTexts =>
  new Map([...metadata].filter(([name]) => names.includes(name)));

/** A tokenizer as the metadata has it; undefined for one that does not say what it is made of. */
export function savedTokenizer(fn: string, given: unknown): string | undefined {
  return reading(fn, 'tokenizer', () => {
    if (!isRecord(given)) return undefined;
    const { model, toJSON } = given;
    const isFile = isRecord(model) && typeof toJSON !== 'function';
    const said = isFile
      ? { type: 'tokenizer.json', json: given }
      : typeof toJSON === 'function'
        ? (given as { toJSON(): unknown }).toJSON()
        : given;
    return isRecord(said) && kinds.includes(said['type']) ? JSON.stringify(said) : undefined;
  });
}

/** Templates of conversations as the metadata has them, with a default one. */
function withTemplate(saved: string | undefined, template: string): string {
  const known = (saved === undefined ? {} : JSON.parse(saved)) as Record<string, object>;
  const { templates, tokens = {} } = known;
  return JSON.stringify({ templates: { ...templates, default: template }, tokens });
}

/** What is known of texts, with what a caller gives besides. */
export function withGivenTexts(
  fn: string,
  known: SavedTexts,
  { tokenizer, chatTemplate }: Pick<SaveOptions, 'tokenizer' | 'chatTemplate'>,
): SavedTexts {
  const texts = new Map(known);
  if (tokenizer !== undefined) {
    const saved = savedTokenizer(fn, tokenizer);
    if (saved === undefined) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: tokenizer is ${describe(tokenizer)}, expected one that says what it is made of: out of a GGUF file or of charactersTokenizer(), { type: 'characters', tokens }, or tokenizer.json, parsed`,
      );
    }
    texts.set('tokenizer', saved);
  }
  if (chatTemplate !== undefined) {
    if (typeof chatTemplate !== 'string') {
      throw new QkvError(
        'invalid_argument',
        `${fn}: chatTemplate is ${describe(chatTemplate)}, expected the text of a template`,
      );
    }
    texts.set('chatTemplates', withTemplate(texts.get('chatTemplates'), chatTemplate));
  }
  return texts;
}
