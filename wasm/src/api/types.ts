/// <reference lib="esnext.disposable" preserve="true" />

/** Numbers in row-major order: `data[((b * H + h) * T + t) * d + i]` for shape `[B, H, T, d]`. */
export interface NdArray {
  /** The elements. Their number is the product of the extents. */
  readonly data: Float32Array;
  /** The extents, whole numbers >= 0. The last axis varies fastest. */
  readonly shape: readonly number[];
}

/** Numbers in a buffer that no thread shares, which `Blob`, `BufferSource` and WebGPU take. */
export type OwnedNumbers = ReturnType<Float32Array['slice']>;

/** An array that a function of this package has made. JavaScript owns it: there is nothing to free. */
export interface OwnedArray extends NdArray {
  /** The elements, in a buffer of their own. */
  readonly data: OwnedNumbers;
}

/** Whole numbers: an `Int32Array`, or an array of numbers from -2^31 to 2^31 - 1. */
export type Integers = Int32Array | readonly number[];

/** Numbers in rows, rows in matrices, and so on: what `array()` takes and `toNested()` returns. */
export type Nested = number | readonly Nested[];

/** A boolean mask: 1 where a query may attend, 0 where it may not. */
export interface NdMask {
  /** The elements; any number but 0 counts as 1. */
  readonly data: Uint8Array;
  /** The extents, 1 to 4 of them. */
  readonly shape: readonly number[];
}

/**
 * A block of WebAssembly memory, for loops without copies: pass a tensor as an input or as `out`, and
 * read the elements in place.
 */
