import type { AdapterFiles, WrittenAdapters } from './adapter-types.js';
import type { Filled, LanguageModelConfig } from './model-config.js';
import type { LanguageModel, SavedTokenizer, Tokenizer, TokenizerJson } from './model-types.js';
import type { Shape4 } from './option-types.js';
import type { TrainedModel } from './trained-model-types.js';
import type { OwnedArray, OwnedNumbers } from './types.js';

export type { AdapterFiles, WrittenAdapters } from './adapter-types.js';
export type { SavedTokenizer, TokenPair, Tokenizer, TokenizerJson } from './model-types.js';
export type {
  Filled,
  LanguageModelConfig,
  Llama3Scaling,
  LongRopeScaling,
  ModelRotary,
} from './model-config.js';
export type * from './trained-model-types.js';

/** What a model that translates is made of. Source and target have one vocabulary. */
export interface Seq2SeqConfig {
  /**
   * How the decoder learns of the source: through the encoder's last state alone (`'gru'`, Cho et al. 2014), through that and
   * attention over all its states (`'gru_attention'`, Bahdanau et al. 2015, at the place of Luong et al. 2015), or through
   * cross-attention alone (`'transformer'`, Vaswani et al. 2017, pre-norm, sinusoidal positions).
   */
  kind: 'gru' | 'gru_attention' | 'transformer';
  /** Tokens there are, of both sides. */
  vocabulary: number;
  /** Width of embeddings and states. */
  dModel: number;
  /** Of a transformer, a divisor of dModel. Default 1. */
  numHeads?: number | undefined;
  /** Of the encoder, and as many of the decoder, at most 65,536. Default 1. */
  numLayers?: number | undefined;
  /** Of a transformer; 0, the default, means blocks of attention alone. */
  dFeedForward?: number | undefined;
  /** Most tokens of a row, of source and target each. */
  maxLength: number;
  /** Of `'gru_attention'`: v . tanh(W s + U h), or (W s) . (U h) / sqrt(dModel). Default `'additive'`. */
  score?: 'additive' | 'dot' | undefined;
}

/**
 * A learning rate that rises linearly to `peak` and falls along half a cosine to `final`, which it keeps. Of step n, counted from 1:
 *
 *     peak n / warmup                                                                     for n <= warmup
 *     final + (peak - final) (1 + cos(pi (min(n, steps) - warmup) / (steps - warmup))) / 2    after that
 */
export interface LearningRateSchedule {
  /** The greatest rate. */
  peak: number;
  /** Steps of the rise. */
  warmup: number;
  /** The step at which it has fallen, those of the rise included; up to `warmup`, as with 0, it stays at the peak. */
  steps: number;
  /** Default 0. */
  final?: number | undefined;
}

/**
 * How a model is trained: AdamW (Loshchilov & Hutter 2019). In step n, counted from 1, with the betas b1 and b2 and g the gradient
 * times min(1, clipNorm / (norm + 1e-6)), norm that of all gradients together:
 *
 *     m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g^2
 *     w = w (1 - learningRate weightDecay) - learningRate (m / (1 - b1^n)) / (sqrt(v / (1 - b2^n)) + epsilon)
 *
 * Moments below 2^-120 in size become 0.
 */
export interface TrainerOptions {
  /**
   * Of the initial weights and of dropout, 0 to 2^53 - 1; default 0. The same seed trains the same weights, bit for bit, on
   * every engine of the `simd` builds, with any number of threads.
   */
  seed?: number | undefined;
  /** Default 1e-3. */
  learningRate?: number | LearningRateSchedule | undefined;
  /** Default [0.9, 0.999]; each in [0, 1). */
  betas?: readonly [number, number] | undefined;
  /** Outside the root, > 0. Default 1e-8. */
  epsilon?: number | undefined;
  /** Decoupled, of matrices but not of gains, biases and embeddings. Default 0.01. */
  weightDecay?: number | undefined;
  /** Most that the gradient's norm may be; 0 for no clipping. Default 1. */
  clipNorm?: number | undefined;
  /**
   * Rate at which numbers are dropped, in [0, 1): those of embeddings, positions included; in blocks, attention weights and
   * what sub-layers add; with GRUs, what the head reads. Attention of a GRU decoder drops no weights. Default 0.
   */
  dropout?: number | undefined;
  /** Deviation of the initial weights; projections into the residual stream have it / sqrt(2 numLayers). Default 0.02. */
  deviation?: number | undefined;
}

