// Language models in training.

import type {
  Filled,
  ForwardOptions,
  Inspect,
  LanguageBatch,
  LanguageModel,
  LanguageModelConfig,
  LayerReadings,
  ModelOutput,
  Trainer,
  TrainerOptions,
} from '../api/trainer-types.js';
import type { OwnedArray } from '../api/types.js';
import type { Input } from '../arguments/arrays.js';
import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkNumber,
  mostInt,
} from '../arguments/numbers.js';
import { sizeOf } from '../arguments/shapes.js';
import { takeOptions } from '../arguments/values.js';
import type { Group } from '../memory/abi.js';
import { Call, type Slot } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { widthOfHeads } from '../operators/layer.js';
import { CheckedRotary } from '../operators/rotary.js';
import { checkRows, checkWhole, take } from './arguments.js';
import { trainerOptions } from './options.js';
import { found, type TrainerState } from './state.js';
import { createTrainer, type Kind } from './trainer.js';

type Config = Filled<LanguageModelConfig>;

const required = ['vocabulary', 'numLayers', 'dModel', 'numHeads', 'maxLength'] as const;
const sizes = ['numKvHeads', 'dK'] as const;
const choices = {
  norm: ['pre', 'post'],
  normType: ['layer', 'rms'],
  activation: ['relu', 'gelu', 'gelu_tanh', 'silu', 'swiglu', 'geglu'],
  positions: ['none', 'learned', 'sinusoidal', 'rotary', 'alibi'],
} as const;
const flags = ['causal', 'qkNorm', 'parallelResidual', 'tiedEmbeddings', 'biases'] as const;
const numbers = ['epsilon', 'embeddingScale', 'attentionSoftcap'] as const;
const configNames = [
  ...[...required, ...sizes, ...Object.keys(choices), ...flags, ...numbers],
  ...['dFeedForward', 'rotary', 'window'],
];

/** A config with its defaults, of which the core checks what the parts ask of each other. */
function resolve(fn: string, given: LanguageModelConfig): Config {
  const taken = takeOptions(fn, 'config', given, configNames);
  const { dModel, numHeads, normType = 'layer', rotary = {} } = taken;
  for (const name of required) checkInteger(fn, name, taken[name], 1, mostInt);
  const config: Config = {
    ...{ numKvHeads: numHeads, dK: taken.dK ?? widthOfHeads(fn, dModel, numHeads), causal: true },
    ...{ norm: 'pre', epsilon: 1e-5, activation: 'gelu', positions: 'learned', qkNorm: false },
    ...{ parallelResidual: false, tiedEmbeddings: false, biases: normType === 'layer' },
    ...{ embeddingScale: 1, window: null, attentionSoftcap: 0 },
    ...(taken as Filled<LanguageModelConfig>), // what was left out is not there
    normType,
    rotary: takeOptions(fn, 'rotary', rotary, ['base', 'rotaryDim', 'interleaved', 'scaling']),
  };
  for (const name of sizes) checkInteger(fn, name, config[name], 1, mostInt);
  checkInteger(fn, 'dFeedForward', config.dFeedForward, 0, mostInt);
  if (config.window !== null) checkInteger(fn, 'window', config.window, 0, mostInt);
  for (const name of flags) checkBoolean(fn, name, config[name]);
  for (const name of numbers) checkNumber(fn, name, config[name]);
  for (const [name, words] of Object.entries(choices)) {
    checkChoice(fn, name, config[name as keyof typeof choices], words);
  }
  // In one order, so that configs can be compared as text.
  const ordered = Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.freeze(Object.fromEntries(ordered)) as unknown as Config;
}

const batchNames = ['ids', 'targets', 'batch', 'keyLengths'];

function batchFields(fn: string, call: Call, given: LanguageBatch): Group<'trainerBatch'> {
  const { ids, targets, batch, keyLengths } = takeOptions(fn, 'batch', given, batchNames);
  checkInteger(fn, 'batch', batch, 1, mostInt);
  const rows = checkRows(fn, 'ids', ids, batch);
  const expected = checkWhole(fn, 'targets', targets, sizeOf(rows.shape));
  return {
    ids: call.input(rows),
    targets: call.input(expected, rows.shape),
    keyLengths: call.input(lengths(fn, 'keyLengths', keyLengths, batch)),
  };
}

/** One length for each row, if there are any. */
export const lengths = (
  fn: string,
  name: string,
  given: ArrayLike<number> | undefined,
  batch: number,
): Input | undefined => (given === undefined ? undefined : checkWhole(fn, name, given, batch));