export interface Tensor {
  /** The extents of the tensor. */
  readonly shape: readonly number[];
  /**
   * The elements in place. A fresh view on every call, valid until the next call that may grow memory
   * (any operator): never store it.
   * @throws {@link QkvError} `disposed`
   */
  view(): Float32Array;
  /**
   * An owned copy.
   * @throws {@link QkvError} `disposed`
   */
  toNdArray(): OwnedArray;
  /**
   * Copies `data` into the tensor.
   * @throws {@link QkvError} `shape_mismatch` unless `data` has as many elements as the tensor,
   * `invalid_argument` unless `data` is an array of numbers, `disposed`
   */
  set(data: ArrayLike<number>): void;
  /** Releases the memory. Calling it again does nothing. */
  dispose(): void;
  /** `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}

/** Anything an operator reads: a plain array, or a tensor that already lives in WebAssembly memory. */
export type ArrayInput = NdArray | Tensor;

/**
 * `relaxed` may fuse a multiplication and an addition; `simd` gives the same bits on every engine. With
 * `-threads` the work of a call may be shared by several threads, which changes no bit.
 */
export type Variant = 'relaxed' | 'simd' | 'relaxed-threads' | 'simd-threads';

// Types of the web that not every program has: without the DOM library and the types of Node, the options leave
// these types out, and the declarations still compile.
type Web = typeof globalThis;
type WebUrl = Web extends { URL: { prototype: infer T } } ? T : never;
type WebResponse = Web extends { Response: { prototype: infer T } } ? T : never;
type WebModule = Web extends { WebAssembly: { Module: { prototype: infer T } } } ? T : never;
type WebBytes = Web extends { WebAssembly: { validate(bytes: infer T): boolean } }
  ? T
  : ArrayBufferView | ArrayBuffer;

/** Options of {@link init}. */
export interface InitOptions {
  /** Default `'auto'`: the fastest build this engine can run, with threads if `threads` asks for them. */
  variant?: 'auto' | Variant | undefined;
  /**
   * How many threads work on a call, the caller's included: 1 to 64, or `'auto'` for as many as there are
   * cores. Default 1. More than one thread needs shared memory: in a browser only pages that are isolated
   * from other origins have it (the headers `Cross-Origin-Opener-Policy: same-origin` and
   * `Cross-Origin-Embedder-Policy: require-corp`), in Node every program. Without shared memory or
   * workers the engine runs on one thread; `info.threads` is the number of threads.
   */
  threads?: number | 'auto' | undefined;
  /** Selects a build with the same bits on every engine, never a relaxed one. Default false. */
  deterministic?: boolean | undefined;
  /**
   * The .wasm file, if it is not beside this module: an address, bytes, a compiled module or a response.
   * With `variant: 'auto'` the file determines the variant.
   */
  wasm?: string | WebUrl | WebBytes | WebModule | WebResponse | Promise<WebResponse> | undefined;
  /**
   * Whether calls with the same options use one WebAssembly instance, its memory and its threads. Addresses are
   * the same when their text is; bytes, modules and responses when they are one object. Default true.
   */
  shared?: boolean | undefined;
}

/** Build information. */
export interface EngineInfo {
  /** Version of the package and of the .wasm; `init` checks that they are the same. */
  readonly version: string;
  /** The build that was loaded. */
  readonly variant: Variant;
  /** Threads that work on a call now, the caller's included: a worker that has ended is not counted. */
  readonly threads: number;
  /** The instruction set that the core reports: `'wasm-simd128'` or `'wasm-relaxed-simd'`. */
  readonly isa: string;
}

/** Options of `attention`. The defaults are plain attention over all keys. */
export interface AttentionOptions {
  /** Query heads. Needed for ranks 2 and 3; an array of rank 4 has them in its shape. */
  numHeads?: number | undefined;
  /** Key/value heads, a divisor of `numHeads`; query head h reads h / (numHeads / numKvHeads). Default `numHeads`. */
  numKvHeads?: number | undefined;
  /**
   * Factor on q.k; finite. Default 1/sqrt(dK), which keeps the variance of the scores at 1 for
   * unit-variance q and k.
   */
  scale?: number | undefined;
  /** c > 0: scores become c tanh(score / c), before any bias; finite. Default 0: no softcap. */
  softcap?: number | undefined;
  /**
   * tau > 0, a normal float. Scores are divided by tau before the softmax. For tau -> 0 the weights tend to
   * the argmax, for tau -> infinity to the mean over the allowed keys. Default 1.
   */
  temperature?: number | undefined;
  /** Key j may be read by query i only if j <= i + causalOffset. Default false. */
  causal?: boolean | undefined;
  /**
   * Position of query 0 minus position of key 0, for `causal`, `window` and ALiBi. One number, or one per
   * batch row. Default: the cache's length before the call, or 0 when Tq == Tk. In other cases these three
   * options require an offset (0 aligns the first query with the first key, Tk - Tq the last with the last).
   */
  causalOffset?: number | Integers | undefined;
  /**
   * With p = i + causalOffset, query i may read keys p - left <= j <= p + right, both ends included;
   * -1 = unbounded. Default `[-1, -1]`.
   */
  window?: readonly [left: number, right: number] | undefined;
  /**
   * Boolean (1 = may attend), or numbers to add to the scores (-Infinity excludes). Rank 1 to 4, broadcast
   * right-aligned to [B, Hq, Tq, Tk]. Default none.
   */
  mask?: NdMask | ArrayInput | undefined;
  /**
   * Numbers to add to the scores (-Infinity excludes), broadcast like `mask` and added to it. Or ALiBi:
   * -slope |i + causalOffset - j|. Default none.
   */
  bias?: ArrayInput | Alibi | undefined;
  /** Keys in use, one number 0 to Tk per batch row; later keys are never read. Default all. */
  keyLengths?: Integers | undefined;
  /**
   * One sink logit per query head, not divided by the temperature. A sink counts in the maximum and the
   * denominator of every row and has no value, so weights sum to less than 1. Default none.
   */
  sinks?: Float32Array | undefined;
  /**
   * Drops each weight with probability `rate` and divides the others by 1 - rate, as in training. The
   * dropped weights depend on the seed, the batch row, the head, the query and the key alone. Default none.
   */
  dropout?: Dropout | undefined;
  /** Appends k and v, as new tokens, to this cache; the queries then read all tokens of the cache. */
  cache?: KvCache | undefined;
  /** Returns the weights that multiply v. Default false. */
  returnWeights?: boolean | undefined;
  /**
   * Returns scores before the temperature: scale * q.k (`'raw'`), after the softcap (`'capped'`), or with
   * masks and biases added and -Infinity for excluded keys (`'biased'`). Default none.
   */
  returnLogits?: 'raw' | 'capped' | 'biased' | undefined;
  /** Returns the log-sum-exp of every row. Default false. */
  returnLse?: boolean | undefined;
  /** Returns the entropy of every row. Default false. */
  returnEntropy?: boolean | undefined;
  /** Query rows [start, end) for which weights and logits are returned. Default all. */
  rows?: readonly [start: number, end: number] | undefined;
  /** Writes the output to this tensor, which must not be an input; the result then has no `output`. */
  out?: Tensor | undefined;
}

/** Which weights are dropped. */
export interface Dropout {
  /** The probability of each weight, in [0, 1). */
  readonly rate: number;
  /** A whole number, 0 to 2^53 - 1. */
  readonly seed: number;
}

/** Linear biases (Press et al. 2022), with one slope per query head. */
export interface Alibi {
  /** Always `'alibi'`. */
  readonly kind: 'alibi';
  /** [Hq]. Default `alibiSlopes(Hq)`. */
  readonly slopes?: Float32Array | undefined;
}

/** Arrays that options ask for besides the output. Error bounds: {@link Qkv.attention}. */
export interface AttentionExtras {
  /** `[B, Hq, rows, Tk]`: the weights that multiply v. Without sinks and dropout each row sums to 1. */
  readonly weights?: OwnedArray;
  /** `[B, Hq, rows, Tk]`: scores at the stage asked for; -Infinity past the keys in use. */
  readonly logits?: OwnedArray;
  /**
   * `[B, Hq, Tq]`: ln of the sum of exp(score / temperature) over the allowed keys, and of the sink;
   * -Infinity for a row without keys.
   */
  readonly lse?: OwnedArray;
  /**
   * `[B, Hq, Tq]`: -sum_j p_j ln p_j before dropout, in nats, between 0 (one key) and ln Tk (all alike)
   * without a sink; 0 for a row without keys.
   */
  readonly entropy?: OwnedArray;
}

/** Keys and values of earlier tokens, kept in WebAssembly memory and extended in place. */
export interface KvCache {
  /** Number of tokens in the cache. */
  readonly length: number;
  /** Largest number of tokens. */
  readonly capacity: number;
  /**
   * Adds tokens at the end: keys [B, Hkv, T, dK], [B, T, Hkv * dK] or [T, Hkv * dK], likewise values.
   * @throws {@link QkvError} `out_of_range` beyond the capacity, `shape_mismatch`, `invalid_argument`,
   * `out_of_memory`, `disposed`; the cache is unchanged then.
   */
  append(keys: ArrayInput, values: ArrayInput): void;
  /**
   * A copy of the keys in the cache, [B, Hkv, length, dK], bit for bit.
   * @throws {@link QkvError} `disposed`, `out_of_memory`
   */
  keys(): OwnedArray;
  /**
   * A copy of the values in the cache, [B, Hkv, length, dV], bit for bit.
   * @throws {@link QkvError} `disposed`, `out_of_memory`
   */
  values(): OwnedArray;
  /**
   * Removes all tokens from `length` on.
   * @throws {@link QkvError} `out_of_range` unless 0 <= `length` <= the length of the cache, `invalid_argument`,
   * `disposed`
   */
  truncate(length: number): void;
  /** Releases the memory. Calling it again does nothing. */
  dispose(): void;
  /** `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}

/** Rotary options. By default every dimension is rotated, GPT-NeoX/Llama pairing, from position 0. */
export interface RotaryOptions {
  /** Position of the first token. Default 0. In a layer: added to the length of the cache. */
  offset?: number | undefined;
  /** One position per token instead: [T], or [B, T] in row-major order (in a layer [T]). Not beside `offset`. */
  positions?: Integers | undefined;
  /** Wavelengths run from 2 pi to 2 pi base. Finite, >= 1; > 1 with YaRN. Default 10000. */
  base?: number | undefined;
  /** r, even: the first r of the d dimensions are rotated, the others are copied. Default d. */
  rotaryDim?: number | undefined;
  /** Pairs (2i, 2i+1) as RoFormer; otherwise (i, i + rotaryDim/2) as GPT-NeoX and Llama. Default false. */
  interleaved?: boolean | undefined;
  /**
   * Stretches positions beyond the trained length. With w_i = base^(-2i/r):
   *
   * - `'linear'`: w_i / factor (Chen et al. 2023);
   * - `'ntk'`: w_i factor^(-2i/(r - 2)), a greater base;
   * - `'yarn'`: (1 - g_i) w_i + g_i w_i / factor (Peng et al. 2023, section 3.2), with cos and sin
   *   multiplied by the attention factor (section 3.4). The ramp g_i is 0 for pairs that turn at least
   *   betaFast times within originalLength and 1 for those that turn at most betaSlow times.
   *
   * Default none.
   */
  scaling?:
    | {
        /** The method. */
        type: 'linear' | 'ntk';
        /** By how much the context is stretched. Finite, >= 1. */
        factor: number;
      }
    | {
        /** The method. */
        type: 'yarn';
        /** By how much the context is stretched. Finite, >= 1. */
        factor: number;
        /** The length the model was trained on, >= 1. */
        originalLength: number;
        /** Turns from which a pair stays as it is. Finite, > betaSlow. Default 32. */
        betaFast?: number | undefined;
        /** Turns up to which a pair is stretched in full. Finite, > 0. Default 1. */
        betaSlow?: number | undefined;
        /** Factor on cos and sin. Finite, > 0. Default 0.1 ln(factor) + 1. */
        attentionFactor?: number | undefined;
      }
    | undefined;
  /**
   * Given cosines instead of base and scaling: [P, rotaryDim/2], read at row `position`, or one row per
   * token [B, T, rotaryDim/2], and then without positions. Together with `sin`.
   */
  cos?: NdArray | undefined;
  /** The sines, of the same shape. */
  sin?: NdArray | undefined;
  /** Heads side by side in ranks 2 and 3 of `rotaryEmbedding`; a layer has its own. */
  numHeads?: number | undefined;
}

/** The output, and the arrays that options ask for besides it. */
export interface AttentionResult extends AttentionExtras {
  /** Same rank as the query: [B, Hq, Tq, dV], [B, Tq, Hq * dV] or [Tq, Hq * dV]. Layers: the shape of x. */
  readonly output: OwnedArray;
}

/** What the options say under a name; undefined if they lack it. */
type Said<Options, Name extends PropertyKey> = Name extends keyof Options
  ? Options[Name]
  : undefined;

/** No key but those of `Known`. */
type NoOthers<Given, Known> = { readonly [Name in Exclude<keyof Given, keyof Known>]: never };

/** No key that ALiBi and dropout lack, where one of them is given. */
type NoOthersIn<Given> = Given extends Alibi | Dropout ? NoOthers<Given, Alibi & Dropout> : unknown;

/**
 * `Known`, as the constraint of a type parameter `Options` that has no key which `Known` lacks: a type parameter
 * alone would take any.
 */
export type Exactly<Options, Known> = Known &
  NoOthers<Options, Known> & {
    /** Of {@link AttentionOptions}; ALiBi without unknown keys. */
    readonly bias?: NoOthersIn<Said<Options, 'bias'>>;
    /** Of {@link AttentionOptions}, without unknown keys. */
    readonly dropout?: NoOthersIn<Said<Options, 'dropout'>>;
  };

/** The options that ask for an array besides the output, with the value that is sure to get it. */
interface Asking {
  weights: ['returnWeights', true];
  logits: ['returnLogits', string];
  lse: ['returnLse', true];
  entropy: ['returnEntropy', true];
}

/** The arrays that a call with these options is sure to return besides the output. */
type Asked<Options> = {
  [Name in keyof Asking]: [Said<Options, Asking[Name][0]>] extends [Asking[Name][1]] ? Name : never;
}[keyof Asking];

/**
 * What `attention` or `forward` returns for options of this type. An array that was asked for is there, and
 * with `out` there is no `output`. Where the type does not tell, because it says `boolean` or that `out` may be
 * given, the array may be missing.
 */
export type ResultOf<Options> = Options extends unknown
  ? ([Said<Options, 'out'>] extends [undefined]
      ? AttentionResult
      : undefined extends Said<Options, 'out'>
        ? Partial<AttentionResult>
        : AttentionExtras) &
      Required<Pick<AttentionExtras, Asked<Options>>>
  : never;

/** The sizes of a multi-head attention layer. */
export interface MultiHeadAttentionConfig {
  /** Width of a token, at least 1. */
  dModel: number;
  /** Query heads Hq, at least 1. */
  numHeads: number;
  /** Key/value heads, a divisor of `numHeads`. Default `numHeads`. */
  numKvHeads?: number | undefined;
  /** Width of a head of q and k. Default dModel / numHeads, which must then be whole. */
  dK?: number | undefined;
  /** Width of a head of v. Default dK. */
  dV?: number | undefined;
  /** Width of the context in cross-attention. Default dModel. */
  dContext?: number | undefined;
  /**
   * Rotates q and k after projection, each token by its position: `offset`, plus the length of the cache
   * if there is one, plus its place in the call. Default none.
   */
  rotary?: RotaryOptions | undefined;
  /** How matrices are stored. Default `'in_out'` (y = x W); PyTorch's Linear is `'out_in'`. */
  weightLayout?: 'in_out' | 'out_in' | undefined;
  /**
   * Normalises each head of q and of k, over its dK elements, after the projection and its bias and before the
   * rotation (Henry et al. 2020; Qwen3 with `'rms'`). The keys of a cache are normalised. In a block it holds for both
   * attentions. Default none.
   */
  qkNorm?: 'layer' | 'rms' | undefined;
  /** Inside the root of that norm. Finite, >= 0. Default 1e-5. */
  qkEpsilon?: number | undefined;
}

/** Shapes for `'in_out'`; `'out_in'` swaps the two extents. Either wq, wk and wv, or wqkv. Biases are optional. */
export interface MultiHeadAttentionWeights {
  /** [dModel, Hq * dK] */
  wq?: NdArray | undefined;
  /** [dContext, Hkv * dK] */
  wk?: NdArray | undefined;
  /** [dContext, Hkv * dV] */
  wv?: NdArray | undefined;
  /** Fused, self-attention only: [dModel, Hq * dK + Hkv * dK + Hkv * dV] */
  wqkv?: NdArray | undefined;
  /** [Hq * dV, dModel] */
  wo: NdArray;
  /** [Hq * dK] */
  bq?: Float32Array | undefined;
  /** [Hkv * dK] */
  bk?: Float32Array | undefined;
  /** [Hkv * dV] */
  bv?: Float32Array | undefined;
  /** bq, bk and bv side by side; with wqkv only. */
  bqkv?: Float32Array | undefined;
  /** [dModel] */
  bo?: Float32Array | undefined;
  /** [dK], the scale of every head of q; with qkNorm, and then required. */
  qGamma?: Float32Array | undefined;
  /** [dK], the scale of every head of k; with qkNorm, and then required. */
  kGamma?: Float32Array | undefined;
  /** [dK], added to every head of q; with `qkNorm: 'layer'` only. */
  qBeta?: Float32Array | undefined;
  /** [dK], added to every head of k; with `qkNorm: 'layer'` only. */
  kBeta?: Float32Array | undefined;
}

/** Options of a layer's `forward`: those of `attention` without heads, and a context for cross-attention. */
export type LayerOptions = Omit<AttentionOptions, 'numHeads' | 'numKvHeads'> & {
  /** [B, Tk, dContext] or [Tk, dContext]. Default: x itself. */
  context?: ArrayInput | undefined;
};

/**
 * A multi-head attention layer (Vaswani et al. 2017, section 3.2.2). Holds packed weights in WebAssembly
 * memory until disposed.
 */
export interface MultiHeadAttention {
  /**
   * With c the context or, without one, x:
   *
   *     Q = x Wq + bq,  K = c Wk + bk,  V = c Wv + bv       split into heads
   *     Q, K = rotary(Q), rotary(K)                         if configured
   *     y = attention(Q, K, V) Wo + bo                      heads side by side
   *
   * x is [B, T, dModel] or [T, dModel], and so is y, which is returned as `output` or written to `out`. With a
   * cache the keys and values of these tokens are appended to it: decoding one token at a time gives the rows
   * of one causal pass over all of them.
   *
   * Error bound: that of a product with inner size n, u (n + 2) (sum |a| |b| + |bias|) per element, through
   * the three projections, {@link Qkv.attention} on the projected arrays, and the output projection;
   * u = 2^-24.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`,
   * `disposed`; nothing is changed then, and a cache keeps its length and contents.
   */
  forward<O extends Exactly<O, LayerOptions> = NewArray>(x: ArrayInput, options?: O): ResultOf<O>;
  /** Releases the memory. Calling it again does nothing. */
  dispose(): void;
  /** `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * The sizes of a block. Those of its attention are for both attentions, except that `rotary` is for the
 * self-attention alone and `dContext` for the cross-attention alone.
 */
export interface TransformerBlockConfig extends MultiHeadAttentionConfig {
  /** Width inside the feed-forward layer, at least 1. */
  dFeedForward: number;
  /** `'pre'`: x + sub(norm(x)); `'post'`: norm(x + sub(x)). Default `'pre'`. */
  norm?: 'pre' | 'post' | undefined;
  /** {@link Qkv.layerNorm} or {@link Qkv.rmsNorm}, over dModel. Default `'layer'`. */
  normType?: 'layer' | 'rms' | undefined;
  /** Activation of the feed-forward layer. Default `'gelu'` (erf); `'swiglu'` gates: silu(x wGate + bGate) * (x w1 + b1). */
  activation?: 'relu' | 'gelu' | 'gelu_tanh' | 'silu' | 'swiglu' | undefined;
  /** Adds a cross-attention sub-layer: the decoder of an encoder-decoder. Default false. */
  crossAttention?: boolean | undefined;
  /** Added to the variance in every norm. Finite, >= 0. Default 1e-5. */
  epsilon?: number | undefined;
}

/** Weights of one norm. */
export interface NormWeights {
  /** [dModel] */
  gamma: Float32Array;
  /** [dModel]; not with rms. */
  beta?: Float32Array | undefined;
}

/** The weights of a block; `weightLayout` applies to w1, w2 and wGate too. */
export interface TransformerBlockWeights {
  /** Weights of the self-attention. */
  attention: MultiHeadAttentionWeights;
  /** Weights of the cross-attention; with crossAttention only. */
  cross?: MultiHeadAttentionWeights | undefined;
  /** Norm of the self-attention. */
  norm1: NormWeights;
  /** Norm of the cross-attention; with crossAttention only. */
  normCross?: NormWeights | undefined;
  /** Norm of the feed-forward layer. */
  norm2: NormWeights;
  /** [dModel, dFeedForward] */
  w1: NdArray;
  /** [dFeedForward] */
  b1?: Float32Array | undefined;
  /** [dFeedForward, dModel] */
  w2: NdArray;
  /** [dModel] */
  b2?: Float32Array | undefined;
  /** [dModel, dFeedForward], with swiglu */
  wGate?: NdArray | undefined;
  /** [dFeedForward], with swiglu */
  bGate?: Float32Array | undefined;
}

/** Options of a block's `forward`; all but `context` and `contextKeyLengths` are for the self-attention. */
export type BlockOptions = LayerOptions & {
  /**
   * Tokens of the context in use, one number 0 to Tk per batch row; later tokens are never read. With
   * crossAttention only. Default all.
   */
  contextKeyLengths?: Integers | undefined;
};

/** A transformer block. Holds packed weights in WebAssembly memory until disposed. */
export interface TransformerBlock {
  /**
   * The context is the output of the encoder:
   *
   *     pre:   h = x + attention(norm1(x))              post:  h = norm1(x + attention(x))
   *            h = h + cross(normCross(h), context)            h = normCross(h + cross(h, context))
   *            y = h + feedForward(norm2(h))                   y = norm2(h + feedForward(h))
   *     feedForward(h) = f(h w1 + b1) w2 + b2                  f the activation
   *
   * The middle line applies with crossAttention only. x and y are [B, T, dModel] or [T, dModel]; y is returned
   * as `output` or written to `out`. `causal`, `cache` and the other options are for the self-attention, and so
   * are the returned arrays besides y. A stack of pre-norm blocks usually ends with one more norm.
   *
   * Each part keeps its own error bound for the input it is given. How these errors add up depends on the
   * weights; with up to 129 features and weights that keep the variance of what they multiply,
   * |y - exact| <= 4e-6 max(1, |exact|).
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`,
   * `disposed`; nothing is changed then, and a cache keeps its length and contents.
   */
  forward<O extends Exactly<O, BlockOptions> = NewArray>(x: ArrayInput, options?: O): ResultOf<O>;
  /** Releases the memory. Calling it again does nothing. */
  dispose(): void;
  /** `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}

/** Options of {@link Qkv.linear} and {@link Qkv.linearLayer}. */
export interface LinearOptions {
  /** [out], added to every row. Default none. */
  bias?: Float32Array | undefined;
  /** How w is stored: `'in_out'` is [in, out]; `'out_in'` is [out, in], as PyTorch stores it. Default `'in_out'`. */
  layout?: 'in_out' | 'out_in' | undefined;
}

/** A linear map. Holds its packed weights in WebAssembly memory until disposed. */
export interface LinearLayer {
  /**
   * y = x W + b, what {@link Qkv.linear} computes on the same weights, bit for bit: x is [..., in], y is
   * [..., out].
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  forward(x: ArrayInput, options: Destination): void;
  /** The same, and returns the result as a new array. */
  forward(x: ArrayInput, options?: NewArray): OwnedArray;
  /** Releases the memory. Calling it again does nothing. */
  dispose(): void;
  /** `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}

/** Options of {@link Qkv.sinusoidalEncoding}. */
export interface SinusoidalOptions {
  /** The first position. Default 0. */
  offset?: number | undefined;
  /** Wavelengths run from 2 pi to 2 pi base. Finite, >= 1. Default 10000. */
  base?: number | undefined;
  /** `'interleaved'`: sin, cos, sin, cos, ...; `'concatenated'`: all sines, then all cosines. Default `'interleaved'`. */
  layout?: 'interleaved' | 'concatenated' | undefined;
}

/** Options of {@link Qkv.rmsNorm}. */
export interface RmsNormOptions {
  /** Scale per element, length n. Default 1. */
  gamma?: Float32Array | undefined;
  /** First normalised axis; a negative axis counts from the end. Default -1. */
  axis?: number | undefined;
  /** Added to the variance. Finite, >= 0. Default 1e-5. */
  epsilon?: number | undefined;
}

/** Options of {@link Qkv.layerNorm}. */
export interface LayerNormOptions extends RmsNormOptions {
  /** Shift per element, length n. Default 0. */
  beta?: Float32Array | undefined;
}

/** Options of {@link Qkv.gelu}. */
export interface GeluOptions {
  /** `'tanh'`: the tanh approximation; `'none'`: exact erf. Default `'none'`. */
  approximate?: 'none' | 'tanh' | undefined;
}

/** Options of {@link Qkv.effectiveRank}. */
export interface EffectiveRankOptions {
  /** Whether `right` is given as its transpose, [..., n, k], as W_K of W_Q W_K^T. Default false. */
  transposed?: boolean | undefined;
}

/** Options of {@link Qkv.softmax}. */
export interface SoftmaxOptions {
  /** The axis whose elements sum to 1; a negative axis counts from the end. Default -1. */
  axis?: number | undefined;
  /** The divisor of the elements; for small temperatures the largest element takes all. At least 1.18e-38. Default 1. */
  temperature?: number | undefined;
}

/** The tensor that a result is written to. The call then copies and returns nothing. */
export interface Destination {
  /** A tensor of the shape of the result. x itself is allowed. */
  out: Tensor;
}

/** Options without a tensor for the result: the call returns a new array. */
export interface NewArray {
  /** Not given. */
  out?: undefined;
}

/**
 * An engine: one WebAssembly instance. Get it from {@link init}. Once it is disposed, every function but
 * `dispose()` throws a {@link QkvError} `disposed`; where memory runs out, `out_of_memory`, and the engine
 * stays usable.
 */
export interface Qkv {
  /** Build information. */
  readonly info: EngineInfo;

