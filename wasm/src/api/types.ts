/// <reference lib="esnext.disposable" preserve="true" />

// An engine and all that its functions take and return.
import type {
  ArrayInput,
  Destination,
  Integers,
  NewArray,
  OwnedArray,
  OwnedNumbers,
  Tensor,
} from './array-types.js';
import type { EngineInfo } from './engine-types.js';
import type {
  AttentionOptions,
  Exactly,
  KvCache,
  ResultOf,
  RotaryOptions,
  Unsaid,
} from './attention-types.js';
import type {
  LinearLayer,
  LinearOptions,
  MultiHeadAttention,
  MultiHeadAttentionConfig,
  MultiHeadAttentionWeights,
  TransformerBlock,
  TransformerBlockConfig,
  TransformerBlockWeights,
} from './layer-types.js';
import type {
  GeluOptions,
  LayerNormOptions,
  RmsNormOptions,
  SinusoidalOptions,
  SoftmaxOptions,
} from './operator-types.js';

export type * from './array-types.js';
export type * from './engine-types.js';
export type * from './attention-types.js';
export type * from './layer-types.js';
export type * from './operator-types.js';
export type { DidYouMean, Shape3, Shape4 } from './option-types.js';

/**
 * An engine: one WebAssembly instance. Get it from {@link init}. Once it is disposed, every function but
 * `dispose()` throws a {@link QkvError} `disposed`; where memory runs out, `out_of_memory`, and the engine
 * stays usable. With several threads a call throws `thread_lost` if one of them ends during it: what the call wrote to `out` is then
 * incomplete, a cache keeps its length, and the call may be made again.
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
   * allowed place reaches the rows that may read it and no other. Finite numbers exclude nothing: a sum of scores, masks and
   * biases beyond float32 counts as its greatest or lowest number. Changing a key or value that a row may not
   * read leaves the row bit for bit as it was. Order and offsets follow ONNX Attention-24; computed in tiles
   * with a running maximum (Milakov & Gimelshein 2018; Dao et al. 2022), so no T x T array ever exists
   * unless weights or logits are requested.
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
  attention<O extends Exactly<O, AttentionOptions> = Unsaid<AttentionOptions>>(
    q: ArrayInput,
    k: ArrayInput,
    v: ArrayInput,
    options?: O,
  ): ResultOf<O>;

  /**
   * A cache for at most `capacity` tokens. Its memory grows with the tokens that it holds, at most twofold each time and up to
   * 4 B Hkv capacity (dK + dV) bytes, or what `format` leaves of that, dV and capacity rounded up to whole panels of the kernels.
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
     * Of keys and values. `'bf16'` rounds them to the nearest, in half the memory; `'int8'` to whole numbers of 8 bits in 0.27 of
     * it: each 32 numbers x of a token's head, and what is left of them, share a scale and are at most max |x| / 252 off; with a
     * NaN or an infinity among them all become NaN, and below 2^-89 zeros. Results have the bits of a cache of float32
     * that holds the rounded numbers. Default `'f32'`.
     */
    format?: 'f32' | 'bf16' | 'int8' | undefined;
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
   * @throws {@link QkvError} `invalid_argument` (a type, no such layout, `out` overlaps an input),
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
