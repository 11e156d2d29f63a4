// What trainers of either kind do: steps, their arrays by name, files.

import { QkvError } from '../api/errors.js';
import type {
  EvaluationResult,
  Parameters,
  SaveAdaptersOptions,
  SaveOptions,
  StepResult,
  Trainer,
  WrittenAdapters,
} from '../api/trainer-types.js';
import { checkShaped } from '../arguments/arrays.js';
import { found } from '../language/rows.js';
import type { Group } from '../memory/abi.js';
import { Call } from '../memory/call.js';
import { disposeSymbol } from '../memory/handle.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';
import { type Identity, load, save } from './checkpoint.js';
import { type BaseModel, TrainerState } from './trainer-state.js';

/** What the two kinds differ in. */
export interface TrainerKind<Model, Batch> {
  readonly identity: Identity;
  /** The model whose weights it reads, if it does. */
  readonly base?: BaseModel;
  /** What that is in a file, with adapters added. */
  readonly whole?: Identity;
  /** Fills it with what it begins with. */
  start?(state: TrainerState): void;
  /** The files of its adapters, if it trains those. */
  adapters?(fn: string, state: TrainerState, options: SaveAdaptersOptions): WrittenAdapters;
  /** The batch as the core takes it, checked but for what the core knows. */
  batch(fn: string, call: Call, batch: Batch): Group<'trainerBatch'>;
  /** What reads the weights. */
  model(state: TrainerState): Model;
}

class WasmTrainer<Model, Batch> implements Trainer<Model, Batch> {
  declare readonly parameterCount: number;
  declare readonly model: Model;
  readonly #state: TrainerState;
  readonly #kind: TrainerKind<Model, Batch>;

  constructor(fn: string, instance: Instance, address: Address, kind: TrainerKind<Model, Batch>) {
    this.#state = new TrainerState(this, fn, instance, address, kind.base);
    this.#kind = kind;
    const { parameterCount } = this.#state;
    const fixed = { parameterCount, model: kind.model(this.#state) };
    for (const [name, value] of Object.entries(fixed)) {
      Object.defineProperty(this, name, { value, enumerable: true });
    }
    try {
      kind.start?.(this.#state);
    } catch (error) {
      this.#state.dispose();
      throw error;
    }
  }

  get steps(): number {
    return this.#state.steps;
  }

  get [Symbol.toStringTag](): string {
    return 'Trainer';
  }

  step(batch: Batch): StepResult {
    const fn = 'Trainer.step';
    const state = this.#state;
    const call = new Call(state.instance, fn);
    const fields = this.#kind.batch(fn, call, batch);
    const slot = call.output('found', [10]);
    try {
      call.run('stepTrainer', { trainer: state.live(fn), batch: fields, found: slot });
    } catch (error) {
      // The core has done the step, with what it had of the gradients.
      if (error instanceof QkvError && error.code === 'thread_lost') state.steps += 1;
      throw error;
    }
    const [loss = NaN, accuracy = NaN, gradientNorm = NaN, learningRate = NaN, step = NaN] = found(
      call,
      slot,
    );
    state.steps = step;
    return { loss, accuracy, gradientNorm, learningRate, step };
  }

  accumulate(batch: Batch): EvaluationResult {
    const fn = 'Trainer.accumulate';
    const { instance } = this.#state;
    const call = new Call(instance, fn);
    const fields = this.#kind.batch(fn, call, batch);
    const slot = call.output('found', [4]);
    call.run('accumulateTrainer', { trainer: this.#state.live(fn), batch: fields, found: slot });
    const [loss = NaN, accuracy = NaN] = found(call, slot);
    return { loss, accuracy };
  }

  evaluate(batch: Batch): EvaluationResult {
    return this.#judge('Trainer.evaluate', batch, false);
  }

  differentiate(batch: Batch): EvaluationResult {
    return this.#judge('Trainer.differentiate', batch, true);
  }

  parameters(): Parameters {
    const state = this.#state;
    state.live('Trainer.parameters');
    return {
      names: [...state.arrays.keys()],
      value: (name) => state.read('parameters.value', name, 'value'),
      gradient: (name) => state.read('parameters.gradient', name, 'gradient'),
      set: (name, value) => {
        const fn = 'parameters.set';
        state.live(fn);
        const { shape } = state.named(fn, name);
        state.write(fn, name, 'value', checkShaped(fn, 'value', value, shape));
      },
    };
  }

  save(options: SaveOptions = {}): Uint8Array<ArrayBuffer> {
    const { identity, whole } = this.#kind;
    return save(this.#state, identity, options, whole);
  }

  saveAdapters(options: SaveAdaptersOptions = {}): WrittenAdapters {
    const fn = 'Trainer.saveAdapters';
    const state = this.#state;
    state.live(fn);
    const written = this.#kind.adapters?.(fn, state, options);
    if (written) return written;
    throw new QkvError(
      'invalid_argument',
      `${fn}: the trainer trains whole weights, expected one of languageModel.from(model, { lora })`,
    );
  }

  load(bytes: Uint8Array): void {
    load(this.#state, this.#kind.identity, bytes);
  }

  dispose(): void {
    this.#state.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  #judge(fn: string, batch: Batch, gradients: boolean): EvaluationResult {
    const { instance } = this.#state;
    const call = new Call(instance, fn);
    const fields = this.#kind.batch(fn, call, batch);
    const slot = call.output('found', [4]);
    const trainer = this.#state.live(fn);
    call.run('evaluateTrainer', { trainer, batch: fields, gradients, found: slot });
    const [loss = NaN, accuracy = NaN] = found(call, slot);
    return { loss, accuracy };
  }
}

/** The trainer of the object that the last operator made. */
export const createTrainer = <Model, Batch>(
  fn: string,
  instance: Instance,
  address: Address,
  kind: TrainerKind<Model, Batch>,
): Trainer<Model, Batch> => new WasmTrainer(fn, instance, address, kind);