  /**
   * A tensor of this engine, zero unless `data` is given.
   * @throws {@link QkvError} `invalid_argument` for an invalid shape, `out_of_range` beyond 2^30
   * elements, `shape_mismatch` unless `data` has as many elements, `out_of_memory`, `disposed`
   */
  tensor(shape: readonly number[], data?: ArrayLike<number>): Tensor;

  /**
   * Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1): for every batch row b, query head h
   * and query i, in this order,
   *
   *     s_j   = scale * (q_i . k_j)
   *     s_j   = softcap * tanh(s_j / softcap)               if a softcap is given
   *     s_j   = s_j + mask_ij + bias_ij                     whichever are given; ALiBi is a bias
   *     p     = softmax over allowed j of s_j / temperature with the sink in the denominator
   *     out_i = sum_j dropout(p_j) v_j
   *
   * q is [B, Hq, Tq, dK], [B, Tq, Hq * dK] or [Tq, Hq * dK]; k and v likewise with Hkv heads, Tk keys and
   * widths dK and dV; Hq is a multiple of Hkv and query head h reads key/value head h / (Hq / Hkv). Any
   * size of at least 1 works; an empty sequence gives an empty result. With a cache, k and v are new tokens
   * and Tk is its new length.
   *
   * Masks, biases of -Infinity, causality, the window and key lengths exclude keys, combined by "and". A
   * row that may read no key gives zeros in `output` and `weights`, `lse` -Infinity and entropy 0. An
   * excluded key contributes exactly nothing, even if it holds NaN or infinity. NaN or infinity in an
   * allowed place reaches the rows that may read it and no other. Changing a key or value that a row may not
   * read leaves the row bit for bit as it was. Order and offsets follow ONNX Attention-24; computed in tiles
   * with a running maximum (Milakov & Gimelshein 2018; Dao et al. 2022), so no T x T array ever exists
   * unless weights or logits are asked for.
   *
   * Error bound against exact arithmetic on the same inputs, with u = 2^-24 and, for the row at hand, A the
   * largest over allowed j of (|scale| sum_d |q_d k_jd| + |mask_j| + |bias_j|) / temperature, or the size of
   * the sink if that is greater, V the largest |v| / (1 - dropout rate), and w the exact weight:
   *
   *     |output - exact|  <= u V (2 (dK + 16) A + 3 Tk + 40)
   *     |weights - exact| <= w (exp(u (2 (dK + 16) A + Tk + 40)) - 1) + 2^-126
   *     |logits - exact|  <= u (dK + 16) A temperature
   *     |lse - exact|     <= u ((dK + 16) A + Tk + 40 + |lse|)
   *     |entropy - exact| <= u (2 (dK + 16) A + 2 Tk + 80) (ln Tk + 2)
   *
   * @throws {@link QkvError}, with nothing changed and a cache as it was:
   * `invalid_argument` for a type, an unknown option, a number that is not finite, a temperature that is
   * not positive, a missing or needless `causalOffset`, a missing `numHeads`, `out` that is an input;
   * `shape_mismatch` for ranks and extents that do not fit;
   * `out_of_range` for `rows`, `window`, `softcap`, `keyLengths` or a dropout rate outside their range, or
   * more tokens than the cache has room for;
   * `out_of_memory`; `disposed`.
   */
  attention<O extends Exactly<O, AttentionOptions> = NewArray>(
    q: ArrayInput,
    k: ArrayInput,
    v: ArrayInput,
    options?: O,
  ): ResultOf<O>;

