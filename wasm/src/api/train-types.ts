import type {
  LanguageModelTrainers,
  Seq2Seq,
  Seq2SeqConfig,
  Trainer,
  TrainerOptions,
} from './trainer-types.js';
import type {
  ArrayInput,
  AttentionOptions,
  LayerNormOptions,
  NdArray,
  OwnedArray,
  OwnedNumbers,
  Qkv,
  RmsNormOptions,
  RotaryOptions,
  SoftmaxOptions,
} from './types.js';

/** What {@link TrainQkv.attentionBackward} needs of the forward call. Its whole result may be given as it is. */
export interface SavedAttention {
  /** `output`, or the tensor that it was written to. */
  readonly output: ArrayInput;
  /** `lse`, [B, Hq, Tq], which `returnLse: true` asks for. */
  readonly lse: ArrayInput;
}

/** Gradients that {@link TrainQkv.attentionBackward} computes besides dq, dk and dv. */
export interface AttentionNeeds {
  /** The gradient of `bias`, which must be an array. Default false. */
  bias?: boolean | undefined;
  /** The gradient of `sinks`. Default false. */
  sinks?: boolean | undefined;
}

/** Gradients of attention. */
export interface AttentionGradients {
  /** The shape of q. */
  readonly dq: OwnedArray;
  /** The shape of k: summed over the query heads of each group. */
  readonly dk: OwnedArray;
  /** The shape of v: likewise. */
  readonly dv: OwnedArray;
  /** With `needs.bias`, the shape of the bias: summed along the axes that it is broadcast on. */
  readonly dBias?: OwnedArray;
  /** With `needs.sinks`, [Hq]. */
  readonly dSinks?: OwnedNumbers;
}

/** Options of {@link TrainQkv.linearBackward}. */
export interface LinearBackwardOptions {
  /** How w, and dw, is stored, as in {@link Qkv.linear}. Default `'in_out'`. */
  layout?: 'in_out' | 'out_in' | undefined;
  /** Whether to compute the gradient of a bias. Default false. */
  bias?: boolean | undefined;
}

/** Gradients of a linear map. */
export interface LinearGradients {
  /** The shape of x. */
  readonly dx: OwnedArray;
  /** The shape of w. */
  readonly dw: OwnedArray;
  /** With `bias`, [out]. */
  readonly dBias?: OwnedNumbers;
}

/** Gradients of RMS normalisation. */
export interface RmsNormGradients {
  /** The shape of x. */
  readonly dx: OwnedArray;
  /** [n], also where gamma was left out, which means 1. */
  readonly dGamma: OwnedNumbers;
}

/** Gradients of layer normalisation. */
export interface LayerNormGradients extends RmsNormGradients {
  /** [n], also where beta was left out, which means 0. */
  readonly dBeta: OwnedNumbers;
}

/** Activations that have a gradient here. */
export type ActivationKind = 'relu' | 'gelu' | 'gelu_tanh' | 'silu';

/** Gates of feed-forward layers (Shazeer 2020): silu(x) y, gelu(x) y with the exact gelu, or with its tanh form, as Gemma. */
export type GateKind = 'swiglu' | 'geglu' | 'geglu_tanh';

/** Gradients of a gate. */
export interface GateGradients {
  /** The gradient of what the activation is applied to. */
  readonly dx: OwnedArray;
  /** The gradient of what it is multiplied by. */
  readonly dy: OwnedArray;
}

/** Options of {@link TrainQkv.crossEntropy}. */
export interface CrossEntropyOptions {
  /** A target that does not count. Default -1. */
  ignoreIndex?: number | undefined;
  /** e in [0, 1]: the target is 1 - e at its class and e / V everywhere. Default 0. */
  labelSmoothing?: number | undefined;
}

/** A loss and its gradient. */
export interface CrossEntropy {
  /** The mean over the targets that count, in nats, in float64; 0 if none counts. */
  readonly loss: number;
  /** Rows that count and whose greatest logit, the first of equal ones, is that of the target. */
  readonly correct: number;
  /** Targets that count. */
  readonly counted: number;
  /** The gradient of the loss, of the shape of the logits; 0 in rows that do not count. */
  readonly dLogits: OwnedArray;
}

