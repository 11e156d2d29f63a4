// Tokens after which a text is over.

import { describe, isArray, isRecord, reading } from '../../arguments/values.js';
import { refuse } from '../errors.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';
import { endTexts, namesOfEnds } from '../tokenizers/end-texts.js';
import { TextList } from '../text-list.js';
import { ownField } from './own.js';

const isToken = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** Of a config that nobody has looked at, as files of our own have another one. */
const entriesOf = (config: object): [string, unknown][] =>
  reading('load', 'config', () => Object.entries(config));

const control = 3;

/** Files of GGUF name one to three of them by number, and often not that of a turn. */
function ggufEnds(metadata: ModelFile['metadata']): unknown[] {
  const of = (name: string): unknown => metadata.get(`tokenizer.ggml.${name}`);
  const named = namesOfEnds.map((name) => of(`${name}_token_id`));
  const [texts, types] = [of('tokens'), of('token_type')];
  const found = new Map<unknown, number>();
  if (TextList.is(texts)) {
    const typeOf = (id: number): unknown =>
      (Array.isArray(types) ? types[id] : undefined) ?? control;
    for (const [text, id] of texts.where((id) => typeOf(id) === control)) {
      if (endTexts.has(text)) found.set(text, id);
    }
  }
  // Where these two are, it stands between parts of one answer.
  if (found.has('<|return|>') && found.has('<|call|>')) found.delete('<|end|>');
  return [...named, ...found.values()];
}

/** One token or a list of them as a list of its own: whoever gives it may have made it a proxy. */
const listOfEnds = (path: string, ends: unknown): readonly unknown[] =>
  reading('load', path, () => (isArray(ends) ? [...ends] : [ends]));

/** Those of generation_config.json, which go before those of config.json, as in transformers. */
function generationEnds(given: unknown): unknown {
  const fields = Fields.of('generation', given);
  const ends: unknown = fields.get('eos_token_id');
  const path = fields.pathOf('eos_token_id');
  if (ends !== undefined && !listOfEnds(path, ends).every(isToken))
    refuse(`${path} is ${describe(ends)}`, 'a token or a list of tokens');
  return ends;
}

/** As the generation config, the metadata of GGUF, the config of the hub, or run.c of llama2.c have them. */
export function endTokensOf(file: ModelFile, config: unknown, generation: unknown): number[] {
  const { format, metadata } = file;
  const first = generation === undefined ? undefined : generationEnds(generation);
  const isSaved = metadata.get('format') === 'qkv';
  const isOwn = format === 'gguf' || format === 'llama2.c';
  const hub =
    !isOwn && isRecord(config) ? new Map(entriesOf(config)).get('eos_token_id') : undefined;
  const inside = (isSaved ? ownField(file, 'endTokens') : undefined) ?? hub;
  const own = format === 'gguf' ? ggufEnds(metadata) : format === 'llama2.c' ? [1, 2] : inside;
  return [...new Set(listOfEnds('config.eos_token_id', first ?? own).filter(isToken))];
}
