import type {
  AttributionPatchingOptions,
  GradientRead,
  GradientsOptions,
  LogitGradients,
  Sweep,
} from './logit-types.js';
import type { Passing } from './option-types.js';
import type {
  EvaluationResult,
  LanguageBatch,
  Parameters,
  SaveAdaptersOptions,
  SaveOptions,
  Seq2Seq,
  Seq2SeqBatch,
  StepResult,
  TrainedForwardOptions,
  TrainedModel,
  TrainedOutputOf,
  TranslateOptions,
  Translation,
  WrittenAdapters,
} from './trainer-types.js';
import type { OwnedArray, OwnedNumbers } from './types.js';
import type { CallOptions, InWorkerHandle } from './worker-call-types.js';

/** The arrays that are trained, by name: what {@link Parameters} are, with promises of the copies. */
export interface AsyncParameters {
  /** In the order of the file that `save` makes. */
  readonly names: Parameters['names'];
  /** As {@link Parameters.value}. */
  value(name: string, options?: CallOptions): Promise<OwnedArray>;
  /** As {@link Parameters.gradient}. */
  gradient(name: string, options?: CallOptions): Promise<OwnedArray>;
  /** As {@link Parameters.set}. @throws {@link QkvError} also `busy` while a run goes on */
  set(
    name: string,
    value: { data: Float32Array; shape: readonly number[] },
    options?: CallOptions,
  ): Promise<void>;
}

/** What a run has reached: the last step, and the loss since the report before. */
export interface RunReport extends StepResult {
  /** The mean of the losses of the steps since the report before, in float64. */
  meanLoss: number;
}

/** What a run did. */
export interface RunResult {
  /** Steps that it made. */
  steps: number;
  /** The last of them; undefined if there was none. */
  last: StepResult | undefined;
}

/** Where the batches of a run are from. */
export type BatchSource<Given> =
  | readonly Given[]
  | Iterable<Given>
  | AsyncIterable<Given>
  | ((step: number) => Given | undefined | Promise<Given | undefined>);

/** Options of {@link AsyncTrainer.run}. */
export interface RunOptions<Given> {
  /**
   * An array is sent to the worker once, and used again from its start whenever it has ended. From an iterable or a function each batch
   * is taken on this thread, at most four before the worker needs them: until the iterable ends, or the function returns undefined, which
   * is called with the number of the step, counted as `steps` of the trainer. What an iterable throws when the run ends it is ignored.
   */
  batches: BatchSource<Given>;
  /** Steps of this run, at least 1. Default: until the batches end or the signal aborts; an array never ends. */
  steps?: number | undefined;
  /** Steps between two reports, at least 1. Default 1. */
  every?: number | undefined;
  /** Called after every so many steps, when the run is paused, and at its end. The worker does not wait for it. */
  onStep?: ((report: RunReport) => void) | undefined;
  /** Ends the run between two steps; the promise is then rejected with the signal's reason. The steps made before count. */
  signal?: CallOptions['signal'];
  /** Moves the arrays of the batches into the worker instead of copying them, which leaves them empty (detached). Default false. */
  transfer?: boolean | undefined;
}

/** A trainer in a worker: what `Trainer` is, as promises of the same results, bit for bit, and a run of many steps. */
export interface AsyncTrainer<
  Model,
  Given = Model extends AsyncSeq2Seq ? Seq2SeqBatch : LanguageBatch,
> extends InWorkerHandle {
  /** Steps made, as far as this thread knows: after the latest call that has returned, or the latest report of a run. */
  readonly steps: number;
  /** Numbers that are trained. */
  readonly parameterCount: number;
  /** The weights that are trained, read between two steps. */
  readonly model: Model;
  /** As `Trainer.step`. @throws {@link QkvError} also `busy` while a run goes on */
  step(batch: Given, options?: CallOptions): Promise<StepResult>;
  /** As `Trainer.accumulate`. @throws {@link QkvError} also `busy` while a run goes on */
  accumulate(batch: Given, options?: CallOptions): Promise<EvaluationResult>;
  /** As `Trainer.evaluate`. */
  evaluate(batch: Given, options?: CallOptions): Promise<EvaluationResult>;
  /** As `Trainer.differentiate`. */
  differentiate(batch: Given, options?: CallOptions): Promise<EvaluationResult>;
  /** As `Trainer.parameters`, of which the names are known here. */
  parameters(): AsyncParameters;
  /** As `Trainer.save`; during a run, the weights between two steps. */
  save(options?: SaveOptions & CallOptions): Promise<ReturnType<Uint8Array['slice']>>;
  /** As `Trainer.saveAdapters`. */
  saveAdapters(options?: SaveAdaptersOptions & CallOptions): Promise<WrittenAdapters>;
  /** As `Trainer.load`. @throws {@link QkvError} also `busy` while a run goes on */
  load(bytes: Uint8Array, options?: CallOptions): Promise<void>;
  /**
   * Makes steps in the worker, one after the other, while this thread does other work: the same steps as calls of `step`, bit for
   * bit. Other calls to the worker have their turns between two steps, at the latest 8 ms after the one before or when the step ends.
   *
   * @throws {@link QkvError} what `Trainer.step` throws, `busy` for a second run; the reason of the signal; what `batches` or `onStep`
   * throw. The steps before stay.
   */
  run(options: RunOptions<Given>): Promise<RunResult>;
  /** Halts the run between two steps, until `resume()`; `steps` are known then. Without a run it does nothing. */
  pause(options?: CallOptions): Promise<void>;
  /** Goes on with a run that is paused. Otherwise it does nothing. */
  resume(options?: CallOptions): Promise<void>;
}

/** The language model of a trainer in a worker; it goes with the trainer. */
export interface AsyncTrainedModel {
  /** As given, with all defaults. */
  readonly config: TrainedModel['config'];
  /** Numbers that are trained. */
  readonly parameterCount: number;
  /** As {@link TrainedModel.forward}. */
  forward<
    O extends Passing<O, TrainedForwardOptions & CallOptions> = TrainedForwardOptions & CallOptions,
  >(
    ids: ArrayLike<number>,
    options?: O,
  ): Promise<TrainedOutputOf<O>>;
  /** As {@link TrainedModel.loss}. */
  loss(
    ids: ArrayLike<number>,
    options?: { batch?: number | undefined } & CallOptions,
  ): Promise<number>;
  /** As {@link TrainedModel.gradients}. */
  gradients<R extends readonly GradientRead[]>(
    ids: ArrayLike<number>,
    options: GradientsOptions & { read: R } & CallOptions,
  ): Promise<LogitGradients<R[number]['site']>>;
  /** As {@link TrainedModel.attributionPatching}. */
  attributionPatching(options: AttributionPatchingOptions & CallOptions): Promise<Sweep>;
}

/** The model of a trainer in a worker that translates; it goes with the trainer. */
export interface AsyncSeq2Seq {
  /** As given, with all defaults. */
  readonly config: Seq2Seq['config'];
  /** Numbers that are trained. */
  readonly parameterCount: number;
  /** As {@link Seq2Seq.translate}. */
  translate(
    source: ArrayLike<number>,
    options: TranslateOptions & CallOptions,
  ): Promise<Translation>;
  /** As {@link Seq2Seq.reach}. */
  reach(source: ArrayLike<number>, options?: CallOptions): Promise<OwnedNumbers>;
}
