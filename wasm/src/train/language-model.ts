// Language models in training.

import type { Sweep } from '../api/inspect-types.js';
import type {
  AttributionPatchingOptions,
  GradientRead,
  GradientsOptions,
  LogitGradients,
} from '../api/logit-types.js';
import type {
  LanguageBatch,
  LanguageModelConfig,
  Passing,
  TrainedForwardOptions,
  TrainedModel,
  TrainedOutput,
  TrainedOutputOf,
  Trainer,
  TrainerOptions,
} from '../api/trainer-types.js';
import type { OwnedArray, Shape3 } from '../api/types.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { sizeOf } from '../arguments/shapes.js';
import { newFloats, takeOptions } from '../arguments/values.js';
import { type Config, configFields, resolveConfig } from '../language/config.js';
import { Readings } from '../language/readings.js';
import {
  checkFollowed,
  checkRows,
  checkWhole,
  found,
  optionalWhole,
  take,
} from '../language/rows.js';
import type { Group } from '../memory/abi.js';
import { Call } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';
import { attributionPatching } from './attribution-patching.js';
import { gradients } from './logit-gradients.js';
import { trainerOptions } from './options.js';
import type { Identity } from './checkpoint.js';
import type { TrainerState } from './trainer-state.js';
import { createTrainer, type TrainerKind } from './trainer.js';

/** What files of trainers say of the config; the rest is at its default. */
const kept = [
  ...['vocabulary', 'numLayers', 'dModel', 'numHeads', 'maxLength', 'numKvHeads', 'dK', 'norm'],
  ...['normType', 'activation', 'positions', 'causal', 'qkNorm', 'parallelResidual', 'biases'],
  ...['tiedEmbeddings', 'epsilon', 'embeddingScale', 'attentionSoftcap', 'dFeedForward', 'rotary'],
  'window',
];

/** What they say besides where it is not this. */
const further = {
  ...{
    attentionScale: null,
    postNorms: false,
    tokenTypes: 0,
    embeddingNorm: false,
    headBias: false,
  },
  ...{ logitSoftcap: 0, headTransform: 'none', headNorm: false },
  ...{ qkNormOf: 'head', firstNorm: true, symmetricWindow: false },
} as const;

/** The config as files have it. */
export function savedConfig(config: Config): object {
  const isSaved = (name: string): boolean =>
    kept.includes(name) ||
    (name === 'family' && config.family !== '') ||
    (name === 'qkvBiases' && config.qkvBiases !== config.biases) ||
    (name in further &&
      config[name as keyof typeof further] !== further[name as keyof typeof further]);
  return Object.fromEntries(Object.entries(config).filter(([name]) => isSaved(name)));
}

const inspectNames = ['layers', 'weights', 'entropy', 'residuals', 'projections'] as const;

const batchNames = ['ids', 'targets', 'batch', 'keyLengths', 'tokenTypes'] as const;

/** A type for each token, if they are given. */
const typesOf = (fn: string, given: ArrayLike<number> | undefined, shape: readonly number[]) =>
  optionalWhole(fn, 'tokenTypes', given, sizeOf(shape));

function batchFields(fn: string, call: Call, given: LanguageBatch): Group<'trainerBatch'> {
  const taken = takeOptions(fn, 'batch', given, batchNames);
  const { ids, targets, batch, keyLengths, tokenTypes } = taken;
  checkInteger(fn, 'batch', batch, 1, mostInt);
  const rows = checkRows(fn, 'ids', ids, batch);
  const expected = checkWhole(fn, 'targets', targets, sizeOf(rows.shape));
  return {
    ids: call.input(rows),
    targets: call.input(expected, rows.shape),
    keyLengths: call.input(optionalWhole(fn, 'keyLengths', keyLengths, batch)),
    tokenTypes: call.input(typesOf(fn, tokenTypes, rows.shape), rows.shape),
  };
}

const forwardNames = ['batch', 'rows', 'keyLengths', 'tokenTypes', 'inspect'] as const;

/** The last row of each of the batch, [batch, 1, width] of [batch, T, width]. */
function lastRows({ data, shape }: OwnedArray<Shape3>): OwnedArray<Shape3> {
  const [batch, length, width] = shape;
  const last = newFloats('TrainedModel.forward', batch * width);
  for (let b = 0; b < batch; b += 1) {
    const end = (b + 1) * length * width;
    last.set(data.subarray(end - width, end), b * width);
  }
  return { data: last, shape: [batch, 1, width] };
}

class TrainedLanguageModel implements TrainedModel {
  declare readonly config: Config;
  declare readonly parameterCount: number;
  readonly #state: TrainerState;

  constructor(config: Config, state: TrainerState) {
    this.#state = state;
    const { parameterCount } = state;
    for (const [name, value] of Object.entries({ config, parameterCount })) {
      Object.defineProperty(this, name, { value, enumerable: true });
    }
  }