/** What `inspect` asks for: layers, and room for their readings one after another. */
class Readings {
  readonly layers: readonly number[];
  readonly #slots: Partial<Record<'weights' | 'entropy' | 'residual', Slot>> = {};

  constructor(
    fn: string,
    call: Call,
    given: Inspect,
    config: Config,
    rows: readonly [number, number],
  ) {
    const names = ['layers', 'weights', 'entropy', 'residuals'];
    const taken = takeOptions(fn, 'inspect', given, names);
    const { layers = Array.from({ length: config.numLayers }, (_, i) => i) } = taken;
    this.layers = [...layers];
    this.layers.forEach((layer, i) => {
      checkInteger(fn, `inspect.layers[${i}]`, layer, 0, config.numLayers - 1);
    });
    const [batch, length] = rows;
    const all = this.layers.length * batch;
    const { numHeads, dModel } = config;
    const add = (
      name: 'weights' | 'entropy' | 'residual',
      asked: boolean | undefined,
      rest: number[],
    ): void => {
      checkBoolean(fn, `inspect.${name}`, asked);
      if (asked && all > 0) this.#slots[name] = call.output(`inspect.${name}`, [all, ...rest]);
    };
    add('weights', taken.weights, [numHeads, length, length]);
    add('entropy', taken.entropy, [numHeads, length]);
    add('residual', taken.residuals, [length, dModel]);
  }

  fields(call: Call) {
    const { layers } = this;
    const chosen: Input = {
      name: 'inspect.layers',
      shape: [layers.length],
      source: Int32Array.from(layers),
    };
    return { layers: layers.length > 0 ? call.input(chosen) : undefined, ...this.#slots };
  }

  /** By layer. */
  read(call: Call): ReadonlyMap<number, LayerReadings> {
    const count = this.layers.length;
    const part = (slot: Slot, i: number): OwnedArray => {
      const [all = 0, ...rest] = slot.shape;
      const data = call.read(slot);
      const shape = [all / count, ...rest];
      const size = sizeOf(shape);
      return { data: data.slice(i * size, (i + 1) * size), shape };
    };
    return new Map(
      this.layers.map((layer, i) => [
        layer,
        Object.fromEntries(
          Object.entries(this.#slots).map(([name, slot]) => [name, part(slot, i)]),
        ) as LayerReadings,
      ]),
    );
  }
}

class TrainedLanguageModel implements LanguageModel {
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
    return 'LanguageModel';
  }

  forward(ids: ArrayLike<number>, given: ForwardOptions = {}): ModelOutput {
    const fn = 'LanguageModel.forward';
    const {
      batch = 1,
      keyLengths,
      inspect,
    } = takeOptions(fn, 'options', given, ['batch', 'keyLengths', 'inspect']);
    checkInteger(fn, 'batch', batch, 1, mostInt);
    const rows = checkRows(fn, 'ids', ids, batch);
    const call = new Call(this.#state.instance, fn);
    const readings = inspect && new Readings(fn, call, inspect, this.config, rows.shape);
    const logits = call.output('logits', [...rows.shape, this.config.vocabulary]);
    call.run('readLanguageModel', {
      ...{ ids: call.input(rows), logits, ...readings?.fields(call) },
      keyLengths: call.input(lengths(fn, 'keyLengths', keyLengths, batch)),
      trainer: this.#state.live(fn),
    });
    return { logits: take(call, logits), ...(readings && { layers: readings.read(call) }) };
  }

  loss(ids: ArrayLike<number>, given: { batch?: number | undefined } = {}): number {
    const fn = 'LanguageModel.loss';
    const { batch = 1 } = takeOptions(fn, 'options', given, ['batch']);
    checkInteger(fn, 'batch', batch, 1, mostInt);
    const rows = checkRows(fn, 'ids', ids, batch);
    const [, length] = rows.shape;
    const source = rows.source as Int32Array;
    // The last token of a row is followed by none.
    const next = Int32Array.from(source, (_, i) =>
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

export function languageModel(
  instance: Instance,
  given: LanguageModelConfig,
  givenOptions: TrainerOptions = {},
): Trainer<LanguageModel> {
  const fn = 'languageModel';
  const config = resolve(fn, given);
  const options = trainerOptions(fn, givenOptions);
  const rotary = new CheckedRotary(fn, config.rotary);
  const call = new Call(instance, fn);
  call.run('createLanguageModel', {
    ...{ ...config, options, rotary: rotary.fields(call) },
    window: config.window ?? -1,
  });
  const kind: Kind<LanguageModel, LanguageBatch> = {
    identity: { kind: 'language_model', config },
    batch: batchFields,
    model: (state) => new TrainedLanguageModel(config, state),
  };
  return createTrainer(fn, instance, call.made(), kind);
}
