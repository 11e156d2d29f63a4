// Trainers that begin with a model of qkv/models: of all its weights, or of adapters of low rank.

import { QkvError } from '../api/errors.js';
import type { FineTuneOptions, LoraOptions, TrainedModel, Trainer } from '../api/trainer-types.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { within } from '../arguments/ranges.js';
import { describe, listOf, takeOptions } from '../arguments/values.js';
import { handleOf } from '../language/model-handles.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { identityOf, savedConfig, trainerOf } from './language-model.js';
import { optionNames, trainerOptions } from './options.js';

const fn = 'languageModel.from';

/** In the order of AdaptedMap in qkv/train/language_model.hpp. */
const maps = ['wq', 'wk', 'wv', 'wo', 'w1', 'wGate', 'w2'] as const;

/** What adapters are made of, with the defaults. */
function loraOf(given: LoraOptions) {
  const taken = takeOptions(fn, 'lora', given, ['rank', 'alpha', 'maps', 'dropout']);
  const { rank = 8, alpha = 16, dropout = 0 } = taken;
  checkInteger(fn, 'lora.rank', rank, 1, mostInt);
  const chosen: unknown = taken.maps ?? ['wq', 'wv'];
  const list = listOf(fn, 'lora.maps', chosen, maps.length);
  if (!list || list.length === 0) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: lora.maps is ${describe(chosen)}, expected an array of maps such as 'wq' and 'wv'`,
    );
  }
  list.forEach((map, i) => checkChoice(fn, `lora.maps[${i}]`, map as string, maps));
  return {
    rank,
    alpha: within(fn, 'lora.alpha', alpha, 'above 0'),
    dropout: within(fn, 'lora.dropout', dropout, '[0, 1)'),
    maps: list as (typeof maps)[number][],
  };
}

export function from(
  instance: Instance,
  model: object,
  given: FineTuneOptions = {},
): Trainer<TrainedModel> {
  const base = handleOf(fn, instance, model);
  const { lora: asked, ...rest } = takeOptions(fn, 'options', given, [...optionNames, 'lora']);
  const options = trainerOptions(fn, rest);
  const lora = asked === undefined ? undefined : loraOf(asked);
  const call = new Call(instance, fn);
  const chosen = Int32Array.from(lora?.maps ?? [], (map) => maps.indexOf(map));
  call.run('createFromModel', {
    ...{ model: base.live(fn), options },
    ...(lora && {
      lora: {
        ...{ rank: lora.rank, alpha: lora.alpha, dropout: lora.dropout },
        maps: call.input({ name: 'lora.maps', shape: [chosen.length], source: chosen }),
      },
    }),
  });
  const { config } = base;
  // What the model says of texts, which may go before the trainer does.
  const texts = base.texts(fn);
  const whole = identityOf(config, () => texts);
  if (!lora) return trainerOf(fn, instance, call.made(), config, { identity: whole });
  const { rank, alpha } = lora;
  const ordered = maps.filter((map) => lora.maps.includes(map));
  const identity = {
    kind: 'language_model_adapters',
    config: { rank, alpha, maps: ordered, base: savedConfig(config) },
  };
  return trainerOf(fn, instance, call.made(), config, {
    ...{ identity, whole },
    base: { model, arrays: base.arrays, live: (of) => base.live(of) },
  });
}
