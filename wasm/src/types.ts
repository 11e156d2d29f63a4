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

export interface InitOptions {
  /** Default `'auto'`: the fastest build this engine can run. */
  variant?: 'auto' | Variant;
  /** Same bits on every engine: never the relaxed build. Default false. */
  deterministic?: boolean;
  /**
   * Where the .wasm comes from, when the default (beside this module) is not it. With `variant: 'auto'`
   * the file itself says which variant it is.
   */
  wasm?: string | URL | BufferSource | WebAssembly.Module | Response | Promise<Response>;
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
  /** tau > 0: scores are divided by it before the softmax. Default 1. */
  temperature?: number;
  /** Key j may be read by query i only if j <= i + causalOffset. Default false. */
  causal?: boolean;
  /** Default 0 when Tq == Tk; otherwise it must be given (0: first with first, Tk - Tq: last with last). */
  causalOffset?: number;
  /** Boolean (1 = may attend), or numbers to add to the scores (-Infinity excludes). Broadcasts to [B, Hq, Tq, Tk]. */
  mask?: NdMask | NdArray;
  /** Return the softmax weights. */
  returnWeights?: boolean;
  /** Return the log-sum-exp of every row. */
  returnLse?: boolean;
  /** Return the entropy of every row. */
  returnEntropy?: boolean;
  /** Query rows [start, end) for which weights are returned. Default all. */
  rows?: readonly [start: number, end: number];
  /** Write the output here instead of allocating; the result then has no `output`. */
  out?: Tensor;
}

export interface AttentionExtras {
  /** `[B, Hq, rows, Tk]`, each row sums to 1. */
  readonly weights?: NdArray;
  /** `[B, Hq, Tq]`: ln of the sum of exp(score / temperature); -Infinity for a row without keys. */
  readonly lse?: NdArray;
  /** `[B, Hq, Tq]`, nats: between 0 (one key) and ln Tk (all alike). */
  readonly entropy?: NdArray;
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

/** An engine: one WebAssembly instance. Get it from {@link init}. */
export interface Qkv {
  readonly info: EngineInfo;

  /** A tensor of this engine, zero unless `data` is given. */
  tensor(shape: readonly number[], data?: ArrayLike<number>): Tensor;

  /**
   * Scaled dot-product attention: for every batch row, query head and query i,
   *
   *     s_j = scale * (q_i . k_j) + mask_ij,  p = softmax over allowed j of s_j / temperature,
   *     out_i = sum_j p_j v_j
   *
   * q is [B, Hq, Tq, dK], [B, Tq, Hq*dK] or [Tq, Hq*dK]; k and v likewise with Hkv heads, Tk keys and
   * widths dK and dV. Any size of at least 1 works; an empty sequence gives an empty result. A row that
   * may read no key gives zeros. An excluded key contributes exactly nothing, even if it is NaN.
   *
   * Error against exact arithmetic, with u = 2^-24, A the largest sum of |scale q_d k_d| + |mask| over
   * the row's keys divided by the temperature, and V the largest |v|: |out - exact| <=
   * u V (2 (dK + 6) A + 3 Tk + 40). Vaswani et al. 2017, section 3.2.1; Dao et al. 2022 for the tiling.
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
   * A layer with these weights, which are copied and packed once. Vaswani et al. 2017, section 3.2.2.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`
   */
  multiHeadAttention(
    config: MultiHeadAttentionConfig,
    weights: MultiHeadAttentionWeights,
  ): MultiHeadAttention;

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

  /** Bytes of WebAssembly memory, bytes in use by data and scratch, and live tensors and layers. */
  memory(): { heapBytes: number; usedBytes: number; handles: number };

  /** Drops the instance; every tensor and layer of it is disposed. Calling it again does nothing. */
  dispose(): void;
}
