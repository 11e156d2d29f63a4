// Trainers that begin with a model of qkv/models: of all its weights, or of adapters of low rank.

import { QkvError } from '../api/errors.js';
import type {
  AdaptedMap,
  AdapterFiles,
  FineTuneOptions,
  LoraOptions,
  TrainedModel,
  Trainer,
} from '../api/trainer-types.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { within } from '../arguments/ranges.js';
import { describe, listOf, takeOptions } from '../arguments/values.js';
import { handleOf, type ModelHandle, type UniformAdapters } from '../language/model-handles.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { identityOf, savedConfig, trainerOf, type TrainerParts } from './language-model.js';
import { optionNames, trainerOptions } from './options.js';
import type { TrainerState } from './trainer-state.js';

const fn = 'languageModel.from';

/** In the order of AdaptedMap in qkv/train/language_model.hpp. */
const maps = ['wq', 'wk', 'wv', 'wo', 'w1', 'wGate', 'w2'] as const;

/** Which maps are adapted. */
function mapsOf(chosen: unknown): AdaptedMap[] {
  const list = listOf(fn, 'lora.maps', chosen, maps.length);
  if (!list || list.length === 0) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: lora.maps is ${describe(chosen)}, expected an array of maps such as 'wq' and 'wv'`,
    );
  }
  list.forEach((map, i) => checkChoice(fn, `lora.maps[${i}]`, map as string, maps));
  return list as AdaptedMap[];
}

/** What adapters are made of. */
interface Lora {
  readonly rank: number;
  readonly alpha: number;
  readonly dropout: number;
  readonly maps: readonly AdaptedMap[];
  /** What they begin with. */
  readonly begun?: UniformAdapters;
}

/** What files of adapters say, beside which nothing else can. */
function begunOf(base: ModelHandle, files: AdapterFiles, given: LoraOptions): Lora {
  for (const name of ['rank', 'alpha', 'maps'] as const) {
    if (given[name] === undefined) continue;
    throw new QkvError(
      'invalid_argument',
      `${fn}: lora.${name} is ${describe(given[name])} beside lora.adapters, expected one of the two`,
    );
  }
  const begun = base.adapters.read(fn, files);
  const { rank, alpha, dropout, arrays } = begun;
  const found = maps.filter((map) =>
    [...arrays.keys()].some((name) => name.endsWith(`.${map}.loraA`)),
  );
  return { rank, alpha, dropout, maps: found, begun };
}

/** What adapters are made of, with the defaults. */
function loraOf(base: ModelHandle, given: LoraOptions): Lora {
  const taken = takeOptions(fn, 'lora', given, ['rank', 'alpha', 'maps', 'dropout', 'adapters']);
  const { adapters, rank = 8, alpha = 16 } = taken;
  const begun = adapters === undefined ? undefined : begunOf(base, adapters, taken);
  const { dropout = begun?.dropout ?? 0 } = taken;
  within(fn, 'lora.dropout', dropout, '[0, 1)');
  if (begun) return { ...begun, dropout };
  checkInteger(fn, 'lora.rank', rank, 1, mostInt);
  const chosen = mapsOf(taken.maps ?? ['wq', 'wv']);
  return { rank, alpha: within(fn, 'lora.alpha', alpha, 'above 0'), dropout, maps: chosen };
}

/** Fills adapters with those of files. */
function start(state: TrainerState, { arrays }: UniformAdapters): void {
  for (const [name, source] of arrays)
    state.write(fn, name, 'value', { name, shape: state.named(fn, name).shape, source });
}

export function from(
  instance: Instance,
  model: object,
  given: FineTuneOptions = {},
): Trainer<TrainedModel> {
  const base = handleOf(fn, instance, model);
  base.live(fn);
  const { lora: adapters, ...rest } = takeOptions(fn, 'options', given, [...optionNames, 'lora']);
  const options = trainerOptions(fn, rest);
  const lora = adapters === undefined ? undefined : loraOf(base, adapters);
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
  return trainerOf(fn, instance, call.made(), config, { ...partsOf(base, model, lora), whole });
}

/** What a trainer of adapters is besides its config. */
function partsOf(base: ModelHandle, model: object, lora: Lora): TrainerParts {
  const { rank, alpha, dropout, begun } = lora;
  const ordered = maps.filter((map) => lora.maps.includes(map));
  return {
    identity: {
      kind: 'language_model_adapters',
      config: { rank, alpha, maps: ordered, base: savedConfig(base.config) },
    },
    base: { model, arrays: base.arrays, live: (of) => base.live(of) },
    start: (state) => begun && start(state, begun),
    adapters(of, state, options) {
      const { base: name = begun?.base } = takeOptions(of, 'options', options, ['base']);
      if (name !== undefined && typeof name !== 'string')
        throw new QkvError('invalid_argument', `${of}: base is ${describe(name)}, expected a text`);
      const arrays = Array.from(
        state.arrays.keys(),
        (each) => [each, state.read(of, each, 'value').data] as const,
      );
      return base.adapters.write(of, { rank, alpha, dropout, arrays: new Map(arrays), base: name });
    },
  };
}
