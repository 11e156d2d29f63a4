/// <reference lib="esnext.disposable" preserve="true" />
import type {
  Activations,
  AttributeOptions,
  Attribution,
  Guess,
  HeadScores,
  HeadScoresOptions,
  LensOptions,
  NormWeightsOptions,
  Sweep,
  SweepOptions,
} from './inspect-types.js';
import type { CallOptions, InWorkerHandle, PlaceOptions, WebSignal } from './worker-call-types.js';
import type { ChatMessage, ChatPrompt, ChatPromptOptions } from './chat-types.js';
import type { Beam, Generation, Generations } from './generation-types.js';
import type { LoadOptions, Source } from './load-types.js';
import type {
  AdapterFiles,
  BeamOptions,
  ChatOptions,
  Embeddings,
  EmbedOptions,
  EncodeOptions,
  FillMaskOptions,
  ForwardOptions,
  GenerateAllOptions,
  GenerateOptions,
  LanguageModel,
  LossOptions,
  OutputOf,
  Passing,
  ScoreOptions,
  Scores,
  SessionOf,
  SessionOptions,
  Tokenizer,
  TokenOf,
  TokenOfAll,
} from './model-types.js';
import type {
  FineTuneOptions,
  LanguageModelConfig,
  Seq2SeqConfig,
  TrainerOptions,
} from './trainer-types.js';
import type { AsyncSeq2Seq, AsyncTrainedModel, AsyncTrainer } from './worker-train-types.js';
import type {
  AttentionOptions,
  BlockOptions,
  EngineInfo,
  Exactly,
  InitOptions,
  Integers,
  KvCache,
  LayerOptions,
  LinearOptions,
  MultiHeadAttentionConfig,
  MultiHeadAttentionWeights,
  NdArray,
  NewArray,
  OwnedArray,
  OwnedNumbers,
  Qkv,
  ResultOf,
  RotaryOptions,
  Shape3,
  Shape4,
  Tensor,
  TransformerBlockConfig,
  TransformerBlockWeights,
  Unsaid,
} from './types.js';

export type { CallOptions, InWorkerHandle, PlaceOptions } from './worker-call-types.js';

/** A `Worker`, a `MessagePort` or `self` of a worker, of the web or of Node. */
export interface WorkerPort {
  /** `postMessage` of the web or of Node. */
  postMessage(message: unknown): void;
}

/** What {@link serve} takes to load models: `qkv/models`, or an object with a `load` of yours. */
export interface WorkerModels {
  /** As `load` of `qkv/models`. */
  load(engine: Qkv, source: Source, options?: LoadOptions): Promise<LanguageModel>;
}

/** Options of {@link init}. Those of {@link InitOptions} go to the engine in every worker. */
export interface AsyncInitOptions extends InitOptions {
  /** Number of workers, each with an engine and memory of its own: 1 to 256. Default 1. */
  workers?: number | undefined;
  /**
   * Your own worker, which calls {@link serve}, or a port to it; an array makes a pool. Not beside `workers`.
   * `dispose()` releases what the engine made in the worker and leaves it running. Default: `init` starts workers.
   */
  worker?: WorkerPort | readonly WorkerPort[] | undefined;
  /** Whether the workers that `init` starts can load language models. Default false: their script is smaller. */
  models?: boolean | undefined;
  /** Whether the workers that `init` starts can train, and load language models besides. Default false: their script is smaller. */
  train?: boolean | undefined;
  /**
   * Milliseconds for the workers to start and load, above 0; Infinity waits forever. Default 60000.
   */
  timeout?: number | undefined;
  /** Cancels the wait; workers without another waiting call are ended. */
  signal?: WebSignal | undefined;
}

/** Build information, the same for all workers. */
export interface AsyncEngineInfo extends EngineInfo {
  /** Number of workers. */
  readonly workers: number;
}

/**
 * A block of WebAssembly memory in a worker: pass it as an input or as `out`. It has no `view()`, because the
 * memory belongs to the worker.
 */
