import type { LogitModel } from './logit-types.js';
import type { Filled, LanguageModelConfig } from './model-config.js';
import type { Layers, Passing, Said, Shape3, Shown, With } from './option-types.js';
import type { LayerReadings, Reading } from './reading-types.js';
import type { OwnedArray } from './types.js';

export type { Passing } from './option-types.js';
export type { LayerReadings } from './reading-types.js';

/** What to return of a pass of a {@link TrainedModel} besides logits. Options that are left out cost nothing. */
export interface TrainedInspect {
  /** Layers to read, counted from 0. Default all. */
  layers?: readonly number[] | undefined;
  /** Weights of attention. */
  weights?: boolean | undefined;
  /** Entropy of the rows of weights, in nats. */
  entropy?: boolean | undefined;
  /** The residual stream after each chosen layer. */
  residuals?: boolean | undefined;
  /** Queries, keys and values of each chosen layer as attention reads them: after the norms of `qkNorm` and the rotation. */
  projections?: boolean | undefined;
}

/** What a {@link TrainedModel} answers. */
export interface TrainedOutput {
  /** Logits of what follows each token, [batch, T, vocabulary], or [batch, 1, vocabulary] with `rows: 'last'`. */
  logits: OwnedArray<Shape3>;
  /** With `inspect`, by layer. */
  layers?: ReadonlyMap<number, LayerReadings>;
}

/** Options of {@link TrainedModel.forward}. */
export interface TrainedForwardOptions {
  /** Rows of ids. Default 1. */
  batch?: number | undefined;
  /** Logits after all tokens, or after the last of each row alone. Default `'all'`. */
  rows?: 'all' | 'last' | undefined;
  /** Tokens of each row that are read, [batch]; default all. */
  keyLengths?: ArrayLike<number> | undefined;
  /** The type of each token, [batch, T], of a model with `tokenTypes`; default 0. */
  tokenTypes?: ArrayLike<number> | undefined;
  /** What to read besides logits. */
  inspect?: TrainedInspect | undefined;
}

/** What {@link TrainedModel.forward} returns for options of this type: of `inspect`, what was requested is there. */
export type TrainedOutputOf<Options> = Options extends unknown
  ? Shown<With<TrainedOutput, Layers<Said<Options, 'inspect'>, LayerReadings, Reading>>>
  : never;

/** The language model of a trainer; it goes with the trainer. */
export interface TrainedModel extends LogitModel {
  /** As given, with all defaults. */
  readonly config: Filled<LanguageModelConfig>;
  /** Numbers that are trained. */
  readonly parameterCount: number;
  /**
   * Logits of the token after each, without dropout. ids are [batch, T] in row-major order.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range`, `out_of_memory`, `disposed`
   */
  forward<O extends Passing<O, TrainedForwardOptions> = TrainedForwardOptions>(
    ids: ArrayLike<number>,
    options?: O,
  ): TrainedOutputOf<O>;
  /** Mean negative log-likelihood per token in nats, over all but the first of each row, which has at least 2. @throws as `forward` */
  loss(ids: ArrayLike<number>, options?: { batch?: number | undefined }): number;
}