  /**
   * A cache for `capacity` tokens, whose memory is allocated now: 4 B Hkv capacity (dK + dV) bytes, or half of
   * it, dV and capacity rounded up to whole panels.
   * @throws {@link QkvError} `invalid_argument`, `out_of_range`, `out_of_memory`, `disposed`
   */
  kvCache(options: {
    /** B, at least 1. Default 1. */
    batch?: number | undefined;
    /** Hkv, at least 1. */
    numKvHeads: number;
    /** Most tokens that it can hold, at least 0. */
    capacity: number;
    /** Width of a key, at least 1. */
    dK: number;
    /** Width of a value, at least 1. Default dK. */
    dV?: number | undefined;
    /**
     * Of keys and values. `'bf16'` rounds them to the nearest, in half the memory; results have the bits of a cache of
     * float32 that holds the rounded numbers. Default `'f32'`.
     */
    format?: 'f32' | 'bf16' | undefined;
  }): KvCache;

  /**
   * A layer with a packed copy of these weights. {@link MultiHeadAttention.forward} has its formula. Vaswani et al. 2017, section 3.2.2.
   * @throws {@link QkvError} `invalid_argument` for a weight that is missing, given twice (separate and
   * fused) or of another type, `shape_mismatch` for extents that do not follow from `config`,
   * `out_of_range` for sizes below 1 or heads that do not divide, `out_of_memory`, `disposed`
   */
  multiHeadAttention(
    config: MultiHeadAttentionConfig,
    weights: MultiHeadAttentionWeights,
  ): MultiHeadAttention;

