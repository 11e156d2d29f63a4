/// <reference lib="esnext.disposable" preserve="true" />

// The options of attention, its cache, and what it returns.
import type {
  ArrayInput,
  Integers,
  NdArray,
  NdMask,
  NewArray,
  OwnedArray,
  Tensor,
} from './array-types.js';
import type { NoOthers, Only, Said, Shape3, Shape4, Shown } from './option-types.js';

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
  readonly weights?: OwnedArray<Shape4>;
  /** `[B, Hq, rows, Tk]`: scores at the stage requested; -Infinity past the keys in use. */
  readonly logits?: OwnedArray<Shape4>;
  /**
   * `[B, Hq, Tq]`: ln of the sum of exp(score / temperature) over the allowed keys, and of the sink;
   * -Infinity for a row without keys.
   */
  readonly lse?: OwnedArray<Shape3>;
  /**
   * `[B, Hq, Tq]`: -sum_j p_j ln p_j before dropout, in nats, between 0 (one key) and ln Tk (all alike)
   * without a sink; 0 for a row without keys.
   */
  readonly entropy?: OwnedArray<Shape3>;
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
   * A copy of the keys in the cache, [B, Hkv, length, dK], bit for bit as they were appended or, in another format than `'f32'`, as they
   * were rounded.
   * @throws {@link QkvError} `disposed`, `out_of_memory`
   */
  keys(): OwnedArray<Shape4>;
  /**
   * A copy of the values in the cache, [B, Hkv, length, dV], likewise.
   * @throws {@link QkvError} `disposed`, `out_of_memory`
   */
  values(): OwnedArray<Shape4>;
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
  /** true: pairs (2i, 2i + 1), as RoFormer; false, the default: pairs (i, i + rotaryDim / 2), as GPT-NeoX and Llama. */
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

/** No key that ALiBi and dropout lack, where one of them is given. */
type NoOthersIn<Given> = Given extends Alibi | Dropout ? NoOthers<Given, Alibi & Dropout> : unknown;

/**
 * `Known`, as the constraint of a type parameter `Options` that has no key which `Known` lacks: a type parameter
 * alone would take any.
 */
export type Exactly<Options, Known> = Only<Options, Known> & {
  /** Of {@link AttentionOptions}; ALiBi without unknown keys. */
  readonly bias?: NoOthersIn<Said<Options, 'bias'>>;
  /** Of {@link AttentionOptions}, without unknown keys. */
  readonly dropout?: NoOthersIn<Said<Options, 'dropout'>>;
};

/** What stands for options that nobody gave: all names, for editors to offer, and a result that is a new array. */
export type Unsaid<Known> = Omit<Known, 'out'> & NewArray;

/** The options that ask for an array besides the output, with the value that is sure to get it. */
interface Asking {
  weights: ['returnWeights', true];
  logits: ['returnLogits', string];
  lse: ['returnLse', true];
  entropy: ['returnEntropy', true];
}

/** The arrays that a call with these options is sure to return besides the output. */
type Requested<Options> = {
  [Name in keyof Asking]: [Said<Options, Asking[Name][0]>] extends [Asking[Name][1]] ? Name : never;
}[keyof Asking];

/**
 * What `attention` or `forward` returns for options of this type. An array that was requested is there, and
 * with `out` there is no `output`. Where the type does not tell, because it says `boolean` or that `out` may be
 * given, the array may be missing.
 */
export type ResultOf<Options> = Options extends unknown
  ? Shown<
      ([Said<Options, 'out'>] extends [undefined]
        ? AttentionResult
        : undefined extends Said<Options, 'out'>
          ? Partial<AttentionResult>
          : AttentionExtras) &
        Required<Pick<AttentionExtras, Requested<Options>>>
    >
  : never;