export interface AsyncTensor extends InWorkerHandle {
  /** The extents of the tensor. */
  readonly shape: readonly number[];
  /**
   * A copy of the elements.
   * @throws {@link QkvError} `disposed`
   */
  toNdArray(options?: CallOptions): Promise<OwnedArray>;
  /**
   * Copies `data` into the tensor.
   * @throws {@link QkvError} `shape_mismatch` unless `data` has as many elements as the tensor,
   * `invalid_argument` unless `data` is an array of numbers, `disposed`
   */
  set(data: ArrayLike<number>, options?: CallOptions): Promise<void>;
}

/** Keys and values of earlier tokens, kept in the memory of a worker and extended in place. */
export interface AsyncKvCache extends InWorkerHandle {
  /** Number of tokens after the latest call that has returned. */
  readonly length: number;
  /** Largest number of tokens. */
  readonly capacity: number;
  /**
   * Adds tokens at the end: keys [B, Hkv, T, dK], [B, T, Hkv * dK] or [T, Hkv * dK], likewise values.
   * @throws {@link QkvError} `out_of_range` beyond the capacity, `shape_mismatch`, `invalid_argument`,
   * `out_of_memory`, `disposed`; the cache is unchanged then.
   */
  append(keys: AsyncArrayInput, values: AsyncArrayInput, options?: CallOptions): Promise<void>;
  /**
   * A copy of the keys in the cache, [B, Hkv, length, dK], bit for bit as they were appended or, in another format than `'f32'`, as they
   * were rounded.
   * @throws {@link QkvError} `disposed`, `out_of_memory`
   */
  keys(options?: CallOptions): Promise<OwnedArray<Shape4>>;
  /**
   * A copy of the values in the cache, [B, Hkv, length, dV], likewise.
   * @throws {@link QkvError} `disposed`, `out_of_memory`
   */
  values(options?: CallOptions): Promise<OwnedArray<Shape4>>;
  /**
   * Removes all tokens from `length` on.
   * @throws {@link QkvError} `out_of_range` unless 0 <= `length` <= the length of the cache, `invalid_argument`,
   * `disposed`
   */
  truncate(length: number, options?: CallOptions): Promise<void>;
}

/** An input of an operator: a plain array, or a tensor in a worker. */
export type AsyncArrayInput = NdArray | AsyncTensor;

/** Tensors and caches of the main thread, replaced by those of a worker. */
export type InWorker<T> = T extends Tensor ? AsyncTensor : T extends KvCache ? AsyncKvCache : T;

/** The options of a call, with tensors and caches of a worker. */
export type OptionsInWorker<T> = { [Name in keyof T]: InWorker<T[Name]> };

/** Options of `attention`, with tensors and caches of a worker, and those of every call. */
export interface AsyncAttentionOptions extends OptionsInWorker<AttentionOptions>, CallOptions {}
/** Options of a layer's `forward`, with tensors and caches of a worker, and those of every call. */
export interface AsyncLayerOptions extends OptionsInWorker<LayerOptions>, CallOptions {}
/** Options of a block's `forward`, with tensors and caches of a worker, and those of every call. */
export interface AsyncBlockOptions extends OptionsInWorker<BlockOptions>, CallOptions {}

/** A multi-head attention layer in a worker. */
export interface AsyncMultiHeadAttention extends InWorkerHandle {
  /**
   * What `MultiHeadAttention.forward` of `qkv` does, with the same shapes, defaults and error bound.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`,
   * `disposed`; nothing is changed then, and a cache keeps its length and contents.
   */
  forward<O extends Exactly<O, AsyncLayerOptions> = Unsaid<AsyncLayerOptions>>(
    x: AsyncArrayInput,
    options?: O,
  ): Promise<ResultOf<O>>;
}

/** A linear map in a worker. */
export interface AsyncLinearLayer extends InWorkerHandle {
  /**
   * What `LinearLayer.forward` of `qkv` does; writes the result to `out`.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  forward(x: AsyncArrayInput, options: CallOptions & AsyncDestination): Promise<void>;
  /** The same, and returns the result as a new array. */
  forward(x: AsyncArrayInput, options?: CallOptions & NewArray): Promise<OwnedArray>;
}

