// What stands here for a trainer that lives in a worker.

import { QkvError } from '../../api/errors.js';
import type {
  AttributionPatchingOptions,
  GradientRead,
  GradientsOptions,
  LogitGradients,
  Sweep,
} from '../../api/logit-types.js';
import type { Passing } from '../../api/option-types.js';
import type {
  EvaluationResult,
  SaveAdaptersOptions,
  SaveOptions,
  Seq2Seq,
  StepResult,
  TrainedForwardOptions,
  TrainedModel,
  TrainedOutput,
  TrainedOutputOf,
  TranslateOptions,
  Translation,
  WrittenAdapters,
} from '../../api/trainer-types.js';
import type { CallOptions } from '../../api/worker-call-types.js';
import type {
  AsyncParameters,
  AsyncSeq2Seq,
  AsyncTrainedModel,
  AsyncTrainer,
  RunOptions,
  RunResult,
} from '../../api/worker-train-types.js';
import type { Tokenizer } from '../../api/model-types.js';
import type { OwnedArray, OwnedNumbers } from '../../api/types.js';
import { ReadActivations } from '../../arguments/activations.js';
import { checkInteger } from '../../arguments/numbers.js';
import { checkSignal } from '../../arguments/signal.js';
import {
  copiedOptions,
  describe,
  isRecord,
  listOf,
  reading,
  takeOptions,
} from '../../arguments/values.js';
import type { RunProgress, SentHandle } from '../protocol/messages.js';
import { Feeding, sourceOf } from './feeding.js';
import { type Caller, Remote } from './handles.js';
import type { Counted, Lane, Manner } from './lane.js';

/** Calls a method of the model: `fn` is what messages call it. */
type CallModel = <T>(
  fn: string,
  method: string,
  names: readonly string[],
  args: readonly unknown[],
) => Promise<T>;

/** What is known of a trainer and does not change. */
interface About {
  readonly parameterCount: number;
  readonly config: unknown;
  readonly names: readonly string[];
}

/** What the models of both kinds of trainers have. */
class RemoteOfTrainer<Config> {
  readonly config: Config;
  readonly parameterCount: number;
  readonly #call: CallModel;

  constructor({ config, parameterCount }: About, call: CallModel) {
    this.config = Object.freeze(config) as Config;
    this.parameterCount = parameterCount;
    this.#call = call;
  }

  protected get ask(): CallModel {
    return this.#call;
  }
}

class RemoteTrainedModel
  extends RemoteOfTrainer<TrainedModel['config']>
  implements AsyncTrainedModel
{
  get [Symbol.toStringTag](): string {
    return 'AsyncTrainedModel';
  }

  forward<
    O extends Passing<O, TrainedForwardOptions & CallOptions> = TrainedForwardOptions & CallOptions,
  >(ids: ArrayLike<number>, options?: O): Promise<TrainedOutputOf<O>>;
  forward(ids: ArrayLike<number>, options?: object): Promise<TrainedOutput> {
    return this.ask('TrainedModel.forward', 'forward', ['ids', 'options'], [ids, options]);
  }

  loss(ids: ArrayLike<number>, options?: { batch?: number | undefined } & CallOptions) {
    const names = ['ids', 'options'];
    return this.ask<number>('TrainedModel.loss', 'loss', names, [ids, options]);
  }

  gradients<R extends readonly GradientRead[]>(
    ids: ArrayLike<number>,
    options: GradientsOptions & { read: R } & CallOptions,
  ): Promise<LogitGradients<R[number]['site']>>;
  async gradients(ids: ArrayLike<number>, options: object): Promise<LogitGradients> {
    const [fn, names] = ['TrainedModel.gradients', ['ids', 'options']];
    const sent = await this.ask<LogitGradients>(fn, 'gradients', names, [ids, options]);
    const { value, activations, gradients } = sent;
    // A message keeps their fields, and no methods.
    const whole = (of: unknown) => new ReadActivations((of as ReadActivations).arrays);
    return { value, activations: whole(activations), gradients: whole(gradients) };
  }

  attributionPatching(options: AttributionPatchingOptions & CallOptions): Promise<Sweep> {
    const fn = 'TrainedModel.attributionPatching';
    return this.ask(fn, 'attributionPatching', ['options'], [options]);
  }
}

