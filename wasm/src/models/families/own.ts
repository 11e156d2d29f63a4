// Files of Trainer.save() and LanguageModel.save(), where arrays have their own names and shapes.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { describe, jsonIn } from '../../arguments/values.js';
import { refuse } from '../errors.js';
import { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';
import type { Locate } from './locate.js';
import { sizesOf } from './sizes.js';

/** What the trainer alone needs. */
export const ownIgnored = /^optimizer\.(first|second)\./;

/** What LanguageModel.save() calls a model. */
const saved = 'saved_model';

/** The config in such a file, of which only the sizes are checked here: the engine checks all of it. */
export function ownConfig(file: ModelFile): LanguageModelConfig {
  const kind = file.metadata.get('kind');
  if (kind !== 'language_model' && kind !== saved)
    refuse(`weights are of a ${describe(kind)}`, `a language_model or a ${saved}`);
  const value = ownField(file, 'config');
  const fields = Fields.of('config', value);
  sizesOf(fields, 'numLayers dModel numHeads');
  // These two must be words before the engine is called.
  for (const name of ['family', 'activation']) fields.text(name, '');
  for (const name of ['numKvHeads', 'dK']) if (fields.has(name)) fields.count(name);
  for (const name of ['vocabulary', 'maxLength']) fields.count(name);
  fields.count('dFeedForward', undefined, 0);
  for (const name of ['tokenTypes', 'encoderLayers', 'numExperts', 'classes'])
    fields.count(name, 0, 0);
  return value as LanguageModelConfig;
}

/** Of a trainer maps are [in, out], and of a model that was saved [out, in]. */
export const locateOwn =
  ({ metadata }: ModelFile): Locate =>
  ({ name, kind, shape }) => {
    const isInOut = kind === 'map' && metadata.get('kind') !== saved;
    return {
      tensor: name,
      shape: kind === 'map' && !isInOut ? [...shape].reverse() : shape,
      layout: isInOut ? 'in_out' : 'out_in',
      ranges: () => [[0, (kind === 'table' ? shape[0] : shape[shape.length - 1]) ?? 0]],
    };
  };

/** A field of the metadata as JSON; undefined for what is none. */
export const ownField = ({ metadata }: ModelFile, name: string): unknown =>
  jsonIn(metadata.get(name));