/** A transformer block in a worker. */
export interface AsyncTransformerBlock extends InWorkerHandle {
  /**
   * What `TransformerBlock.forward` of `qkv` does, with the same shapes, defaults and error bound.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`,
   * `disposed`; nothing is changed then, and a cache keeps its length and contents.
   */
  forward<O extends Exactly<O, AsyncBlockOptions> = Unsaid<AsyncBlockOptions>>(
    x: AsyncArrayInput,
    options?: O,
  ): Promise<ResultOf<O>>;
}

/** The options of an operator, the `I`th parameter of the one of this name, and those of every call. */
export type AsyncOptions<
  Name extends
    | ('sinusoidalEncoding' | 'sinusoidalShift' | 'learnedEncoding' | 't5RelativeBias')
    | ('layerNorm' | 'rmsNorm' | 'gelu' | 'softmax' | 'linear'),
  I extends 1 | 2 | 3,
> = Omit<Extract<Parameters<Qkv[Name]>[I], object>, 'out'> & CallOptions;

/** The tensor that a result is written to. The call then returns nothing. */
export interface AsyncDestination {
  /** A tensor of the shape of the result, which may be x itself where `out` of `qkv` may. */
  out: AsyncTensor;
}

/** Options of a method of a model, with sessions of a worker, and without functions that would run in it. */
export type InWorkerOptions<T> = {
  [Name in keyof T as Name extends 'mask' ? never : Name]: Name extends 'session'
    ? AsyncSession | undefined
    : T[Name];
};

/**
 * Where a model is. A tokenizer of yours, with functions, stays in its own thread: give it to `serve` with the models, or tokens in place
 * of texts. tokenizer.json is read in the worker.
 */
export type ModelSource = Omit<Source, 'tokenizer'> & {
  /** tokenizer.json of the Hugging Face hub, parsed, or where it is. Default the one in the file. */
  tokenizer?: Exclude<Source['tokenizer'], Tokenizer>;
};

/** Options of {@link AsyncQkv.loadModel}: those of `load` that can be sent to a worker. */
export interface LoadModelOptions extends Omit<LoadOptions, 'fetch' | 'headers'> {
  /** Headers of the requests for the files of `source`, as those of `load`. A function stays in its own thread. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The number of the worker in which the model is loaded. Default 0. */
  worker?: number | undefined;
  /** Moves bytes of `weights` into the worker instead of copying them, which leaves them empty (detached). Default false. */
  transfer?: boolean | undefined;
}

/** Options of {@link AsyncLanguageModel.sweep}. */
export interface AsyncSweepOptions extends SweepOptions {
  /** As that of every call. Default false. */
  transfer?: boolean | undefined;
}

/** Options of {@link AsyncLanguageModel.embed}. */
export interface AsyncEmbedOptions extends EmbedOptions {
  /** As that of every call. Default false. */
  transfer?: boolean | undefined;
}

/** Options of {@link AsyncLanguageModel.score}. */
export interface AsyncScoreOptions extends ScoreOptions {
  /** As that of every call. Default false. */
  transfer?: boolean | undefined;
}

/** A conversation with a model in a worker. */
export interface AsyncSession extends InWorkerHandle {
  /** Tokens that are held after the latest call that has returned. */
  readonly length: number;
  /** Most tokens. */
  readonly capacity: number;
  /** Of keys and values of `capacity` tokens: the most that it takes. */
  readonly bytes: number;
  /** As `Session.activations`. */
  readonly activations?: Activations;
  /** Forgets all tokens from `length` on. @throws as `Session.truncate` */
  truncate(length: number, options?: CallOptions): Promise<void>;
  /** As `Session.remove`. */
  remove(begin: number, end: number, options?: CallOptions): Promise<void>;
  /** As `Session.fork`, in the same worker. */
  fork(options?: CallOptions): Promise<AsyncSession>;
  /** As `Session.save`. */
  save(options?: CallOptions): Promise<ReturnType<Uint8Array['slice']>>;
}

