/// <reference lib="esnext.disposable" preserve="true" />
import type {
  AttentionOptions,
  BlockOptions,
  EngineInfo,
  Exactly,
  InitOptions,
  Integers,
  KvCache,
  LayerOptions,
  MultiHeadAttentionConfig,
  MultiHeadAttentionWeights,
  NdArray,
  NewArray,
  NoOptions,
  OwnedArray,
  OwnedNumbers,
  Qkv,
  ResultOf,
  RotaryOptions,
  Tensor,
  TransformerBlockConfig,
  TransformerBlockWeights,
} from './types.js';

// As in types.ts: a name of the web that a program may lack is left out of what may be passed.
type Web = typeof globalThis;
type WebSignal = Web extends { AbortSignal: { prototype: infer T } } ? T : never;

/** What every call may say besides its own options; it stands among them. */
export interface CallOptions {
  /**
   * Gives up: the call is rejected at once with the signal's reason. One that has not begun never begins. One
   * that has, the worker finishes: the result is dropped, but tokens that it appends to a cache and numbers
   * that it writes to `out` stay.
   */
  signal?: WebSignal | undefined;
  /**
   * Moves the arrays of this call into the worker instead of copying them: they are empty (detached) as soon
   * as the call is made. Copied all the same are views of a part of their buffer, because the rest may be in
   * use, and what cannot be moved, such as views of WebAssembly memory. Default false.
   */
  transfer?: boolean | undefined;
}

/** For what lives in a worker: in which one. */
export interface PlaceOptions extends CallOptions {
  /**
   * The worker to make it in, from 0 to one less than `info.workers`. Tensors, caches, layers and blocks of
   * one call must be in the same. Default 0.
   */
  worker?: number | undefined;
}

/** A `Worker`, a `MessagePort`, `self` of a worker, or what stands for one of them in Node. */
export interface WorkerPort {
  /** That of the web. */
  postMessage(message: unknown): void;
}

/** What {@link init} starts. What is not listed here is handed to the engine in every worker as it is. */
export interface AsyncInitOptions extends InitOptions {
  /** How many workers, each with an engine and memory of its own: 1 to 256. Default 1. */
  workers?: number | undefined;
  /**
   * A worker of yours that calls {@link serve}, or a port to one; several make a pool. Not beside `workers`.
   * `dispose()` gives back what was made in it and leaves it running. Default: workers are started.
   */
  worker?: WorkerPort | readonly WorkerPort[] | undefined;
  /**
   * Milliseconds that the workers have to start and load, above 0; Infinity waits forever. Default 60000.
   */
  timeout?: number | undefined;
  /** Gives up waiting; workers that nobody else waits for are ended. */
  signal?: WebSignal | undefined;
}

/** What is running. All workers run the same. */
export interface AsyncEngineInfo extends EngineInfo {
  /** How many workers. */
  readonly workers: number;
}

/**
 * A block of WebAssembly memory in a worker: pass it as an input or as `out`. There is no `view()`, because
 * that memory cannot be seen from here.
 */