  /**
   * Self-attention, optional cross-attention and feed-forward, each with a residual and a norm; an
   * encoder-decoder is two stacks of blocks. {@link TransformerBlock.forward} has the formula.
   * Vaswani et al. 2017 (post-norm), Xiong et al. 2020 (pre-norm).
   * @throws {@link QkvError} as `multiHeadAttention`, and `invalid_argument` for `cross` or `normCross`
   * that does not go with `crossAttention`, a beta with RMS norm, wGate or bGate without swiglu, or an
   * epsilon that is not finite or negative
   */
  transformerBlock(
    config: TransformerBlockConfig,
    weights: TransformerBlockWeights,
  ): TransformerBlock;

  /**
   * Sinusoidal encoding (Vaswani et al. 2017, section 3.5) of positions p = offset, offset + 1, ...,
   * [length, dModel]:
   *
   *     PE(p, 2i) = sin(p w_i),  PE(p, 2i + 1) = cos(p w_i),  w_i = base^(-2i / dModel)
   *
   * dModel may be odd: the last column is then a sine. Angles are formed in double precision and each value
   * is rounded once, so |error| <= 1.2e-7 at every position up to 2^20 either way; row p is bit for bit the
   * same whatever `offset` the table starts at.
   *
   * @throws {@link QkvError} `invalid_argument` (a type, base not finite or below 1), `out_of_range` (a
   * position beyond 2^20, dModel below 1), `out_of_memory`, `disposed`
   */
  sinusoidalEncoding(
    length: number,
    dModel: number,
    options: SinusoidalOptions & Destination,
  ): void;
  /** The same, and returns the result as a new array. */
  sinusoidalEncoding(
    length: number,
    dModel: number,
    options?: SinusoidalOptions & NewArray,
  ): OwnedArray;

