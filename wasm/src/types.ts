/// <reference lib="esnext.disposable" preserve="true" />

/** Numbers in row-major order: `data[((b * H + h) * T + t) * d + i]` for shape `[B, H, T, d]`. */
export interface NdArray {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** A boolean mask: 1 where a query may attend, 0 where it may not. */
export interface NdMask {
  readonly data: Uint8Array;
  readonly shape: readonly number[];
}

/**
 * A block of WebAssembly memory. For loops that should not copy: pass it as an input or as `out`, and
 * read it in place. Everything else returns plain arrays that need no care.
 */
export interface Tensor {
  readonly shape: readonly number[];
  /**
   * The elements in place. A fresh view on every call, valid until the next call that may grow memory
   * (any operator): never store it.
   * @throws {@link QkvError} `disposed`
   */
  view(): Float32Array;
  /** An owned copy. @throws {@link QkvError} `disposed` */
  toNdArray(): NdArray;
  /** Copies `data` in. @throws {@link QkvError} `shape_mismatch` unless it has as many elements. */
  set(data: ArrayLike<number>): void;
  /** Gives the memory back. Calling it again does nothing. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Anything an operator reads: a plain array, or a tensor that already lives in WebAssembly memory. */
export type ArrayInput = NdArray | Tensor;

/** `relaxed` may fuse a multiplication and an addition; `simd` gives the same bits on every engine. */
export type Variant = 'relaxed' | 'simd';

// Names of the web that not every program has: with neither the DOM library nor the types of Node they
// are left out of what may be passed, and the declarations still compile.
type Web = typeof globalThis;
type WebUrl = Web extends { URL: { prototype: infer T } } ? T : never;
type WebResponse = Web extends { Response: { prototype: infer T } } ? T : never;
type WebModule = Web extends { WebAssembly: { Module: { prototype: infer T } } } ? T : never;
type WebBytes = Web extends { WebAssembly: { validate(bytes: infer T): boolean } }
  ? T
  : ArrayBufferView | ArrayBuffer;

export interface InitOptions {
  /** Default `'auto'`: the fastest build this engine can run. */
  variant?: 'auto' | Variant;
  /** Same bits on every engine: never the relaxed build. Default false. */
  deterministic?: boolean;
  /**
   * Where the .wasm comes from, when the default (beside this module) is not it. With `variant: 'auto'`
   * the file itself says which variant it is.
   */
  wasm?: string | WebUrl | WebBytes | WebModule | WebResponse | Promise<WebResponse>;
}

export interface EngineInfo {
  /** Version of the package and of the .wasm, which are checked to be the same. */
  readonly version: string;
  readonly variant: Variant;
  /** Threads that work on a call. */
  readonly threads: number;
  /** What the core itself reports it is running: `'wasm-simd128'` or `'wasm-relaxed-simd'`. */
  readonly isa: string;
}

export interface AttentionOptions {
  /** Query heads: needed for ranks 2 and 3, read off rank 4. */
  numHeads?: number;
  /** Key/value heads, a divisor of `numHeads`; query head h reads h / (numHeads / numKvHeads). Default: as many. */
  numKvHeads?: number;
  /** Factor on q.k. Default 1/sqrt(d_k). */
  scale?: number;
  /** c > 0: scores become c tanh(score / c), before any bias. Default 0, none. */
  softcap?: number;
  /** tau > 0: scores are divided by it before the softmax. Default 1. */
  temperature?: number;
  /** Key j may be read by query i only if j <= i + causalOffset. Default false. */
  causal?: boolean;
  /**
   * Position of query 0 minus that of key 0; `causal`, `window` and ALiBi measure by it. One number, or
   * one per batch row. Default: the cache's length before the call, or 0 when Tq == Tk; otherwise those
   * three need it (0: first query with first key, Tk - Tq: last with last).
   */
  causalOffset?: number | Int32Array;
  /** With p = i + causalOffset, query i may read p - left <= j <= p + right; -1 = unbounded. */
  window?: readonly [left: number, right: number];
  /** Boolean (1 = may attend), or numbers to add to the scores (-Infinity excludes). Broadcasts to [B, Hq, Tq, Tk]. */
  mask?: NdMask | NdArray;
  /** Added to the scores; broadcasts to [B, Hq, Tq, Tk]. Or ALiBi: -slope |i + causalOffset - j|. */
  bias?: NdArray | Alibi;
  /** Keys in use, one number per batch row; those past them are never read. */
  keyLengths?: Int32Array;
  /** One logit per query head that joins the denominator but has no value. */
  sinks?: Float32Array;
  /**
   * Drops each weight with probability `rate` and divides the others by 1 - rate. Which ones depends on
   * the seed, the batch row, the head, the query and the key alone.
   */
  dropout?: { readonly rate: number; readonly seed: number };
  /** k and v are then new tokens: they are appended, and the queries read all that the cache then holds. */
  cache?: KvCache;
  /** Return the weights that multiply v. */
  returnWeights?: boolean;
  /** Return scores: scaled, after the softcap, or with biases and -Infinity where excluded (before the temperature). */
  returnLogits?: 'raw' | 'capped' | 'biased';
  /** Return the log-sum-exp of every row. */
  returnLse?: boolean;
  /** Return the entropy of every row. */
  returnEntropy?: boolean;
  /** Query rows [start, end) for which weights and logits are returned. Default all. */
  rows?: readonly [start: number, end: number];
  /** Write the output here instead of allocating; the result then has no `output`. */
  out?: Tensor;
}

/** Linear biases, Press et al. 2022; the paper's slopes unless others are given, one per query head. */
export interface Alibi {
  readonly kind: 'alibi';
  readonly slopes?: Float32Array;
}

export interface AttentionExtras {
  /** `[B, Hq, rows, Tk]`; without sinks and dropout each row sums to 1. */
  readonly weights?: NdArray;
  /** `[B, Hq, rows, Tk]` */
  readonly logits?: NdArray;
  /** `[B, Hq, Tq]`: ln of the sum of exp(score / temperature); -Infinity for a row without keys. */
  readonly lse?: NdArray;
  /** `[B, Hq, Tq]`, nats: between 0 (one key) and ln Tk (all alike). */
  readonly entropy?: NdArray;
}

/** Keys and values of earlier tokens, kept in WebAssembly memory and extended in place. */
export interface KvCache {
  readonly length: number;
  readonly capacity: number;
  /**
   * [B, T, Hkv*dK] or [B, Hkv, T, dK], likewise values.
   * @throws {@link QkvError} `out_of_range` beyond the capacity; the cache is unchanged then.
   */
  append(keys: ArrayInput, values: ArrayInput): void;
  /** A copy of what is held, [B, Hkv, length, dK]. */
  keys(): NdArray;
  /** A copy of what is held, [B, Hkv, length, dV]. */
  values(): NdArray;
  /** Forgets all tokens from `length` on. */
  truncate(length: number): void;
  /** Gives the memory back. Calling it again does nothing. */
  dispose(): void;
  [Symbol.dispose](): void;
}

export interface RotaryOptions {
  /** Position of the first token. Default 0. In a layer: added to the length of the cache. */
  offset?: number;
  /** One position per token instead: [T], or [B, T] in row-major order. */
  positions?: Int32Array;
  /** Wavelengths run from 2 pi to 2 pi base. Default 10000. */
  base?: number;
  /** How many of the d dimensions are rotated, from the first on. Even. Default d. */
  rotaryDim?: number;
  /** Pairs (2i, 2i+1); otherwise halves (i, i + rotaryDim/2). Default false. */
  interleaved?: boolean;
  /** Stretches positions beyond the trained length: linearly, by base (NTK-aware), or by parts (YaRN). */
  scaling?:
    | { type: 'linear' | 'ntk'; factor: number }
    | {
        type: 'yarn';
        factor: number;
        originalLength: number;
        betaFast?: number;
        betaSlow?: number;
        attentionFactor?: number;
      };
  /** Given tables instead of base and scaling: [positions, rotaryDim/2], or one row per token [B, T, rotaryDim/2]. */
  cos?: NdArray;
  sin?: NdArray;
  /** For ranks 2 and 3. */
  numHeads?: number;
}

export interface AttentionResult extends AttentionExtras {
  /** Same rank as the query: [B, Hq, Tq, dv], [B, Tq, Hq*dv] or [Tq, Hq*dv]. Layers: the shape of x. */
  readonly output: NdArray;
}

export interface MultiHeadAttentionConfig {
  dModel: number;
  numHeads: number;
  /** Key/value heads, a divisor of `numHeads`. Default `numHeads`. */
  numKvHeads?: number;
  /** Width of a head of q and k. Default dModel / numHeads, which must then be whole. */
  dK?: number;
  /** Width of a head of v. Default dK. */
  dV?: number;
  /** Width of the context in cross-attention. Default dModel. */
  dContext?: number;
  /** Rotates q and k by their positions after projection. */
  rotary?: RotaryOptions;
  /** How matrices are stored. Default `'in_out'` (y = x W); PyTorch's Linear is `'out_in'`. */
  weightLayout?: 'in_out' | 'out_in';
}

/** Shapes for `'in_out'`; `'out_in'` swaps the two extents. Either wq, wk and wv, or wqkv. */
export interface MultiHeadAttentionWeights {
  /** [dModel, Hq*dK] */
  wq?: NdArray;
  /** [dContext, Hkv*dK] */
  wk?: NdArray;
  /** [dContext, Hkv*dV] */
  wv?: NdArray;
  /** Fused, self-attention only: [dModel, Hq*dK + Hkv*dK + Hkv*dV] */
  wqkv?: NdArray;
  /** [Hq*dV, dModel] */
  wo: NdArray;
  bq?: Float32Array;
  bk?: Float32Array;
  bv?: Float32Array;
  bqkv?: Float32Array;
  bo?: Float32Array;
}

/** What a layer's call takes: the heads are the layer's own. `context` makes it cross-attention. */
export type LayerOptions = Omit<AttentionOptions, 'numHeads' | 'numKvHeads'> & {
  /** [B, Tk, dContext] or [Tk, dContext]. Default: x itself. */
  context?: ArrayInput;
};

/** A multi-head attention layer. Holds packed weights in WebAssembly memory until disposed. */
export interface MultiHeadAttention {
  /**
   * y = attention(x Wq + bq, c Wk + bk, c Wv + bv) Wo + bo with c the context or x.
   * x: [B, T, dModel] or [T, dModel].
   */
  forward(x: ArrayInput, options: LayerOptions & { out: Tensor }): AttentionExtras;
  forward(x: ArrayInput, options?: LayerOptions): AttentionResult;
  /** Gives the memory back. Calling it again does nothing. */
  dispose(): void;
  [Symbol.dispose](): void;
}

export interface TransformerBlockConfig extends MultiHeadAttentionConfig {
  dFeedForward: number;
  /** `'pre'`: x + sub(norm(x)); `'post'`: norm(x + sub(x)). Default `'pre'`. */
  norm?: 'pre' | 'post';
  /** Default `'layer'`. */
  normType?: 'layer' | 'rms';
  /** Default `'gelu'` (erf); `'swiglu'` gates: silu(x wGate) * (x w1). */
  activation?: 'relu' | 'gelu' | 'gelu_tanh' | 'silu' | 'swiglu';
  /** Adds a cross-attention sub-layer: the decoder of an encoder-decoder. Default false. */
  crossAttention?: boolean;
  /** Of all norms. Default 1e-5. */
  epsilon?: number;
}

export interface NormWeights {
  /** [dModel] */
  gamma: Float32Array;
  /** [dModel]; not with rms. */
  beta?: Float32Array;
}

export interface TransformerBlockWeights {
  attention: MultiHeadAttentionWeights;
  cross?: MultiHeadAttentionWeights;
  /** Of the self-attention. */
  norm1: NormWeights;
  normCross?: NormWeights;
  /** Of the feed-forward layer. */
  norm2: NormWeights;
  /** [dModel, dFeedForward] */
  w1: NdArray;
  b1?: Float32Array;
  /** [dFeedForward, dModel] */
  w2: NdArray;
  b2?: Float32Array;
  /** [dModel, dFeedForward], with swiglu */
  wGate?: NdArray;
  bGate?: Float32Array;
}

export type BlockOptions = LayerOptions & {
  /** Tokens of the context in use, one number per batch row. */
  contextKeyLengths?: Int32Array;
};

/** A transformer block. Holds packed weights in WebAssembly memory until disposed. */
export interface TransformerBlock {
  /** `causal`, `cache` and the other options concern the self-attention; the extras are its own. */
  forward(x: ArrayInput, options: BlockOptions & { out: Tensor }): AttentionExtras;
  forward(x: ArrayInput, options?: BlockOptions): AttentionResult;
  /** Gives the memory back. Calling it again does nothing. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** An engine: one WebAssembly instance. Get it from {@link init}. */
export interface Qkv {
  readonly info: EngineInfo;