class RemoteSeq2Seq extends RemoteOfTrainer<Seq2Seq['config']> implements AsyncSeq2Seq {
  get [Symbol.toStringTag](): string {
    return 'AsyncSeq2Seq';
  }

  translate(
    source: ArrayLike<number>,
    options: TranslateOptions & CallOptions,
  ): Promise<Translation> {
    return this.ask('Seq2Seq.translate', 'translate', ['source', 'options'], [source, options]);
  }

  reach(source: ArrayLike<number>, options?: CallOptions): Promise<OwnedNumbers> {
    return this.ask('Seq2Seq.reach', 'reach', ['source', 'call'], [source, options]);
  }
}

const runNames = ['batches', 'steps', 'every', 'onStep', 'signal', 'transfer'] as const;

class RemoteTrainer<Model, Given> extends Remote implements AsyncTrainer<Model, Given>, Counted {
  declare readonly parameterCount: number;
  declare readonly model: Model;
  readonly #names: readonly string[];
  #steps = 0;

  constructor(
    caller: Caller,
    lane: Lane,
    { id, about, length }: SentHandle,
    model: (about: About, call: CallModel) => Model,
  ) {
    super(caller, lane, id);
    const known = about as unknown as About;
    const call: CallModel = (fn, method, names, args) =>
      this.call(fn, 'ofModel', ['method', ...names], [method, ...args]);
    this.#names = Object.freeze(known.names);
    this.#steps = length ?? 0;
    const fixed = { parameterCount: known.parameterCount, model: model(known, call) };
    for (const [name, value] of Object.entries(fixed)) {
      Object.defineProperty(this, name, { value, enumerable: true });
    }
  }

  override get kind(): string {
    return 'trainer';
  }

  get steps(): number {
    return this.#steps;
  }

  get [Symbol.toStringTag](): string {
    return 'AsyncTrainer';
  }

  /** As all that has a length: of a trainer, its steps. */
  setLength(steps: number): void {
    this.#steps = steps;
  }

  step(batch: Given, options?: CallOptions): Promise<StepResult> {
    return this.call('Trainer.step', 'step', ['batch', 'call'], [batch, options]);
  }

  accumulate(batch: Given, options?: CallOptions): Promise<EvaluationResult> {
    return this.call('Trainer.accumulate', 'accumulate', ['batch', 'call'], [batch, options]);
  }

  evaluate(batch: Given, options?: CallOptions): Promise<EvaluationResult> {
    return this.call('Trainer.evaluate', 'evaluate', ['batch', 'call'], [batch, options]);
  }

  differentiate(batch: Given, options?: CallOptions): Promise<EvaluationResult> {
    return this.call('Trainer.differentiate', 'differentiate', ['batch', 'call'], [batch, options]);
  }

  parameters(): AsyncParameters {
    const read = (method: 'value' | 'gradient') => (name: string, options?: CallOptions) =>
      this.call<OwnedArray>(`parameters.${method}`, method, ['name', 'call'], [name, options]);
    return {
      names: this.#names,
      value: read('value'),
      gradient: read('gradient'),
      set: (name, value, options) =>
        this.call('parameters.set', 'set', ['name', 'value', 'call'], [name, value, options]),
    };
  }

  async save(options: SaveOptions & CallOptions = {}): Promise<ReturnType<Uint8Array['slice']>> {
    const fn = 'Trainer.save';
    const sent: { tokenizer?: unknown } = copiedOptions(fn, options);
    const { tokenizer } = sent as { tokenizer?: Partial<Tokenizer> };
    // A tokenizer has functions, which no message takes, but for what it is made of.
    const made = reading(fn, 'tokenizer', () =>
      isRecord(tokenizer) && typeof tokenizer.toJSON === 'function'
        ? tokenizer.toJSON()
        : tokenizer,
    );
    if (made !== undefined) sent.tokenizer = made;
    return this.call(fn, 'save', ['options'], [sent]);
  }

