// Files of Trainer.save(), where arrays have their own names and shapes.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { describe } from '../../arguments/values.js';
import { refuse } from '../errors.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';
import type { Locate } from './locate.js';
import { sizesOf } from './sizes.js';

/** What the trainer alone needs. */
export const ownIgnored = /^optimizer\.(first|second)\./;

/** The config in a file of Trainer.save(), of which only the sizes are checked here: the engine checks all of it. */
export function ownConfig({ metadata }: ModelFile): LanguageModelConfig {
  const kind = metadata.get('kind');
  if (kind !== 'language_model') refuse(`weights are of a ${describe(kind)}`, 'a language_model');
  let value: unknown;
  try {
    value = JSON.parse(String(metadata.get('config')));
  } catch {
    // What is no JSON is no object either.
  }
  const fields = Fields.of('config', value);
  sizesOf(fields, 'numLayers dModel numHeads');
  // In these two it is looked for words before the engine is asked.
  for (const name of ['family', 'activation']) fields.text(name, '');
  for (const name of ['numKvHeads', 'dK']) if (fields.has(name)) fields.count(name);
  for (const name of ['vocabulary', 'maxLength']) fields.count(name);
  fields.count('dFeedForward', undefined, 0);
  fields.count('tokenTypes', 0, 0);
  fields.count('encoderLayers', 0, 0);
  return value as LanguageModelConfig;
}

export const locateOwn: Locate = ({ name, kind, shape }) => ({
  ...{ tensor: name, shape, layout: kind === 'map' ? 'in_out' : 'out_in' },
  ranges: () => [[0, (kind === 'table' ? shape[0] : shape[shape.length - 1]) ?? 0]],
});