  /**
   * The rotations M_k with PE(p + k) = M_k PE(p) for every p: one 2x2 block for each frequency, acting on
   * (sin, cos),
   *
   *     [  cos(k w_i)  sin(k w_i) ]
   *     [ -sin(k w_i)  cos(k w_i) ]
   *
   * as [ceil(dModel / 2), 2, 2] blocks, or as one dense [dModel, dModel] matrix that acts on a row in the
   * given layout. |PE(p + k) - M_k PE(p)| <= 2.4e-7 for float32 encodings; k may be negative.
   *
   * @throws {@link QkvError} as `sinusoidalEncoding`, and `unsupported` for a dense matrix of odd dModel:
   * the last sine has no cosine beside it, and no matrix can shift it
   */
  sinusoidalShift(
    k: number,
    dModel: number,
    options?: {
      /** Base of the encoding. Default 10000. */
      base?: number | undefined;
      /** 2x2 blocks, or one matrix. Default `'blocks'`. */
      form?: 'blocks' | 'dense' | undefined;
      /** Layout of the encoding, for the dense form. Default `'interleaved'`. */
      layout?: 'interleaved' | 'concatenated' | undefined;
    },
  ): OwnedArray;

  /**
   * Rotary position embedding (Su et al. 2021, RoFormer, section 3.2.2): pair i of the token at position p
   * is turned by the angle p w_i,
   *
   *     y1 = cos(p w_i) x1 - sin(p w_i) x2
   *     y2 = sin(p w_i) x1 + cos(p w_i) x2,      w_i = base^(-2i / r), i < r / 2
   *
   * x is [B, H, T, d], [B, T, H * d] or [T, H * d], and the result has its shape. Scores of rotated queries and
   * keys depend on the distance between positions alone. With u = 2^-24 and `a` YaRN's attention factor
   * (1 otherwise), for every |position| <= 2^20:
   *
   *     |y - exact| <= 3.1 u a sqrt(x1^2 + x2^2) + 2^-148
   *     |y - exact| <= 2.1 u (|c x1| + |s x2|) + 2^-148         with tables given, for their c and s
   *
   * NaN and infinity stay within their pair.
   *
   * @throws {@link QkvError} `invalid_argument` (options that exclude each other or have no meaning),
   * `shape_mismatch`, `out_of_range` (rotaryDim odd or above d, a position beyond 2^20 or outside the
   * table), `out_of_memory`, `disposed`
   */
  rotaryEmbedding(x: ArrayInput, options: RotaryOptions & Destination): void;
  /** The same, and returns the result as a new array. */
  rotaryEmbedding(x: ArrayInput, options?: RotaryOptions & NewArray): OwnedArray;