  /** A tensor of this engine, zero unless `data` is given. */
  tensor(shape: readonly number[], data?: ArrayLike<number>): Tensor;

  /**
   * Scaled dot-product attention: for every batch row, query head and query i,
   *
   *     s_j = softcap(scale * (q_i . k_j)) + mask_ij + bias_ij
   *     p = softmax over allowed j of s_j / temperature, with the sink in the denominator
   *     out_i = sum_j dropout(p_j) v_j
   *
   * q is [B, Hq, Tq, dK], [B, Tq, Hq*dK] or [Tq, Hq*dK]; k and v likewise with Hkv heads, Tk keys and
   * widths dK and dV. Any size of at least 1 works; an empty sequence gives an empty result. A row that
   * may read no key gives zeros. An excluded key contributes exactly nothing, even if it is NaN.
   *
   * Error against exact arithmetic, with u = 2^-24, A the largest sum of |scale q_d k_d| + |mask| +
   * |bias| over the row's keys divided by the temperature (or the size of the sink), and V the largest
   * |v| (divided by 1 - dropout rate): |out - exact| <= u V (2 (dK + 16) A + 3 Tk + 40). Vaswani et al. 2017, section 3.2.1; Dao et al. 2022 for the tiling.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`,
   * `disposed`; nothing is changed then.
   */
  attention(
    q: ArrayInput,
    k: ArrayInput,
    v: ArrayInput,
    options: AttentionOptions & { out: Tensor },
  ): AttentionExtras;
  attention(
    q: ArrayInput,
    k: ArrayInput,
    v: ArrayInput,
    options?: AttentionOptions,
  ): AttentionResult;