/** Weights of a gated recurrent unit of h units: columns of the gates r, z and n side by side, as PyTorch orders them. */
export interface GruWeights {
  /** W, [dIn, 3h]: the transpose of PyTorch's `weight_ih_l0`. */
  readonly wx: NdArray;
  /** U, [h, 3h]: the transpose of `weight_hh_l0`. */
  readonly wh: NdArray;
  /** b, [3h]: `bias_ih_l0`. */
  readonly bx: Float32Array;
  /** c, [3h]: `bias_hh_l0`. */
  readonly bh: Float32Array;
}

/** Options of {@link TrainQkv.gru}. */
export interface GruOptions {
  /** h before the first step, [B, h]. Default zeros. */
  h0?: ArrayInput | undefined;
}

/** Options of {@link TrainQkv.gruBackward}. */
export interface GruBackwardOptions extends GruOptions {
  /** What {@link TrainQkv.gru} returned, which is computed once more if it is left out. */
  output?: ArrayInput | undefined;
}

/** Gradients of gated recurrent units. */
export interface GruGradients {
  /** The shape of x. */
  readonly dx: OwnedArray;
  /** [B, h], also where h0 was left out. */
  readonly dh0: OwnedArray;
  /** Of each weight, of its shape. */
  readonly dWeights: GruWeights;
}

/**
 * An engine that can be trained with: everything of {@link Qkv}, and gradients. Each `...Backward` takes the gradient of the
 * output, dY, then what the forward function took, and returns the gradients of its inputs: the transpose of its Jacobian
 * times dY. Everything is computed in float32; u = 2^-24 in the bounds. Gradients are new arrays, and nothing is
 * written when a call is refused.
 */
export interface TrainQkv extends Qkv {
  /**
   * The gradients of {@link Qkv.attention} with the same options. With P the weights before dropout, M the
   * dropout mask divided by 1 - rate, s the score after the softcap c, tau the temperature and D_i = sum_d dO_id O_id:
   *
   *     dV     = (P M)^T dO                         summed over the query heads of a group, as dK is
   *     dS     = P (M dO V^T - D) / tau             the gradient of the biased scores
   *     d bias = dS, summed to the shape of the bias
   *     dQ     = scale (dS (1 - (s / c)^2)) K       without a softcap, dS alone
   *     dK     = scale (dS (1 - (s / c)^2))^T Q
   *     d sink = -sum over the rows of a head of exp(sink - lse) D
   *
   * P is computed once more from `lse`, so no array of Tq x Tk elements is made (Dao et al. 2022, appendix B). A row
   * without a key and an excluded pair have gradient exactly 0, even where they hold NaN; what a row may not read
   * changes no bit of its gradient.
   *
   * dOutput has the shape of `saved.output`; q, k and v may be of any form that `attention` takes. Options of the
   * forward call that ask for further results, and `out`, change nothing here. With A and V as in `attention`,
   * V_i = V / (1 - rate), N_ij = P_ij (sum_d |dO_id v_jd| + sum_d |dO_id| V_i) / (1 - rate),
   * e = u (4 (dK + 20) A + 2 dV + 5 Tk + 200), and n the terms of a sum:
   *
   *     |dV_jd - exact|   <= sum_i P_ij |dO_id| (e + u n) / (1 - rate)
   *     |dQ_id - exact|   <= |scale| / tau sum_j N_ij |k_jd| (e + u n)
   *     |dK_jd - exact|   <= |scale| / tau sum_i N_ij |q_id| (e + u n)
   *     |d bias - exact|  <= sum of N_ij over what is summed (e + u n) / tau
   *     |d sink - exact|  <= sum over rows of exp(sink - lse) sum_d |dO_id| V_i (e + u n)
   *
   * Against the gradients of the weights that `attention` returns these hold with e = u (2 dV + 5 Tk + 600), whatever the size of
   * the scores. Rows whose lse is 64 or more in size are measured once more for that, and take about a quarter longer.
   *
   * @throws {@link QkvError} what `attention` throws, and `shape_mismatch` for dOutput or a saved array of another
   * shape, `invalid_argument` for a cache, or for a gradient of a bias or of sinks that are not given
   */
  attentionBackward(
    dOutput: ArrayInput,
    q: ArrayInput,
    k: ArrayInput,
    v: ArrayInput,
    saved: SavedAttention,
    options?: AttentionOptions & {
      /** Gradients besides dq, dk and dv. Default none. */
      needs?: AttentionNeeds | undefined;
    },
  ): AttentionGradients;

