// Tokens after which a text is over.

import { isRecord } from '../../arguments/values.js';
import type { ModelFile } from '../file.js';

const isToken = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** As the metadata of GGUF, the config of the hub, or run.c of llama2.c has them. */
export function endTokensOf({ format, metadata }: ModelFile, config: unknown): number[] {
  if (format === 'llama2.c') return [1, 2];
  const told =
    format === 'gguf'
      ? ['eos', 'eot'].map((name) => metadata.get(`tokenizer.ggml.${name}_token_id`))
      : [isRecord(config) ? new Map(Object.entries(config)).get('eos_token_id') : undefined].flat();
  return [...new Set(told.filter(isToken))];
}