/** A map of each layer that adapters can change: of attention, or of the feed-forward part. */
export type AdaptedMap = 'wq' | 'wk' | 'wv' | 'wo' | 'w1' | 'wGate' | 'w2';

/**
 * Adapters of low rank (LoRA, Hu et al. 2021): a map x W + b becomes x W + b + (alpha / rank) (x A) B, and A [in, rank] and B [rank,
 * out] are trained alone.
 */
export interface LoraOptions {
  /** At least 1. Default 8. */
  rank?: number | undefined;
  /** Above 0. Default 16. */
  alpha?: number | undefined;
  /** Which maps of every layer, each once. Default `['wq', 'wv']`. */
  maps?: readonly AdaptedMap[] | undefined;
  /** Rate at which numbers that go into A are dropped in training, in [0, 1). Default 0. */
  dropout?: number | undefined;
  /**
   * What the adapters begin with: files of PEFT, or of {@link Trainer.saveAdapters}. Their rank, alpha and maps are those of the files, and their
   * dropout, unless it is given.
   */
  adapters?: AdapterFiles | undefined;
}

/** What the files of adapters say besides. */
export interface SaveAdaptersOptions {
  /** By which name others find the model that they are of, as `'openai-community/gpt2'`. Default that of the files that they began with. */
  base?: string | undefined;
}

/** How a model is trained further. */
export interface FineTuneOptions extends TrainerOptions {
  /** Trains adapters, and leaves the weights as they are. Default: all weights are trained, as float32 copies. */
  lora?: LoraOptions | undefined;
}

/** What makes trainers of language models. */
export interface LanguageModelTrainers {
  /**
   * A language model with initial weights, and what trains it. The arrays are named as in `qkv/train/language_model.hpp`:
   * "embedding", "positions", "layers.0.attention.wq", ... Dispose it when it is done with.
   *
   * @throws {@link QkvError} `invalid_argument`, `out_of_range`, `out_of_memory`, `disposed`
   */
  (config: LanguageModelConfig, options?: TrainerOptions): Trainer<TrainedModel>;
  /**
   * What trains a model further that `load` or `create` of `qkv/models` has made with this engine. With `lora` the weights stay in
   * the model, in its formats, and are shared: the model must not be disposed before the trainer. The arrays are then
   * "layers.0.attention.wq.loraA", "layers.0.attention.wq.loraB", ...; B begins at 0, and A with normal numbers of `deviation`. Products with
   * the weights are in float32: `forward` of a model with `'int8'` or `'int4'` rounds rows of numbers besides.
   *
   * @throws {@link QkvError} `invalid_argument`, `out_of_range`, `unsupported` for what trainers lack (see {@link LanguageModelConfig}) and
   * for maps that the model lacks, `out_of_memory`, `disposed`; for `lora.adapters` what `withAdapters` of the model throws, and `unsupported` where they
   * are not the same in every layer
   */
  from(model: LanguageModel, options?: FineTuneOptions): Trainer<TrainedModel>;
  /**
   * What trains a model further of which `save` made a file: the config is in it, and the state of the optimizer if it was requested.
   *
   * @throws {@link QkvError} `invalid_argument` for what is no such file, also for adapters, which `load` of a trainer of adapters takes,
   * and for files of `qkv/models`, which `load` of that and `from` take; `shape_mismatch`, `out_of_range`, `unsupported`,
   * `out_of_memory`, `disposed`
   */
  fromFile(bytes: Uint8Array, options?: TrainerOptions): Trainer<TrainedModel>;
}

/** Rows of tokens and what should follow each. */
export interface LanguageBatch {
  /** [batch, T] in row-major order, each in [0, vocabulary). */
  ids: ArrayLike<number>;
  /** [batch, T]; -1 does not count. */
  targets: ArrayLike<number>;
  /** Rows. */
  batch: number;
  /** Tokens of each row that are read, [batch]; default all. */
  keyLengths?: ArrayLike<number> | undefined;
  /** The type of each token, [batch, T], of a model with `tokenTypes`; default 0. */
  tokenTypes?: ArrayLike<number> | undefined;
}