/** A language model in a worker: what {@link LanguageModel} is, as promises of the same results, bit for bit. */
export interface AsyncLanguageModel<Head extends boolean = true> extends InWorkerHandle {
  /** With all defaults. */
  readonly config: LanguageModel['config'];
  /** Numbers in all arrays. */
  readonly parameterCount: number;
  /** Bytes of all arrays. */
  readonly bytes: number;
  /** How matrices are kept. */
  readonly format: LanguageModel['format'];
  /** As {@link LanguageModel.pooling}. */
  readonly pooling?: LanguageModel['pooling'];
  /** As {@link LanguageModel.chatTemplates}. */
  readonly chatTemplates?: LanguageModel['chatTemplates'];
  /** As {@link LanguageModel.ignored}. */
  readonly ignored: LanguageModel['ignored'];
  /** As {@link LanguageModel.tokenizerProblem}. The tokenizer itself is in the worker. */
  readonly tokenizerProblem?: string | undefined;
  /** As {@link LanguageModel.forward}. */
  forward<
    O extends Passing<O, InWorkerOptions<ForwardOptions> & CallOptions> =
      InWorkerOptions<ForwardOptions> & CallOptions,
  >(
    ids: string | ArrayLike<number>,
    options?: O,
  ): Promise<OutputOf<O, Head>>;
  /** As {@link LanguageModel.session}. */
  session<O extends Passing<O, SessionOptions & CallOptions> = SessionOptions & CallOptions>(
    options?: O,
  ): Promise<SessionOf<O, AsyncSession>>;
  /**
   * As {@link LanguageModel.generate}; what that refuses at once rejects the iteration here. A text needs a tokenizer in the
   * worker.
   */
  generate<
    O extends Passing<O, InWorkerOptions<GenerateOptions>> = InWorkerOptions<GenerateOptions>,
  >(
    prompt: string | ArrayLike<number>,
    options?: O,
  ): Generation<TokenOf<O>>;
  /** As {@link LanguageModel.generateAll}; what that refuses at once rejects the iteration here. */
  generateAll(
    prompts: readonly (string | ArrayLike<number>)[],
    options?: InWorkerOptions<GenerateAllOptions>,
  ): Generations<TokenOfAll>;
  /** As {@link LanguageModel.beams}, which ends in the worker when it is aborted. */
  beams(
    prompt: string | ArrayLike<number>,
    options?: InWorkerOptions<BeamOptions> & CallOptions,
  ): Promise<Beam[]>;
  /** As {@link LanguageModel.chatPrompt}. `jinja` runs on this side, the tokenizer in the worker. */
  chatPrompt(
    messages: readonly ChatMessage[],
    options?: ChatPromptOptions & CallOptions,
  ): Promise<ChatPrompt>;
  /** As {@link LanguageModel.chat}; what `generate` refuses at once rejects the iteration here. */
  chat<O extends Passing<O, InWorkerOptions<ChatOptions>> = InWorkerOptions<ChatOptions>>(
    messages: readonly ChatMessage[],
    options?: O,
  ): Generation<TokenOf<O>>;
  /** As {@link LanguageModel.encode}. */
  encode(text: string, options?: EncodeOptions & CallOptions): Promise<Int32Array>;
  /** As {@link LanguageModel.decode}. */
  decode(ids: ArrayLike<number>, options?: CallOptions): Promise<string>;
  /** As {@link LanguageModel.loss}. */
  loss(ids: string | ArrayLike<number>, options?: LossOptions & CallOptions): Promise<number>;
  /** As {@link LanguageModel.embed}, which ends in the worker when it is aborted; other calls take their turns between its passes. */
  embed(
    texts: readonly (string | ArrayLike<number>)[],
    options?: AsyncEmbedOptions,
  ): Promise<Embeddings>;
  /** As {@link LanguageModel.score}, which ends in the worker when it is aborted. */
  score(
    texts: readonly (string | readonly [string, string] | ArrayLike<number>)[],
    options?: AsyncScoreOptions,
  ): Promise<Scores>;
  /** As {@link LanguageModel.fillMask}. */
  fillMask(
    text: string | ArrayLike<number>,
    options?: FillMaskOptions & CallOptions,
  ): Promise<readonly (readonly Guess[])[]>;
  /** As {@link LanguageModel.attribute}. */
  attribute(
    ids: string | ArrayLike<number>,
    options: AttributeOptions<AsyncSession> & CallOptions,
  ): Promise<Attribution>;
  /** As {@link LanguageModel.sweep}, which ends in the worker when it is aborted; other calls take their turns between its passes. */
  sweep(options: AsyncSweepOptions): Promise<Sweep>;
  /** As {@link LanguageModel.headScores}. */
  headScores(options?: HeadScoresOptions & CallOptions): Promise<readonly HeadScores[]>;
  /** As {@link LanguageModel.normWeights}. */
  normWeights(
    ids: string | ArrayLike<number>,
    options: NormWeightsOptions<AsyncSession> & CallOptions,
  ): Promise<OwnedArray<Shape3>>;
  /** As {@link LanguageModel.lens}. */
  lens(
    ids: string | ArrayLike<number>,
    options?: LensOptions<AsyncSession> & CallOptions,
  ): Promise<readonly (readonly Guess[])[][]>;
  /** As {@link LanguageModel.save}. */
  save(options?: CallOptions): Promise<ReturnType<Uint8Array['slice']>>;
  /** As {@link LanguageModel.withAdapters}, in the same worker. */
  withAdapters(files: AdapterFiles, options?: CallOptions): Promise<AsyncLanguageModel<Head>>;
}

