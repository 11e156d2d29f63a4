// The difference of two logits of a trainer's model, and its gradients by activations.

import type { Activations, Read, Site, Sweep, SweepOptions } from './inspect-types.js';

export type { Activations, Read, ShapeAt, Site, Sweep } from './inspect-types.js';

/** Places with gradients: those that a trainer keeps of a pass. */
export type GradientSite = Exclude<Site, 'scores' | 'weights' | 'heads' | 'cross'>;

/** What to read of a pass, with its gradients. */
export interface GradientRead extends Read {
  /** The place. Each of a layer once. */
  site: GradientSite;
}

/** Options of {@link LogitModel.gradients}. */
export interface GradientsOptions {
  /** The token whose logit counts. */
  answer: number;
  /** The token whose logit is subtracted. Default none. */
  instead?: number | undefined;
  /** The token after which they stand. Default the last. */
  row?: number | undefined;
  /** The places. */
  read: readonly GradientRead[];
}

/** A difference of logits, and how it changes with activations. */
export interface LogitGradients<Sites extends Site = GradientSite> {
  /** The logit of `answer` less that of `instead`. */
  value: number;
  /** What is at each place, x. */
  activations: Activations<Sites>;
  /** d value / d x, of the shapes of x. */
  gradients: Activations<Sites>;
}

/** Options of {@link LogitModel.attributionPatching}: those of `sweep` of `qkv/models`. */
export interface AttributionPatchingOptions {
  /** The tokens of the prompt whose activations would be restored. */
  clean: ArrayLike<number>;
  /** The tokens of the prompt into whose pass they would be put, as many. */
  corrupt: ArrayLike<number>;
  /** The measure is the logit of this token, */
  answer: number;
  /** less the logit of this one, at the last token. */
  instead: number;
  /**
   * What would be restored, and what the grid has: `'residual'` (the stream after a layer), `'attention'` and `'feedForward'`
   * [layer][token]; `'z'` [layer][head], at all tokens.
   */
  site: Exclude<SweepOptions['site'], 'neurons'>;
}

/** What asks a model for gradients by activations. */
export interface LogitModel {
  /**
   * The difference of two logits of the token after one, and its gradients by activations of the same pass, by one pass there and
   * back, without dropout. ids are one row of tokens. Gradients of parameters stay those of the last step.
   *
   * @throws {@link QkvError} as `forward`, `unsupported` for a place that the model lacks
   */
  gradients<R extends readonly GradientRead[]>(
    ids: ArrayLike<number>,
    options: GradientsOptions & { read: R },
  ): LogitGradients<R[number]['site']>;
  /**
   * What a `sweep` of `qkv/models` would measure with these weights, estimated ("attribution patching", Nanda 2023): with activations x of
   * the corrupt pass, x' of the clean one and m the measure, each number of the grid is
   *
   *     sum (x' - x) d m / d x  /  (m' - m)          over the numbers that the sweep would restore
   *
   * It is what a patch does to first order, for all patches by a pass of each prompt and one back.
   *
   * @throws {@link QkvError} as `gradients`, `invalid_argument` (also where both passes have the same measure), `shape_mismatch` for prompts
   * of different lengths
   */
  attributionPatching(options: AttributionPatchingOptions): Sweep;
}