  /**
   * Room for `capacity` tokens, all of it taken now.
   * @throws {@link QkvError} `invalid_argument`, `out_of_range`, `out_of_memory`
   */
  kvCache(options: {
    batch?: number;
    numKvHeads: number;
    capacity: number;
    dK: number;
    dV?: number;
  }): KvCache;

  /**
   * A layer with these weights, which are copied and packed once. Vaswani et al. 2017, section 3.2.2.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`
   */
  multiHeadAttention(
    config: MultiHeadAttentionConfig,
    weights: MultiHeadAttentionWeights,
  ): MultiHeadAttention;

  /**
   * Self-attention, optional cross-attention and feed-forward, each with a residual and a norm; an
   * encoder-decoder is stacks of these. Vaswani et al. 2017 (post-norm), Xiong et al. 2020 (pre-norm).
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`
   */
  transformerBlock(
    config: TransformerBlockConfig,
    weights: TransformerBlockWeights,
  ): TransformerBlock;

  /**
   * [length, dModel]: PE(p, 2i) = sin(p w_i), PE(p, 2i+1) = cos(p w_i), w_i = base^(-2i/dModel), for
   * p = offset, offset + 1, ... Error at most 1.2e-7 at every position up to 2^20 either way.
   * `concatenated` puts all sines first. Vaswani et al. 2017, section 3.5.
   * @throws {@link QkvError} `invalid_argument`, `out_of_range`, `out_of_memory`
   */
  sinusoidalEncoding(
    length: number,
    dModel: number,
    options?: { offset?: number; base?: number; layout?: 'interleaved' | 'concatenated' },
  ): NdArray;