/** Rows of sources, what the decoder reads, and what it should say after each token of that. */
export interface Seq2SeqBatch {
  /** What the decoder reads, [batch, T]: the target, one place to the right. */
  ids: ArrayLike<number>;
  /** [batch, T]; -1 does not count. */
  targets: ArrayLike<number>;
  /** Rows. */
  batch: number;
  /** [batch, S] */
  source: ArrayLike<number>;
  /** Tokens in use of each source, [batch]; default all. The rest is never read. */
  sourceLengths?: ArrayLike<number> | undefined;
}

/** What a trainer of either kind of model takes. */
export type Batch = LanguageBatch | Seq2SeqBatch;

/** How well a model predicts a batch. */
export interface EvaluationResult {
  /** Mean cross-entropy in nats over the targets that count, of which there is at least one. */
  loss: number;
  /** Part of the targets that are the model's first choice. */
  accuracy: number;
}

/** What a step did; loss and accuracy are of the weights before it, with dropout. */
export interface StepResult extends EvaluationResult {
  /** Before clipping. */
  gradientNorm: number;
  /** Of this step. */
  learningRate: number;
  /** Counted from 1. */
  step: number;
}

/** The arrays that are trained, by name; matrices are [in, out]. */
export interface Parameters {
  /** In the order of the file that `save` makes. */
  readonly names: readonly string[];
  /** A copy. @throws {@link QkvError} `invalid_argument` for a name of none, `out_of_memory`, `disposed` */
  value(name: string): OwnedArray;
  /** A copy of the gradient of the last step or `differentiate()`, before clipping; zeros before the first. @throws as `value` */
  gradient(name: string): OwnedArray;
  /** Copies numbers in, of the array's own shape. @throws as `value`, {@link QkvError} `shape_mismatch` for another shape */
  set(name: string, value: { data: Float32Array; shape: readonly number[] }): void;
}

/** What goes into a file besides the weights. */
export interface SaveOptions {
  /** The optimizer's moments and the number of steps, so that a run goes on bit for bit. Default false. */
  optimizer?: boolean | undefined;
  /**
   * How matrices are kept; gains, biases and moments are always float32. `'bf16'` rounds to the nearest. `'int8'` has blocks of
   * 32 numbers with one scale d, which is max |x| / 127 as a half float, rounded up below 2^-14: x becomes round(x / d) d, which is
   * within d / 2. Blocks lie along the rows of `embedding`, `tokenTypes` and `positions`, and down the columns of linear maps [in, out], the
   * axis that is summed over. The scales are an array `<name>.scale`, of [rows, ceil(columns / 32)] or [ceil(in / 32), out]. NaN and
   * numbers of at least 8.3e6 in magnitude have no scale and are refused.
   * Default `'f32'`.
   */
  format?: 'f32' | 'bf16' | 'int8' | undefined;
  /**
   * Of a trainer of adapters: the whole model with these added to its weights, W + (alpha / rank) A B, which `qkv/models` loads. Default
   * false.
   */
  merged?: boolean | undefined;
  /**
   * For texts in place of tokens, where `qkv/models` loads the file: one out of a GGUF file or of `charactersTokenizer`, which says what it is
   * made of, that itself, or tokenizer.json, parsed. Default that of the model that the trainer began with, if it says so, or of the
   * file; none with adapters alone.
   */
  tokenizer?: Tokenizer | SavedTokenizer | TokenizerJson | undefined;
  /** The template of conversations. Defaults as `tokenizer`. */
  chatTemplate?: string | undefined;
}