  /**
   * The gradients of {@link Qkv.linear}, y = x W + b over all rows of x:
   *
   *     dx = dY W^T,   dW = x^T dY,   db = sum over rows of dY
   *
   * dOutput is [..., out], x [..., in], w as `layout` says. Every element is summed in a fixed order. With N rows:
   * |dx - exact| <= u (out + 2) |dY| |W|^T, |dW - exact| <= u (N + 2) |x|^T |dY|,
   * |db - exact| <= u (sum |dY| 2^-20 + |db|).
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  linearBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    w: ArrayInput,
    options?: LinearBackwardOptions,
  ): LinearGradients;

  /**
   * The gradient of {@link Qkv.softmax}, from its output y, along the same axis:
   *
   *     dx = y (dY - sum y dY) / temperature
   *
   * dOutput has the shape of output. |dx - exact| <= 4 u y (|dY| + sum y |dY|) / temperature, for y as given.
   *
   * @throws {@link QkvError} as `softmax`, and `shape_mismatch` for dOutput
   */
  softmaxBackward(dOutput: ArrayInput, output: ArrayInput, options?: SoftmaxOptions): OwnedArray;

  /**
   * The gradients of {@link Qkv.layerNorm} over the same axes. With z = (x - mean) / s and g = dY gamma:
   *
   *     dx = (g - mean(g) - z mean(g z)) / s,   d gamma = sum over rows of dY z,   d beta = sum over rows of dY
   *
   * dOutput has the shape of x; nothing depends on beta. Sums over rows are made of partial sums of 64 rows. With
   * q = u |mean| / s and G = |g| + mean |g| + |z| mean |g z|:
   *
   *     |dx - exact|      <= u (40 + 40 |z|) (1 + 2 q)^2 (G + (1 + |z|) max |g|) / s
   *     |d gamma - exact| <= u sum |dY| (26 + 26 |z| + (64 + rows / 64) |z|) (1 + 2 q)^2
   *     |d beta - exact|  <= u (66 + rows / 64) sum |dY|
   *
   * @throws {@link QkvError} as `layerNorm`, and `shape_mismatch` for dOutput
   */
  layerNormBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    options?: LayerNormOptions,
  ): LayerNormGradients;

  /**
   * The gradients of {@link Qkv.rmsNorm} over the same axes: with z = x / s,
   *
   *     dx = (g - z mean(g z)) / s,   d gamma = sum over rows of dY z
   *
   * All else as in `layerNormBackward`.
   *
   * @throws {@link QkvError} as `rmsNorm`, and `shape_mismatch` for dOutput
   */
  rmsNormBackward(dOutput: ArrayInput, x: ArrayInput, options?: RmsNormOptions): RmsNormGradients;

  /**
   * dx = dY f'(x), in which relu'(x) is 1 for x > 0 and else 0, gelu'(x) = Phi(x) + x phi(x), and for `'gelu_tanh'` and
   * `'silu'`, which are x sigmoid(s(x)), f' = sigmoid(s) (1 + x s'(x) sigmoid(-s)). dOutput has the shape of x.
   *
   * |dx - exact| <= u |dY| (6 + 2 |x|) (|f'(x)| + exp(-x^2 / 4)), in which the last factor is exp(-|x| / 2) for silu.
   *
   * @throws {@link QkvError} `invalid_argument` (a type, no such kind), `shape_mismatch`, `out_of_memory`, `disposed`
   */
  activationBackward(dOutput: ArrayInput, x: ArrayInput, kind: ActivationKind): OwnedArray;

  /**
   * The gradients of the gate f(x) y of a feed-forward layer (Shazeer 2020), f = silu for `'swiglu'`, the exact gelu
   * for `'geglu'` and its tanh form for `'geglu_tanh'`:
   *
   *     dx = dY y f'(x),   dy = dY f(x)
   *
   * All arrays have one shape. |dx - exact| is at most the bound of `activationBackward` times |y|, plus 2 u |dx|;
   * |dy - exact| <= u |dY f(x)| (24 + x^2 / 2), of `'geglu_tanh'` u |dY f(x)| (10 + 8 |g|) with g of `gelu`.
   *
   * @throws {@link QkvError} as `activationBackward`
   */
  gateBackward(dOutput: ArrayInput, x: ArrayInput, y: ArrayInput, kind: GateKind): GateGradients;

  /**
   * The gradient of {@link Qkv.rotaryEmbedding} with the same options: the rotation by the negative angle, with the same
   * attention factor. dOutput is [B, H, T, d], [B, T, H * d] or [T, H * d]. Bound and errors as there.
   *
   * @throws {@link QkvError} as `rotaryEmbedding`
   */
  rotaryEmbeddingBackward(dOutput: ArrayInput, options?: RotaryOptions): OwnedArray;

  /**
   * The gradient of {@link Qkv.embedding}, [vocabulary, dModel]: row r is the sum of dOutput over the tokens with id r,
   * added up in their order, and 0 where there are none. dOutput is [..., dModel], with one row for each id.
   * |d table - exact| <= u n sum |dY| over the n tokens of a row.
   *
   * @throws {@link QkvError} `out_of_range` for an id outside [0, vocabulary), `shape_mismatch`,
   * `invalid_argument`, `out_of_memory`, `disposed`
   */
  embeddingBackward(dOutput: ArrayInput, ids: ArrayLike<number>, vocabulary: number): OwnedArray;

  /**
   * Mean cross-entropy of rows of logits x against their targets t, and its gradient. With p = softmax(x) and q = 1 - e
   * at the target plus e / V everywhere (Szegedy et al. 2016), over the rows whose target counts:
   *
   *     loss = mean of -sum_c q_c ln p_c,   d logits = (p - q) / rows that count
   *
   * logits are [..., V], with one target for each row: a class from 0 to V - 1, or `ignoreIndex`. With
   * X = max |x - max x| of the row: |loss of a row - exact| <= u (X + 20 + 2 max |x|), and
   * |d logits - exact| <= u (p (X + 24) + 2 q) / rows that count.
   *
   * @throws {@link QkvError} `out_of_range` for a target that is no class, or a labelSmoothing outside [0, 1],
   * `shape_mismatch`, `invalid_argument`, `out_of_memory`, `disposed`
   */
  crossEntropy(
    logits: ArrayInput,
    targets: ArrayLike<number>,
    options?: CrossEntropyOptions,
  ): CrossEntropy;

  /**
   * A gated recurrent unit over a whole sequence, x [B, T, dIn] -> h of every step, [B, T, hidden] (Cho et al. 2014, with
   * the reset gate after the product, as PyTorch):
   *
   *     r = sigmoid(x W_r + b_r + h U_r + c_r)
   *     z = sigmoid(x W_z + b_z + h U_z + c_z)
   *     n = tanh(x W_n + b_n + r (h U_n + c_n))
   *     h = (1 - z) n + z h
   *
   * A step from the same h is off by at most u (|h| + 4 + S (d + 20)), d = max(dIn, hidden), S the greatest sum of
   * |x W| + |b| + |h U| + |c| of a gate.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  gru(x: ArrayInput, weights: GruWeights, options?: GruOptions): OwnedArray;

  /**
   * The gradients of `gru` through all steps (Werbos 1990), with dOutput [B, T, hidden] the gradient of h of every step.
   * The gates are computed once more from h, so memory is O(B T hidden).
   *
   * @throws {@link QkvError} as `gru`
   */
  gruBackward(
    dOutput: ArrayInput,
    x: ArrayInput,
    weights: GruWeights,
    options?: GruBackwardOptions,
  ): GruGradients;

  /** Makes a language model and what trains it; `languageModel.from(model)` begins with one. */
  readonly languageModel: LanguageModelTrainers;

  /** A model that reads one sequence and writes another, and what trains it. @throws {@link QkvError} as `languageModel` */
  seq2seq(config: Seq2SeqConfig, options?: TrainerOptions): Trainer<Seq2Seq>;
}