  /**
   * Slopes of ALiBi (Press et al. 2022, section 3), [numHeads]; the bias of head h is
   * -slopes[h] |i + causalOffset - j|. For a power of two n, m_k = 2^(-8k / n) with k = 1 .. n; for other
   * numbers, as in the authors' code, the slopes of the greatest power of two n below, followed by every
   * second slope of 2n. |error| <= 1.01 u m with u = 2^-24, and none where m is a power of two.
   * @throws {@link QkvError} `invalid_argument`, `out_of_range` (below 1), `out_of_memory`, `disposed`
   */
  alibiSlopes(numHeads: number): OwnedNumbers;

  /**
   * Relative position bias of T5 (Raffel et al. 2020, section 2.1), [H, Tq, Tk] from a table
   * [numBuckets, H] of 2 (4 when bidirectional) to 1024 rows:
   *
   *     bias(h, i, j) = table(bucket(j - (i + offset)), h)
   *
   * With N buckets for a direction (half of them when bidirectional), of which E = N / 2 are exact, both
   * rounded down, the distance n falls into bucket n for n < E and otherwise into
   * min(E + floor(ln(n / E) / ln(maxDistance / E) (N - E)), N - 1); keys after the query into N more when
   * bidirectional, and into bucket 0 when not. Values are copied: no error.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch` (the table), `out_of_range` (a length
   * below 0, maxDistance not above E or beyond 2^20, offset beyond 2^20), `out_of_memory`, `disposed`
   */
  t5RelativeBias(
    table: ArrayInput,
    queryLength: number,
    keyLength: number,
    options?: {
      /** Encoders tell keys after the query from keys before it; decoders (false) need not. Default true. */
      bidirectional?: boolean | undefined;
      /** From this distance on all keys share the last bucket. Default 128. */
      maxDistance?: number | undefined;
      /** Position of query 0 minus that of key 0. Default 0. */
      offset?: number | undefined;
    },
  ): OwnedArray;

  /**
   * Position terms of Transformer-XL (Dai et al. 2019, section 3.3, terms b and d), [B, H, Tq, Tk]:
   *
   *     bias(b, h, i, j) = (q(b, h, i) + v(h)) . r(t, h),   t = Tq - 1 - i + j
   *
   * q is [B, H, Tq, d]; r is [Tk + Tq - 1, H * d], its row t the projected encoding of the distance
   * i + (Tk - Tq) - j = Tk - 1 - t; v is [H, d]. Not scaled: multiply q and v by the scale of the attention
   * it goes to, or r. With u = 2^-24 and d <= 4096,
   * |bias - exact| <= (d + 2) u sum (|q| + |v|) |r|, plus d 2^-149.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  transformerXlBias(q: ArrayInput, r: ArrayInput, v: ArrayInput): OwnedArray;

  /**
   * Learned positions (Gehring et al. 2017): rows offset, offset + 1, ... of `table`
   * [maxLength, dModel], bit for bit, as [length, dModel].
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range` (past the end with
   * `'error'`, below 0, or a table without rows), `out_of_memory`, `disposed`
   */
  learnedEncoding(
    table: ArrayInput,
    length: number,
    options?: {
      /** The first position. Default 0. */
      offset?: number | undefined;
      /** Past the end of the table: throw, or use the last row. Default `'error'`. */
      outOfRange?: 'error' | 'clamp' | undefined;
    },
  ): OwnedArray;

  /**
   * Layer normalisation (Ba, Kiros & Hinton 2016; ONNX LayerNormalization-17) over the n elements of the
   * axes from `axis` to the last; the result has the shape of x:
   *
   *     mean = sum(x) / n,  variance = sum((x - mean)^2) / n,  s = sqrt(variance + epsilon)
   *     out  = (x - mean) / s * gamma + beta
   *
   * A constant row gives beta exactly. A row that holds NaN or infinity gives NaN and leaves other rows
   * alone. For n <= 2^24, with u = 2^-24, z = (x - mean) / s and q = u |mean| / s:
   * |out - exact| <= u (|gamma| (22 + 18 |z|) (1 + 2 q)^2 + |exact|), plus 2^-149.
   *
   * @throws {@link QkvError} `invalid_argument` (a type, epsilon not finite or negative), `shape_mismatch`
   * (gamma or beta), `out_of_range` (axis outside [-rank, rank)), `out_of_memory`, `disposed`
   */
  layerNorm(x: ArrayInput, options: LayerNormOptions & Destination): void;
  /** The same, and returns the result as a new array. */
  layerNorm(x: ArrayInput, options?: LayerNormOptions & NewArray): OwnedArray;

  /**
   * RMS normalisation (Zhang & Sennrich 2019; ONNX RMSNormalization-23) over the same axes:
   *
   *     out = x / sqrt(sum(x^2) / n + epsilon) * gamma
   *
   * A row of zeros gives 0; infinity gives NaN in its own place and 0 in the rest of its row. For
   * n <= 2^24: |out - exact| <= 14 u |exact|, plus 2^-149 (1 + |gamma|), u = 2^-24.
   *
   * @throws {@link QkvError} as `layerNorm`
   */
  rmsNorm(x: ArrayInput, options: RmsNormOptions & Destination): void;
  /** The same, and returns the result as a new array. */
  rmsNorm(x: ArrayInput, options?: RmsNormOptions & NewArray): OwnedArray;

  /**
   * x Phi(x) = x / 2 (1 + erf(x / sqrt(2))), or by the formula
   * x / 2 (1 + tanh(g)), g = sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks & Gimpel 2016; ONNX Gelu-20); the
   * result has the shape of x. With u = 2^-24 and y the exact value, where x^2 and |g| count for x < 0 only:
   *
   *     |out - y| <= u |y| (22 + x^2 / 2), plus 2^-125     exact
   *     |out - y| <= u |y| (8 + 8 |g|), plus 2^-122        tanh
   *
   * @throws {@link QkvError} `invalid_argument`, `out_of_memory`, `disposed`
   */
  gelu(x: ArrayInput, options: GeluOptions & Destination): void;
  /** The same, and returns the result as a new array. */
  gelu(x: ArrayInput, options?: GeluOptions & NewArray): OwnedArray;