  /**
   * M_k with PE(p + k) = M_k PE(p) for every p, within 2.4e-7: as [ceil(dModel/2), 2, 2] rotations of
   * each (sin, cos) pair, or dense [dModel, dModel] for the given layout (even dModel only: no matrix
   * shifts a sine without its cosine).
   * @throws {@link QkvError} `invalid_argument`, `out_of_range`, `unsupported`, `out_of_memory`
   */
  sinusoidalShift(
    k: number,
    dModel: number,
    options?: {
      base?: number;
      form?: 'blocks' | 'dense';
      layout?: 'interleaved' | 'concatenated';
    },
  ): NdArray;

  /**
   * Rotary position embedding of [B, H, T, d], [B, T, H*d] or [T, H*d]; same shape. Su et al. 2021.
   * |y - exact| <= 1.9e-7 of the length of its pair (times YaRN's attention factor) up to position 2^20.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`
   */
  rotaryEmbedding(x: ArrayInput, options?: RotaryOptions): NdArray;

  /** [numHeads] slopes of ALiBi, also for numbers that are not powers of two. Press et al. 2022. */
  alibiSlopes(numHeads: number): Float32Array;

  /**
   * [H, Tq, Tk] from a [numBuckets, H] table: distances fall into buckets, half of them exact, half
   * logarithmic up to maxDistance (128). `offset` is the position of query 0 minus that of key 0.
   * Raffel et al. 2020.
   */
  t5RelativeBias(
    table: NdArray,
    queryLength: number,
    keyLength: number,
    options?: { bidirectional?: boolean; maxDistance?: number; offset?: number },
  ): NdArray;