/** What makes trainers of language models in workers. */
export interface AsyncLanguageModelTrainers {
  /** One that begins with random weights. @throws {@link QkvError} what `languageModel` of `qkv/train` throws, and `unsupported` */
  (
    config: LanguageModelConfig,
    options?: TrainerOptions & PlaceOptions,
  ): Promise<AsyncTrainer<AsyncTrainedModel>>;
  /** One that trains a model of `loadModel` further, in its worker. @throws {@link QkvError} what `languageModel.from` of `qkv/train` throws */
  from(
    model: AsyncLanguageModel,
    options?: FineTuneOptions & PlaceOptions,
  ): Promise<AsyncTrainer<AsyncTrainedModel>>;
  /** One that begins with a file of `save`. @throws {@link QkvError} what `languageModel.fromFile` of `qkv/train` throws */
  fromFile(
    bytes: Uint8Array,
    options?: TrainerOptions & PlaceOptions,
  ): Promise<AsyncTrainer<AsyncTrainedModel>>;
}

/**
 * Engines in workers, made by {@link init}. A call on plain arrays goes to an idle worker, or to the first worker
 * that becomes idle. A call with a tensor, cache, layer or block goes to the worker of that object, which runs its
 * calls in the order in which they are made, awaited or not. After `dispose()` every other call is rejected with a
 * {@link QkvError} `disposed`, and with `load_failed` if its worker has ended. Methods without a
 * description of their own have the arguments, defaults, errors and results of those of {@link Qkv}.
 */
export interface AsyncQkv {
  /** Build information. */
  readonly info: AsyncEngineInfo;

  /**
   * A tensor in a worker, zero unless `data` is given.
   * @throws {@link QkvError} `invalid_argument` for an invalid shape, `out_of_range` beyond 2^30
   * elements or for a worker that does not exist, `shape_mismatch` unless `data` has as many elements, `out_of_memory`,
   * `disposed`
   */
  tensor(
    shape: readonly number[],
    data?: ArrayLike<number>,
    options?: PlaceOptions,
  ): Promise<AsyncTensor>;

  /**
   * What {@link Qkv.attention} does, with the same shapes, defaults and error bound.
   * @throws {@link QkvError} what {@link Qkv.attention} throws, and `invalid_argument` for tensors or a cache
   * of different workers, or for arguments that cannot be sent to a worker
   */
  attention<O extends Exactly<O, AsyncAttentionOptions> = Unsaid<AsyncAttentionOptions>>(
    q: AsyncArrayInput,
    k: AsyncArrayInput,
    v: AsyncArrayInput,
    options?: O,
  ): Promise<ResultOf<O>>;