  get [Symbol.toStringTag](): string {
    return 'TrainedModel';
  }

  forward<O extends Passing<O, TrainedForwardOptions> = TrainedForwardOptions>(
    ids: ArrayLike<number>,
    options?: O,
  ): TrainedOutputOf<O>;
  forward(ids: ArrayLike<number>, given: TrainedForwardOptions = {}): TrainedOutput {
    const fn = 'TrainedModel.forward';
    const taken = takeOptions(fn, 'options', given, forwardNames);
    const { batch = 1, keyLengths, tokenTypes, inspect, rows: which = 'all' } = taken;
    checkInteger(fn, 'batch', batch, 1, mostInt);
    checkChoice(fn, 'rows', which, ['all', 'last']);
    const rows = checkRows(fn, 'ids', ids, batch);
    const call = new Call(this.#state.instance, fn);
    const [, length] = rows.shape;
    const wanted =
      inspect === undefined ? undefined : takeOptions(fn, 'inspect', inspect, inspectNames);
    const pass = { batch, length, keys: length, queries: length };
    const readings = wanted && new Readings(fn, call, wanted, this.config, pass);
    const logits = call.output('logits', [...rows.shape, this.config.vocabulary]);
    call.run('readLanguageModel', {
      ...{ ids: call.input(rows), logits, ...readings?.fields(call) },
      keyLengths: call.input(optionalWhole(fn, 'keyLengths', keyLengths, batch)),
      tokenTypes: call.input(typesOf(fn, tokenTypes, rows.shape), rows.shape),
      trainer: this.#state.live(fn),
    });
    const all = take<Shape3>(call, logits);
    return {
      logits: which === 'last' ? lastRows(all) : all,
      ...(readings && { layers: readings.read(call) }),
    };
  }

  gradients<R extends readonly GradientRead[]>(
    ids: ArrayLike<number>,
    options: GradientsOptions & { read: R },
  ): LogitGradients<R[number]['site']> {
    return gradients(this.#state, this.config, ids, options);
  }

  attributionPatching(options: AttributionPatchingOptions): Sweep {
    return attributionPatching(this.#state, this.config, options);
  }

  loss(ids: ArrayLike<number>, given: { batch?: number | undefined } = {}): number {
    const fn = 'TrainedModel.loss';
    const { batch = 1 } = takeOptions(fn, 'options', given, ['batch']);
    checkInteger(fn, 'batch', batch, 1, mostInt);
    const rows = checkRows(fn, 'ids', ids, batch);
    const [, length] = rows.shape;
    checkFollowed(fn, length);
    const source = rows.source as Int32Array;
    // The last token of a row is followed by none.
    const next = Int32Array.from({ length: sizeOf(rows.shape) }, (_, i) =>
      (i + 1) % length === 0 ? -1 : (source[i + 1] ?? -1),
    );
    const call = new Call(this.#state.instance, fn);
    const slot = call.output('found', [4]);
    const batchOf = {
      ids: call.input(rows),
      targets: call.input({ name: 'ids', shape: rows.shape, source: next }),
    };
    call.run('evaluateTrainer', { trainer: this.#state.live(fn), batch: batchOf, found: slot });
    return found(call, slot)[0] ?? NaN;
  }
}

/** What the trainer of a made object is besides its config. */
export type TrainerParts = Omit<TrainerKind<TrainedModel, LanguageBatch>, 'batch' | 'model'>;

/** What a file says of a whole model. */
export const identityOf = (config: Config, texts?: Identity['texts']): Identity => ({
  ...{ kind: 'language_model', config: savedConfig(config) },
  ...(texts && { texts }),
});

/** The trainer of an object that an operator has made. */
export const trainerOf = (
  fn: string,
  instance: Instance,
  address: Address,
  config: Config,
  parts: TrainerParts = { identity: identityOf(config) },
): Trainer<TrainedModel> => {
  const kind: TrainerKind<TrainedModel, LanguageBatch> = {
    ...{ ...parts, batch: batchFields },
    model: (state) => new TrainedLanguageModel(config, state),
  };
  return createTrainer(fn, instance, address, kind);
};

export function languageModel(
  instance: Instance,
  given: LanguageModelConfig,
  givenOptions: TrainerOptions = {},
): Trainer<TrainedModel> {
  const fn = 'languageModel';
  const config = resolveConfig(fn, given);
  return trainerOf(fn, instance, created(fn, instance, config, givenOptions), config);
}

/** Where a new trainer is. */
export function created(
  fn: string,
  instance: Instance,
  config: Config,
  givenOptions: TrainerOptions,
): Address {
  const options = trainerOptions(fn, givenOptions);
  const call = new Call(instance, fn);
  call.run('createLanguageModel', { config: configFields(fn, call, config), options });
  return call.made();
}
