// Trainers that begin with a file of a trainer: its config, its weights, and the state of the optimizer if it is there.

import { QkvError } from '../api/errors.js';
import type { LanguageModelConfig, Trainer, TrainerOptions } from '../api/trainer-types.js';
import type { TrainedModel } from '../api/trained-model-types.js';
import { isSameShape, shapeText } from '../arguments/shapes.js';
import { describe, isObject, isRecord, jsonIn } from '../arguments/values.js';
import { readSafetensors, type StoredArrays } from '../formats/safetensors.js';
import { type Config, resolveConfig } from '../language/config.js';
import { type SavedTexts, savedTextsIn } from '../language/saved-texts.js';
import type { Instance } from '../memory/instance.js';
import { fill } from './checkpoint.js';
import { created, identityOf, trainerOf } from './language-model.js';

const fn = 'languageModel.fromFile';

function refuse(what: string, expected: string): never {
  throw new QkvError('invalid_argument', `${fn}: bytes ${what}, expected ${expected}`);
}

/** What reads files of other kinds. */
const readers: ReadonlyMap<string | undefined, string> = new Map([
  [
    'language_model_adapters',
    'a language_model; load() of a trainer that languageModel.from(model, { lora }) makes takes adapters',
  ],
  [
    'saved_model',
    'a language_model; load() of qkv/models and languageModel.from() take such a file',
  ],
]);

/** What a file says of texts. To its templates save() may add one. */
function textsIn({ metadata }: StoredArrays): SavedTexts {
  const texts = savedTextsIn(metadata);
  const templates = texts.get('chatTemplates');
  if (templates !== undefined && !isObject(jsonIn(templates)))
    refuse(`hold the chatTemplates ${describe(templates)}`, 'an object as JSON');
  return texts;
}

/** The config of a file. */
function configIn({ metadata }: StoredArrays): Config {
  const kind = metadata.get('kind');
  if (kind !== 'language_model') {
    const expected = readers.get(kind) ?? 'a language_model, as save() of its trainer makes it';
    refuse(
      kind === undefined ? 'do not say what they hold' : `hold a ${kind.slice(0, 40)}`,
      expected,
    );
  }
  const config = jsonIn(metadata.get('config'));
  if (!isRecord(config)) refuse(`hold the config ${describe(config)}`, 'an object');
  return resolveConfig(fn, config as unknown as LanguageModelConfig);
}

/** A model takes about as much memory as its file is long, or a number in it could claim more. */
function checkSizes({ arrays }: StoredArrays, config: Config): void {
  const { vocabulary, dModel, numLayers, numHeads, dK, dFeedForward, maxLength } = config;
  const check = (name: string, expected: readonly number[]): void => {
    const { shape } = arrays.get(name) ?? refuse(`hold no ${name}`, 'every array of the model');
    if (isSameShape(shape, expected)) return;
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(shape)}, expected ${shapeText(expected)} as the config says`,
    );
  };
  check('embedding', [vocabulary, dModel]);
  if (config.positions === 'learned') check('positions', [maxLength, dModel]);
  if (config.tokenTypes > 0) check('tokenTypes', [config.tokenTypes, dModel]);
  for (const layer of new Set([0, numLayers - 1])) {
    check(`layers.${layer}.attention.wq`, [dModel, numHeads * dK]);
    if (dFeedForward > 0) check(`layers.${layer}.feedForward.w1`, [dModel, dFeedForward]);
  }
  if (numLayers > arrays.size) refuse(`hold ${arrays.size} arrays`, `those of ${numLayers} layers`);
}

export function fromFile(
  instance: Instance,
  bytes: Uint8Array,
  options: TrainerOptions = {},
): Trainer<TrainedModel> {
  const file = readSafetensors(fn, bytes);
  const config = configIn(file);
  checkSizes(file, config);
  const texts = textsIn(file);
  const identity = identityOf(config, () => texts);
  return trainerOf(fn, instance, created(fn, instance, config, options), config, {
    identity,
    start: (state) => fill(fn, state, file),
  });
}
