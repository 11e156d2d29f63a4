// What a pass keeps of a layer, of a model that runs and of one that is trained.

import type { Shape3, Shape4 } from './option-types.js';
import type { OwnedArray } from './types.js';

/** What was read of a layer. Tk is the tokens that the session then holds, or T without one; rows are those of the option `rows`, or T. */
export interface LayerReadings {
  /** [batch, numHeads, rows, Tk] */
  weights?: OwnedArray<Shape4>;
  /** [batch, numHeads, T] */
  entropy?: OwnedArray<Shape3>;
  /** [batch, T, dModel] */
  residual?: OwnedArray<Shape3>;
  /** With `logitLens`, which models of `qkv/models` have: [batch, T, vocabulary]. */
  logits?: OwnedArray<Shape3>;
  /** With `projections`: queries, [batch, numHeads, rows, dK]. */
  q?: OwnedArray<Shape4>;
  /** With `projections`: keys of the tokens of this pass, [batch, numKvHeads, T, dK]. Query head h reads those of floor(h numKvHeads / numHeads). */
  k?: OwnedArray<Shape4>;
  /** With `projections`: values of the tokens of this pass, [batch, numKvHeads, T, dK]. */
  v?: OwnedArray<Shape4>;
}

/** Arrays of a layer, with the option of `inspect` that is sure to get each. */
export interface Reading {
  weights: 'weights';
  entropy: 'entropy';
  residual: 'residuals';
  logits: 'logitLens';
  q: 'projections';
  k: 'projections';
  v: 'projections';
}
