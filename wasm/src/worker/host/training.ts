// A trainer for the other side: all that belongs to it as methods of one object, and its run.

import { QkvError } from '../../api/errors.js';
import type {
  Batch,
  Parameters,
  SaveAdaptersOptions,
  SaveOptions,
  Trainer,
} from '../../api/trainer-types.js';
import type { RunResult } from '../../api/worker-train-types.js';
import { describe } from '../../arguments/values.js';
import { trainedModelMethods } from '../protocol/methods.js';
import { Run, type RunRequest } from './run.js';

/** A model of either kind of trainer: whoever calls knows which. */
type Model = object & {
  readonly config?: unknown;
  readonly [method: string]: unknown;
};
type Method = (...args: readonly unknown[]) => unknown;

export class Training {
  readonly #trainer: Trainer<Model, Batch>;
  #run: Run | undefined;

  constructor(trainer: Trainer<object, Batch>) {
    this.#trainer = trainer as Trainer<Model, Batch>;
  }

  get parameterCount(): number {
    return this.#trainer.parameterCount;
  }

  get config(): unknown {
    return this.#trainer.model.config;
  }

  get names(): Parameters['names'] {
    return this.#trainer.parameters().names;
  }

  /** What handles have a length for: the steps. */
  get length(): number {
    return this.#trainer.steps;
  }

  step(batch: Batch): unknown {
    this.#checkIdle('Trainer.step');
    return this.#trainer.step(batch);
  }

  accumulate(batch: Batch): unknown {
    this.#checkIdle('Trainer.accumulate');
    return this.#trainer.accumulate(batch);
  }

  evaluate(batch: Batch): unknown {
    return this.#trainer.evaluate(batch);
  }

  differentiate(batch: Batch): unknown {
    return this.#trainer.differentiate(batch);
  }

  value(name: string): unknown {
    return this.#trainer.parameters().value(name);
  }

  gradient(name: string): unknown {
    return this.#trainer.parameters().gradient(name);
  }

  set(...args: globalThis.Parameters<Parameters['set']>): void {
    this.#checkIdle('parameters.set');
    this.#trainer.parameters().set(...args);
  }

  save(options?: SaveOptions): unknown {
    return this.#trainer.save(options);
  }

  saveAdapters(options?: SaveAdaptersOptions): unknown {
    return this.#trainer.saveAdapters(options);
  }

  load(bytes: Uint8Array): void {
    this.#checkIdle('Trainer.load');
    this.#trainer.load(bytes);
  }

  /** A method of the model. Messages may name anything. */
  ofModel(method: string, ...args: readonly unknown[]): unknown {
    const { model } = this.#trainer;
    if (trainedModelMethods.includes(method) && method in model) {
      return (model[method] as Method)(...args);
    }
    throw new QkvError(
      'invalid_argument',
      `worker: ${describe(method)} is no method of the model of this trainer, expected one of ${trainedModelMethods.join(', ')}`,
    );
  }

  async run(request: RunRequest): Promise<RunResult> {
    this.#checkIdle('Trainer.run');
    const run = new Run(this.#trainer, request);
    this.#run = run;
    try {
      return await run.result();
    } finally {
      this.#run = undefined;
    }
  }

  /** A batch that the run requested. It may be over by now. */
  feed(batch: Batch | undefined): void {
    this.#run?.feed(batch);
  }

  pause(): void {
    this.#run?.pause();
  }

  resume(): void {
    this.#run?.resume();
  }

  dispose(): void {
    this.#run?.stop(
      new QkvError('disposed', 'Trainer.run: the trainer is disposed, expected a live one'),
    );
    this.#trainer.dispose();
  }

  #checkIdle(fn: string): void {
    if (!this.#run) return;
    throw new QkvError('busy', `${fn}: a run of the trainer goes on, expected none`);
  }
}
