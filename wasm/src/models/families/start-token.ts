// The token that a decoder begins with where an encoder has read the text.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { refuse } from '../errors.js';
import { Fields } from '../fields.js';

const field = 'decoder_start_token_id';

/** With that of generation_config.json, which goes before the one of the config, as in transformers. */
export function withStartToken<T extends LanguageModelConfig>(config: T, generation: unknown): T {
  if ((config.encoderLayers ?? 0) === 0) return config;
  const fields = generation === undefined ? undefined : Fields.of('generation', generation);
  const startToken = fields?.has(field) ? fields.count(field, undefined, 0) : config.startToken;
  if (startToken === undefined)
    refuse(`${field} is missing in the config`, 'the token that the decoder begins with');
  return { ...config, startToken };
}