/** A model in training. */
export interface Trainer<Model, Given = Model extends Seq2Seq ? Seq2SeqBatch : LanguageBatch> {
  /** Steps made. */
  readonly steps: number;
  /** Numbers that are trained. */
  readonly parameterCount: number;
  /** A live view of the weights that are trained, to be read between steps without a copy. */
  readonly model: Model;
  /**
   * Forward, loss, backward, clipping and AdamW, in one crossing.
   *
   * @throws {@link QkvError} `invalid_argument` (also for a gradient whose norm is not below 2^64 after clipping),
   * `shape_mismatch`, `out_of_range` (an id or a target that is none, a length, more tokens than maxLength, no target that
   * counts), `out_of_memory`, `disposed`.
   * Weights, moments and steps are as they were then. `thread_lost`: the step was done and counts, with gradients that
   * lack what the thread had; `load()` a file of before to undo it.
   */
  step(batch: Given): StepResult;
  /**
   * Forward, loss and backward of a batch that belongs to the next step ("gradient accumulation"): `step` then takes the gradient of the
   * mean loss over the targets of all these batches and its own, as if they were one, in the memory that one of them takes. What it
   * returns is of this batch. `load` forgets what was added. @throws {@link QkvError} as `step`
   */
  accumulate(batch: Given): EvaluationResult;
  /** How well the model predicts a batch, without dropout. @throws {@link QkvError} as `step` */
  evaluate(batch: Given): EvaluationResult;
  /** The gradients of the loss alone, without a step. @throws {@link QkvError} as `step` */
  differentiate(batch: Given): EvaluationResult;
  /** The arrays by name. @throws {@link QkvError} `disposed` */
  parameters(): Parameters;
  /**
   * The weights as a safetensors file, with the config in it.
   *
   * @throws {@link QkvError} `invalid_argument` (also for `merged` without adapters or with `optimizer`, and for numbers that `'int8'` has no
   * scale for), `out_of_memory`, `disposed`
   */
  save(options?: SaveOptions): ReturnType<Uint8Array['slice']>;
  /**
   * Adapters as the two files of PEFT (Hugging Face): its names of modules, by the family of the model, and numbers in float32. Other programs
   * load them, and so do `withAdapters` of `qkv/models` and {@link LoraOptions.adapters}, every bit as it was. Of a map of GPT-2, GPT-NeoX, BLOOM or Phi-3 that is
   * several maps of ours PEFT has one A: adapters whose A are not the same are written as one of the rank of all together.
   *
   * @throws {@link QkvError} `invalid_argument` for a trainer of whole weights, `unsupported` for a model of which the names are not known,
   * `out_of_memory`, `disposed`
   */
  saveAdapters(options?: SaveAdaptersOptions): WrittenAdapters;
  /**
   * Takes the weights of such a file, and the optimizer's state if it is there. The arrays must be those of this model; where
   * the file tells a config, it must be this model's.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`; nothing is changed then
   */
  load(bytes: Uint8Array): void;
  /** Gives the memory back; the model goes with it. A second call does nothing. */
  dispose(): void;
  /** As `dispose`, for `using`. */
  [Symbol.dispose](): void;
}

/** Options of {@link Seq2Seq.translate}. */
export interface TranslateOptions {
  /** Rows of the source. Default 1. */
  batch?: number | undefined;
  /** [batch]; default all. */
  sourceLengths?: ArrayLike<number> | undefined;
  /** The token that the decoder reads first. */
  start: number;
  /** The token after which a row is over. */
  end: number;
  /** Most tokens of a row, up to that of the config. */
  maxLength: number;
}

/** What was said, and with which weights the source was read. */
export interface Translation {
  /** Of each row, without `end`. */
  ids: Int32Array[];
  /**
   * Of each layer, [batch, heads, T, S], T the tokens of the longest row and its `end`: row t has the weights with which token t was
   * said. One layer and head with `'gru_attention'`; none with `'gru'`.
   */
  weights: OwnedArray<Shape4>[];
}

/** The model of a trainer that translates; it goes with the trainer. */
export interface Seq2Seq {
  /** As given, with all defaults. */
  readonly config: Filled<Seq2SeqConfig>;
  /** Numbers that are trained. */
  readonly parameterCount: number;
  /**
   * Says the likeliest token, the first of equal ones, again and again. source is [batch, S] in row-major order.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`, `disposed`
   */
  translate(source: ArrayLike<number>, options: TranslateOptions): Translation;
  /**
   * How far a gradient reaches: the Frobenius norms of d h / d x_s, h the encoder's last state of one source and x_s the
   * embedding of token s, by distance from the end. Gradients of arrays are no longer those of a step then.
   *
   * @throws {@link QkvError} as `translate`
   */
  reach(source: ArrayLike<number>): OwnedNumbers;
}