  /**
   * A cache in a worker for at most `capacity` tokens, whose memory grows with those that it holds.
   * @throws {@link QkvError} `invalid_argument`, `out_of_range`, `out_of_memory`, `disposed`
   */
  kvCache(options: Parameters<Qkv['kvCache']>[0] & PlaceOptions): Promise<AsyncKvCache>;

  /**
   * A layer in a worker, with a copy of these weights.
   * @throws {@link QkvError} what {@link Qkv.multiHeadAttention} throws
   */
  multiHeadAttention(
    config: MultiHeadAttentionConfig,
    weights: MultiHeadAttentionWeights,
    options?: PlaceOptions,
  ): Promise<AsyncMultiHeadAttention>;

  /**
   * A block in a worker, with a copy of these weights.
   * @throws {@link QkvError} what {@link Qkv.transformerBlock} throws
   */
  transformerBlock(
    config: TransformerBlockConfig,
    weights: TransformerBlockWeights,
    options?: PlaceOptions,
  ): Promise<AsyncTransformerBlock>;

  /** What {@link Qkv.sinusoidalEncoding} does; writes the result to `out`. */
  sinusoidalEncoding(
    length: number,
    dModel: number,
    options: AsyncOptions<'sinusoidalEncoding', 2> & AsyncDestination,
  ): Promise<void>;
  /** The same, and returns the result as a new array. */
  sinusoidalEncoding(
    length: number,
    dModel: number,
    options?: AsyncOptions<'sinusoidalEncoding', 2> & NewArray,
  ): Promise<OwnedArray>;
  /** What {@link Qkv.sinusoidalShift} does. */
  sinusoidalShift(
    k: number,
    dModel: number,
    options?: AsyncOptions<'sinusoidalShift', 2>,
  ): Promise<OwnedArray>;
  /** What {@link Qkv.rotaryEmbedding} does; writes the result to `out`. */
  rotaryEmbedding(
    x: AsyncArrayInput,
    options: RotaryOptions & CallOptions & AsyncDestination,
  ): Promise<void>;
  /** The same, and returns the result as a new array. */
  rotaryEmbedding(
    x: AsyncArrayInput,
    options?: RotaryOptions & CallOptions & NewArray,
  ): Promise<OwnedArray>;
  /** What {@link Qkv.alibiSlopes} does. */
  alibiSlopes(numHeads: number, options?: CallOptions): Promise<OwnedNumbers>;
  /** What {@link Qkv.t5RelativeBias} does. */
  t5RelativeBias(
    table: AsyncArrayInput,
    queryLength: number,
    keyLength: number,
    options?: AsyncOptions<'t5RelativeBias', 3>,
  ): Promise<OwnedArray>;
  /** What {@link Qkv.transformerXlBias} does. */
  transformerXlBias(
    q: AsyncArrayInput,
    r: AsyncArrayInput,
    v: AsyncArrayInput,
    options?: CallOptions,
  ): Promise<OwnedArray>;
  /** What {@link Qkv.learnedEncoding} does. */
  learnedEncoding(
    table: AsyncArrayInput,
    length: number,
    options?: AsyncOptions<'learnedEncoding', 2>,
  ): Promise<OwnedArray>;
  /** What {@link Qkv.layerNorm} does; writes the result to `out`. */
  layerNorm(
    x: AsyncArrayInput,
    options: AsyncOptions<'layerNorm', 1> & AsyncDestination,
  ): Promise<void>;
  /** The same, and returns the result as a new array. */
  layerNorm(
    x: AsyncArrayInput,
    options?: AsyncOptions<'layerNorm', 1> & NewArray,
  ): Promise<OwnedArray>;
  /** What {@link Qkv.rmsNorm} does; writes the result to `out`. */
  rmsNorm(
    x: AsyncArrayInput,
    options: AsyncOptions<'rmsNorm', 1> & AsyncDestination,
  ): Promise<void>;
  /** The same, and returns the result as a new array. */
  rmsNorm(x: AsyncArrayInput, options?: AsyncOptions<'rmsNorm', 1> & NewArray): Promise<OwnedArray>;
  /** What {@link Qkv.gelu} does; writes the result to `out`. */
  gelu(x: AsyncArrayInput, options: AsyncOptions<'gelu', 1> & AsyncDestination): Promise<void>;
  /** The same, and returns the result as a new array. */
  gelu(x: AsyncArrayInput, options?: AsyncOptions<'gelu', 1> & NewArray): Promise<OwnedArray>;
  /** What {@link Qkv.softmax} does; writes the result to `out`. */
  softmax(
    x: AsyncArrayInput,
    options: AsyncOptions<'softmax', 1> & AsyncDestination,
  ): Promise<void>;
  /** The same, and returns the result as a new array. */
  softmax(x: AsyncArrayInput, options?: AsyncOptions<'softmax', 1> & NewArray): Promise<OwnedArray>;
  /** What {@link Qkv.linear} does; writes the result to `out`. */
  linear(
    x: AsyncArrayInput,
    w: AsyncArrayInput,
    options: AsyncOptions<'linear', 2> & AsyncDestination,
  ): Promise<void>;
  /** The same, and returns the result as a new array. */
  linear(
    x: AsyncArrayInput,
    w: AsyncArrayInput,
    options?: AsyncOptions<'linear', 2> & NewArray,
  ): Promise<OwnedArray>;
  /**
   * A linear map in a worker, with a packed copy of these weights.
   * @throws {@link QkvError} what {@link Qkv.linearLayer} throws
   */
  linearLayer(
    w: AsyncArrayInput,
    options?: LinearOptions & PlaceOptions,
  ): Promise<AsyncLinearLayer>;
  /** What {@link Qkv.embedding} does. */
  embedding(table: AsyncArrayInput, ids: Integers, options?: CallOptions): Promise<OwnedArray>;
  /** What {@link Qkv.entropy} does. */
  entropy(weights: AsyncArrayInput, options?: CallOptions): Promise<OwnedArray>;
  /** What {@link Qkv.headStatistics} does. */
  headStatistics(
    weights: AsyncArrayInput,
    options?: CallOptions,
  ): Promise<ReturnType<Qkv['headStatistics']>>;
  /** What {@link Qkv.attentionRollout} does. */
  attentionRollout(weights: AsyncArrayInput, options?: CallOptions): Promise<OwnedArray>;