  /**
   * Softmax over the n elements of one axis (ONNX Softmax-13, with a temperature); the result has the shape
   * of x:
   *
   *     y_i = exp((x_i - max(x)) / temperature) / sum_j exp((x_j - max(x)) / temperature)
   *
   * -Infinity gives 0. A row that holds NaN or Infinity, or nothing but -Infinity, has no softmax and is NaN
   * from end to end; other rows are left alone. The last axis is the fastest. For n <= 2^24, with u = 2^-24
   * and d_i = (max(x) - x_i) / temperature: |out_i - y_i| <= u y_i (3 (d_i + ln n) + 26), plus 2^-125.
   *
   * @throws {@link QkvError} `invalid_argument` (a type, a temperature that is not finite or below 1.18e-38),
   * `shape_mismatch` (no axis), `out_of_range` (axis outside [-rank, rank)), `out_of_memory`, `disposed`
   */
  softmax(x: ArrayInput, options: SoftmaxOptions & Destination): void;
  /** The same, and returns the result as a new array. */
  softmax(x: ArrayInput, options?: SoftmaxOptions & NewArray): OwnedArray;

  /**
   * A linear map of the last axis (ONNX Gemm-13; `torch.nn.functional.linear` with `layout: 'out_in'`):
   *
   *     y = x W + b
   *
   * x is [..., in], w is [in, out] or, with `layout: 'out_in'`, [out, in], and y is [..., out]; in and out are
   * at least 1. The weights are packed in every call: where they serve several calls, use {@link linearLayer}.
   * With u = 2^-24, while no product underflows,
   * |y - exact| <= u (in + 2) (sum_i |x_i| |w_ij| + |b_j|) to first order.
   *
   * @throws {@link QkvError} `invalid_argument` (a type, no such layout, `out` in the memory of an input),
   * `shape_mismatch`, `out_of_memory`, `disposed`
   */
  linear(x: ArrayInput, w: ArrayInput, options: LinearOptions & Destination): void;
  /** The same, and returns the result as a new array. */
  linear(x: ArrayInput, w: ArrayInput, options?: LinearOptions & NewArray): OwnedArray;

  /**
   * A linear map with a packed copy of these weights, for many calls.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  linearLayer(w: ArrayInput, options?: LinearOptions): LinearLayer;

  /**
   * Token embedding: row ids[i] of `table` [vocabulary, dModel] for each i, bit for bit, as
   * [ids.length, dModel].
   * @throws {@link QkvError} `out_of_range` for an id outside [0, vocabulary), `shape_mismatch`,
   * `invalid_argument`, `out_of_memory`, `disposed`
   */
  embedding(table: ArrayInput, ids: Integers): OwnedArray;

  /**
   * Entropy -sum_j w_j ln w_j of every row, in nats; weights [..., T] -> [...]. 0 for a row of zeros, NaN for
   * a negative weight. With u = 2^-24,
   * |error| <= u |out| + (T + 4) 2^-52 sum_j |w_j ln w_j| + 2^-150.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch` (no axis), `out_of_memory`, `disposed`
   */
  entropy(weights: ArrayInput): OwnedArray;

  /**
   * Statistics of attention weights [B, H, Tq, Tk]: means over the query rows of a head, each [B, H].
   * Rows of zeros count as zeros. With u = 2^-24 and S the same mean of absolute values,
   * |error| <= (u + (Tq + Tk + 8) 2^-52) S + 2^-150.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  headStatistics(weights: ArrayInput): {
    /** Mean entropy of the rows, in nats. */
    entropy: OwnedArray;
    /** Mean of sum_j w_ij |i - j|, in tokens. */
    distance: OwnedArray;
    /** Mean largest weight. */
    maxWeight: OwnedArray;
    /** Mean weight on key 0, the usual attention sink. */
    firstKey: OwnedArray;
  };

  /**
   * Attention rollout (Abnar & Zuidema 2020, section 3): how much of token j is in position i after all layers, [T, T], when
   * each layer passes on the mean of its heads and, through the residual connection, what it got. Of weights [L, H, T, T], first
   * layer first, H at least 1:
   *
   *     A_l = rows of (mean over heads of weights(l) + I) / 2, divided by their sums
   *     out = A_L ... A_2 A_1
   *
   * L = 0 gives I. Rows sum to 1 for weights that are not negative, and then, with u = 2^-24,
   * |error| <= (u + L (H + 2 T + 8) 2^-52) out + 2^-150.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  attentionRollout(weights: ArrayInput): OwnedArray;

  /**
   * Effective rank (Roy & Vetterli 2007) of left right, [..., m, k] and [..., k, n] -> [...]: exp of the entropy of the singular
   * values divided by their sum. n for n equal ones, 1 for one alone, 0 when all are 0; never above the rank. Of a head it says
   * how many directions W_V W_O writes, or, with `transposed`, W_Q W_K^T compares; the product is not formed.
   *
   * A number that is not finite gives NaN for its matrix. With S the sum of the singular values and
   * t = 128 k^2 2^-53 |left|_F |right|_F / S at most 1/2,
   * |error| <= (2^-24 + exp(t ln(k / t) + (k + 8) 2^-48) - 1) out.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  effectiveRank(left: ArrayInput, right: ArrayInput, options?: EffectiveRankOptions): OwnedArray;

  /**
   * Memory statistics of the engine.
   * @throws {@link QkvError} `disposed`
   */
  memory(): {
    /** Bytes of WebAssembly memory, which never shrinks. */
    heapBytes: number;
    /** Bytes of this memory that data and scratch use. */
    usedBytes: number;
    /** Live tensors, caches, layers and blocks that this engine made. */
    handles: number;
  };

  /**
   * Disposes this engine and every tensor, cache, layer and block that it made. Engines of other calls of
   * {@link init} go on; the last of those that share an instance drops it. Calling it again does nothing.
   */
  dispose(): void;
  /** `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}
