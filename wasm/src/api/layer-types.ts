/// <reference lib="esnext.disposable" preserve="true" />

// Layers, which keep packed weights: multi-head attention, blocks, linear maps.
import type {
  ArrayInput,
  Destination,
  Integers,
  NdArray,
  NewArray,
  OwnedArray,
} from './array-types.js';
import type {
  AttentionOptions,
  Exactly,
  ResultOf,
  RotaryOptions,
  Unsaid,
} from './attention-types.js';

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
  forward<O extends Exactly<O, LayerOptions> = Unsaid<LayerOptions>>(
    x: ArrayInput,
    options?: O,
  ): ResultOf<O>;
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
  forward<O extends Exactly<O, BlockOptions> = Unsaid<BlockOptions>>(
    x: ArrayInput,
    options?: O,
  ): ResultOf<O>;
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
