// Tokens after which a text is over.

import { isRecord, reading } from '../../arguments/values.js';
import type { ModelFile } from '../file.js';

const isToken = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** Of a config that nobody has looked at, as files of our own have another one. */
const entriesOf = (config: object): [string, unknown][] =>
  reading('load', 'config', () => Object.entries(config));

/** As the metadata of GGUF, the config of the hub, or run.c of llama2.c has them. */
export function endTokensOf({ format, metadata }: ModelFile, config: unknown): number[] {
  if (format === 'llama2.c') return [1, 2];
  const told =
    format === 'gguf'
      ? ['eos', 'eot'].map((name) => metadata.get(`tokenizer.ggml.${name}_token_id`))
      : [isRecord(config) ? new Map(entriesOf(config)).get('eos_token_id') : undefined].flat();
  return [...new Set(told.filter(isToken))];
}