export interface AsyncTensor {
  /** The extents it was made with. */
  readonly shape: readonly number[];
  /** The worker it lives in. */
  readonly worker: number;
  /**
   * A copy of the elements.
   * @throws {@link QkvError} `disposed`
   */
  toNdArray(options?: CallOptions): Promise<OwnedArray>;
  /**
   * Copies `data` in.
   * @throws {@link QkvError} `shape_mismatch` unless it has as many elements, `invalid_argument` for
   * what is no array of numbers, `disposed`
   */
  set(data: ArrayLike<number>, options?: CallOptions): Promise<void>;
  /** Gives the memory back, after the calls made so far. Calling it again does nothing. */
  dispose(): Promise<void>;
  /** `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Keys and values of earlier tokens, kept in the memory of a worker and extended in place. */
export interface AsyncKvCache {
  /** Tokens that were held when the latest call that used it came back. */
  readonly length: number;
  /** Tokens there is room for. */
  readonly capacity: number;
  /** The worker it lives in. */
  readonly worker: number;
  /**
   * Adds tokens at the end: keys [B, Hkv, T, dK], [B, T, Hkv * dK] or [T, Hkv * dK], likewise values.
   * @throws {@link QkvError} `out_of_range` beyond the capacity, `shape_mismatch`, `invalid_argument`,
   * `out_of_memory`, `disposed`; the cache is unchanged then.
   */
  append(keys: AsyncArrayInput, values: AsyncArrayInput, options?: CallOptions): Promise<void>;
  /**
   * A copy of the keys that are held, [B, Hkv, length, dK], bit for bit.
   * @throws {@link QkvError} `disposed`, `out_of_memory`
   */
  keys(options?: CallOptions): Promise<OwnedArray>;
  /**
   * A copy of the values that are held, [B, Hkv, length, dV], bit for bit.
   * @throws {@link QkvError} `disposed`, `out_of_memory`
   */
  values(options?: CallOptions): Promise<OwnedArray>;
  /**
   * Forgets all tokens from `length` on.
   * @throws {@link QkvError} `out_of_range` unless 0 <= `length` <= the tokens held, `invalid_argument`,
   * `disposed`
   */
  truncate(length: number, options?: CallOptions): Promise<void>;
  /** Gives the memory back, after the calls made so far. Calling it again does nothing. */
  dispose(): Promise<void>;
  /** `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Anything an operator reads: a plain array, or a tensor that already lives in a worker. */
export type AsyncArrayInput = NdArray | AsyncTensor;

/** Tensors and caches of the main thread, replaced by those of a worker. */
export type InWorker<T> = T extends Tensor ? AsyncTensor : T extends KvCache ? AsyncKvCache : T;

/** The options of a call, with tensors and caches of a worker. */
export type OptionsInWorker<T> = { [Name in keyof T]: InWorker<T[Name]> };

/** Those of `attention`, with tensors and caches of a worker, and those of every call. */
export interface AsyncAttentionOptions extends OptionsInWorker<AttentionOptions>, CallOptions {}
/** Those of a layer's `forward`, with tensors and caches of a worker, and those of every call. */
export interface AsyncLayerOptions extends OptionsInWorker<LayerOptions>, CallOptions {}
/** Those of a block's `forward`, with tensors and caches of a worker, and those of every call. */
export interface AsyncBlockOptions extends OptionsInWorker<BlockOptions>, CallOptions {}

/** A multi-head attention layer in a worker. */
export interface AsyncMultiHeadAttention {
  /** The worker it lives in. */
  readonly worker: number;
  /**
   * What `MultiHeadAttention.forward` of `qkv` does, with the same shapes, defaults and error bound; writes
   * the output to `out`.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`,
   * `disposed`; nothing is changed then, and a cache keeps its length and contents.
   */
  forward<O extends Exactly<O, AsyncLayerOptions> = NoOptions>(
    x: AsyncArrayInput,
    options?: O,
  ): Promise<ResultOf<O>>;
  /** Gives the memory back, after the calls made so far. Calling it again does nothing. */
  dispose(): Promise<void>;
  /** `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A transformer block in a worker. */
export interface AsyncTransformerBlock {
  /** The worker it lives in. */
  readonly worker: number;
  /**
   * What `TransformerBlock.forward` of `qkv` does, with the same shapes, defaults and error bound; writes
   * the output to `out`.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`,
   * `disposed`; nothing is changed then, and a cache keeps its length and contents.
   */
  forward<O extends Exactly<O, AsyncBlockOptions> = NoOptions>(
    x: AsyncArrayInput,
    options?: O,
  ): Promise<ResultOf<O>>;
  /** Gives the memory back, after the calls made so far. Calling it again does nothing. */
  dispose(): Promise<void>;
  /** `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The options of an operator, the `I`th parameter of the one of this name, and those of every call. */
export type AsyncOptions<
  Name extends
    | ('sinusoidalEncoding' | 'sinusoidalShift' | 'learnedEncoding' | 't5RelativeBias')
    | ('layerNorm' | 'rmsNorm' | 'gelu' | 'softmax'),
  I extends 1 | 2 | 3,
> = Omit<Extract<Parameters<Qkv[Name]>[I], object>, 'out'> & CallOptions;

/** Where a result goes, instead of to a new array. Nothing comes back then. */
export interface AsyncDestination {
  /** A tensor of the shape of the result. It may be x itself. */
  out: AsyncTensor;
}

/**
 * Engines in workers. Get it from {@link init}. A call on plain arrays goes to a worker that is idle, or to the
 * first that becomes so; those with a tensor, cache, layer or block go to the worker it lives in, and come
 * there in the order in which they were made, awaited or not. Once it is disposed every call but `dispose()` is rejected
 * with a {@link QkvError} `disposed`, and if its worker has ended, with `load_failed`. Methods without a
 * description of their own have the arguments, defaults, errors and results of those of {@link Qkv}.
 */
export interface AsyncQkv {
  /** What is running. */
  readonly info: AsyncEngineInfo;

  /**
   * A tensor in a worker, zero unless `data` is given.
   * @throws {@link QkvError} `invalid_argument` for a shape that is none, `out_of_range` beyond 2^30
   * elements or for a worker that there is not, `shape_mismatch` unless `data` has as many, `out_of_memory`,
   * `disposed`
   */
  tensor(
    shape: readonly number[],
    data?: ArrayLike<number>,
    options?: PlaceOptions,
  ): Promise<AsyncTensor>;

  /**
   * What {@link Qkv.attention} does, with the same shapes, defaults and error bound; writes the output to
   * `out`.
   * @throws {@link QkvError} what {@link Qkv.attention} throws, and `invalid_argument` for tensors or a cache
   * of different workers, or for what cannot be sent to a worker
   */
  attention<O extends Exactly<O, AsyncAttentionOptions> = NoOptions>(
    q: AsyncArrayInput,
    k: AsyncArrayInput,
    v: AsyncArrayInput,
    options?: O,
  ): Promise<ResultOf<O>>;

  /**
   * A cache in a worker, with room for `capacity` tokens, all of it taken now.
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
  /** What {@link Qkv.embedding} does. */
  embedding(table: AsyncArrayInput, ids: Integers, options?: CallOptions): Promise<OwnedArray>;
  /** What {@link Qkv.entropy} does. */
  entropy(weights: AsyncArrayInput, options?: CallOptions): Promise<OwnedArray>;
  /** What {@link Qkv.headStatistics} does. */
  headStatistics(
    weights: AsyncArrayInput,
    options?: CallOptions,
  ): Promise<ReturnType<Qkv['headStatistics']>>;

  /**
   * What the engines of all workers hold, added up.
   * @throws {@link QkvError} `disposed`
   */
  memory(options?: CallOptions): Promise<ReturnType<Qkv['memory']>>;

  /**
   * Ends the workers, or gives back what was made in yours; every tensor, cache, layer and block is disposed,
   * and calls that are under way are rejected with `disposed`. Calling it again does nothing.
   */
  dispose(): Promise<void>;
  /** `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