  /**
   * Loads a language model in a worker, as `load` of `qkv/models` does on this thread. The workers must have models:
   * `init({ models: true })`, or `serve(self, init, models)` in a worker of yours.
   *
   * @throws {@link QkvError} what `load` throws, and `unsupported` for workers without models
   */
  loadModel<Head extends boolean = true>(
    source: ModelSource | string,
    options?: LoadModelOptions,
  ): Promise<AsyncLanguageModel<Head>>;

  /**
   * A language model in training, in a worker, as `languageModel` of `qkv/train` makes one on this thread. The workers must be able to
   * train: `init({ train: true })`, or `serve(self, init)` with `init` of `qkv/train` in a worker of yours.
   *
   * @throws {@link QkvError} what that throws, and `unsupported` for workers that cannot train
   */
  readonly languageModel: AsyncLanguageModelTrainers;
  /**
   * A model in training that reads one sequence and writes another, in a worker, as `seq2seq` of `qkv/train` makes one on this thread.
   * @throws {@link QkvError} as `languageModel`
   */
  seq2seq(
    config: Seq2SeqConfig,
    options?: TrainerOptions & PlaceOptions,
  ): Promise<AsyncTrainer<AsyncSeq2Seq>>;

  /**
   * Memory statistics, added up over all workers.
   * @throws {@link QkvError} `disposed`
   */
  memory(options?: CallOptions): Promise<ReturnType<Qkv['memory']>>;

  /**
   * Disposes the tensors, caches, layers and blocks that this engine made, and rejects its running calls with `disposed`. The last
   * engine of those that share the workers ends them; your own workers go on without. Calling it again does nothing.
   */
  dispose(): Promise<void>;
  /** `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