  /**
   * Position term of Transformer-XL, (q_i + v_h) . r, unscaled: q [B, H, Tq, d], r [Tk+Tq-1, H*d] (row
   * t encodes the distance i + (Tk-Tq) - j = Tk-1-t), v [H, d] -> [B, H, Tq, Tk]. Dai et al. 2019.
   */
  transformerXlBias(q: ArrayInput, r: NdArray, v: NdArray): NdArray;

  /**
   * Rows offset, offset + 1, ... of a learned table [maxLength, dModel]. Past its end: an error, or
   * the last row with `'clamp'`.
   * @throws {@link QkvError} `out_of_range`, `shape_mismatch`, `invalid_argument`
   */
  learnedEncoding(
    table: NdArray,
    length: number,
    options?: { offset?: number; outOfRange?: 'error' | 'clamp' },
  ): NdArray;

  /**
   * (x - mean) / sqrt(variance + epsilon) * gamma + beta over the axes from `axis` (-1) to the last, with
   * the population variance; gamma and beta have one number for each element of those axes. Ba et al. 2016.
   */
  layerNorm(
    x: ArrayInput,
    options?: { gamma?: Float32Array; beta?: Float32Array; axis?: number; epsilon?: number },
  ): NdArray;

  /** x / sqrt(mean(x^2) + epsilon) * gamma over the same axes. Zhang & Sennrich 2019. */
  rmsNorm(
    x: ArrayInput,
    options?: { gamma?: Float32Array; axis?: number; epsilon?: number },
  ): NdArray;

  /** x Phi(x), exactly or by the tanh formula. Hendrycks & Gimpel 2016. */
  gelu(x: ArrayInput, options?: { approximate?: 'none' | 'tanh' }): NdArray;

  /** Rows of table [vocabulary, dModel]. @throws {@link QkvError} `out_of_range` for an unknown id */
  embedding(table: NdArray, ids: Int32Array): NdArray;

  /** -sum_j w_j ln w_j of every row, nats; weights [..., T] -> [...]. */
  entropy(weights: ArrayInput): NdArray;

  /** Per head [B, H]: mean entropy, mean distance |i-j|, mean largest weight, mean weight on the first key. */
  headStatistics(weights: ArrayInput): {
    entropy: NdArray;
    distance: NdArray;
    maxWeight: NdArray;
    firstKey: NdArray;
  };

  /** Bytes of WebAssembly memory, bytes in use by data and scratch, and live tensors and layers. */
  memory(): { heapBytes: number; usedBytes: number; handles: number };

  /** Drops the instance; every tensor and layer of it is disposed. Calling it again does nothing. */
  dispose(): void;
}