  saveAdapters(options?: SaveAdaptersOptions & CallOptions): Promise<WrittenAdapters> {
    return this.call('Trainer.saveAdapters', 'saveAdapters', ['options'], [options]);
  }

  load(bytes: Uint8Array, options?: CallOptions): Promise<void> {
    return this.call('Trainer.load', 'load', ['bytes', 'call'], [bytes, options]);
  }

  async run(options: RunOptions<Given>): Promise<RunResult> {
    const fn = 'Trainer.run';
    const taken = takeOptions(fn, 'options', options, runNames);
    const { batches, steps = Infinity, every = 1, onStep, signal, transfer } = taken;
    if (steps !== Infinity) checkInteger(fn, 'steps', steps, 1, Number.MAX_SAFE_INTEGER);
    checkInteger(fn, 'every', every, 1, Number.MAX_SAFE_INTEGER);
    checkFunction(fn, 'onStep', onStep);
    checkSignal(fn, signal);
    if (signal?.aborted) throw signal.reason;
    const list = listOf(fn, 'batches', batches, mostBatches);
    if (list?.length === 0) throw invalid(fn, 'batches is an empty array, expected batches');
    const hole = list?.indexOf(undefined) ?? -1;
    // To the worker it would be the end of the batches.
    if (hole >= 0) throw invalid(fn, `batches[${hole}] is undefined, expected a batch`);
    // Ends the run between two steps, for whatever reason.
    const ending = new AbortController();
    const end = (why: unknown): void => ending.abort(why);
    const stop = (): void => end(signal?.reason);
    const source = list
      ? undefined
      : sourceOf(fn, batches as Exclude<typeof batches, readonly Given[]>);
    const feeding =
      source &&
      new Feeding<Given>(
        source.next,
        (batch) => this.call(fn, 'feed', ['batch', 'call'], [batch, { transfer }]),
        end,
      );
    const manner: Manner = {
      ...{ isWithheld: false, isBackground: true, onAbort: 'wait' },
      onProgress: (progress) => {
        const news = progress as RunProgress;
        if ('wants' in news) feeding?.want(news.wants);
        else {
          this.setLength(news.report.step);
          try {
            onStep?.(news.report);
          } catch (error) {
            end(error);
          }
        }
      },
    };
    const request = {
      ...{ steps, every, signal: ending.signal },
      ...(list && { batches: list, transfer }),
    };
    signal?.addEventListener('abort', stop);
    try {
      return await this.call(fn, 'run', ['options'], [request], manner);
    } finally {
      signal?.removeEventListener('abort', stop);
      feeding?.end();
      source?.end();
    }
  }

  pause(options?: CallOptions): Promise<void> {
    return this.call('Trainer.pause', 'pause', ['call'], [options]);
  }

  resume(options?: CallOptions): Promise<void> {
    return this.call('Trainer.resume', 'resume', ['call'], [options]);
  }
}

/** More than anybody sends at once. */
const mostBatches = 2 ** 24;

const invalid = (fn: string, what: string): QkvError =>
  new QkvError('invalid_argument', `${fn}: ${what}`);

function checkFunction(fn: string, name: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw invalid(fn, `${name} is ${describe(value)}, expected a function`);
}

/** What a trainer begins with, where that is no config. */
const firstNames: Readonly<Record<string, string>> = {
  ...{ 'languageModel.from': 'model', 'languageModel.fromFile': 'bytes' },
};

/** Makes a trainer in a worker. */
export async function makeTrainer(
  caller: Caller,
  method: 'languageModel' | 'languageModel.from' | 'languageModel.fromFile' | 'seq2seq',
  args: readonly unknown[],
): Promise<unknown> {
  const first = firstNames[method] ?? 'config';
  const call = { fn: method, method, names: [first, 'options'] };
  const { answer, lane } = await caller.run(call, [args[0], args[1]]);
  if (!answer.handle) throw new TypeError('no handle');
  return method === 'seq2seq'
    ? new RemoteTrainer(caller, lane, answer.handle, (...of) => new RemoteSeq2Seq(...of))
    : new RemoteTrainer(caller, lane, answer.handle, (...of) => new RemoteTrainedModel(...of));
}
