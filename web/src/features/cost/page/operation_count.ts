import type { Shape } from '../shared/shape';

/** Multiplications and additions of matrix products, one each; norms, softmax and activations are left out. */
export interface Flops {
  readonly projections: number;
  readonly scores: number;
  readonly values: number;
  readonly feedForward: number;
  readonly logits: number;
  readonly total: number;
}

/** Pairs of a query and a key that it may read. */
export function pairsOf({ tokens, causal }: Shape): number {
  return causal ? (tokens * (tokens + 1)) / 2 : tokens ** 2;
}

/** Numbers in the matrices of one layer that every token is multiplied by: W_Q and W_O, W_K and W_V, feed-forward. */
function matricesOf({ dModel, numHeads, numKvHeads, dK, dFeedForward, gated }: Shape) {
  return {
    projections: 2 * dModel * numHeads * dK + 2 * dModel * numKvHeads * dK,
    feedForward: (gated ? 3 : 2) * dModel * dFeedForward,
  };
}

function flopsOf(shape: Shape, tokens: number, pairs: number): Flops {
  const { dModel, numHeads, dK, layers, vocabulary } = shape;
  const matrices = matricesOf(shape);
  const projections = 2 * tokens * matrices.projections * layers;
  const scores = 2 * pairs * numHeads * dK * layers;
  const values = scores;
  const feedForward = 2 * tokens * matrices.feedForward * layers;
  const logits = 2 * tokens * dModel * vocabulary;
  const total = projections + scores + values + feedForward + logits;
  return { projections, scores, values, feedForward, logits, total };
}

/** Of all T tokens at once. */
export const passFlops = (shape: Shape): Flops => flopsOf(shape, shape.tokens, pairsOf(shape));

/** Of the token number T alone, with the keys and values of all before it in a cache. */
export const tokenFlops = (shape: Shape): Flops => flopsOf(shape, 1, shape.tokens);

/** Of T tokens one after the other: with a cache each is read once, without it all before it are read again. */
export function generationFlops(shape: Shape): { cached: number; again: number } {
  const { tokens } = shape;
  const one = flopsOf(shape, 1, 0).total;
  const pair = flopsOf(shape, 0, 1).total;
  const each = (tokens * (tokens + 1)) / 2; // the sum of 1 ... T
  // The sum of t^2, or of t (t + 1) / 2.
  const squares = shape.causal
    ? (tokens * (tokens + 1) * (tokens + 2)) / 6
    : (tokens * (tokens + 1) * (2 * tokens + 1)) / 6;
  return { cached: tokens * one + each * pair, again: each * one + squares * pair };
}

/** Numbers that are trained: all matrices and tables; gains, biases and learned positions are left out. */
export function parametersOf(shape: Shape): number {
  const { projections, feedForward } = matricesOf(shape);
  const { layers, vocabulary, tables, dModel } = shape;
  return layers * (projections + feedForward) + tables * vocabulary * dModel;
}

export interface Bytes {
  readonly weights: number;
  /** Keys and values of T tokens in all layers. */
  readonly cache: number;
  /** The same if every query head had keys and values of its own. */
  readonly cacheOfAll: number;
  /** T x T weights of all heads of one layer. */
  readonly square: number;
  /** What streaming keeps instead: a maximum and a sum for each row and head. */
  readonly streaming: number;
}

export function bytesOf(shape: Shape): Bytes {
  const { tokens, numHeads, numKvHeads, dK, layers, bytes } = shape;
  const cache = 2 * layers * tokens * dK * bytes;
  return {
    weights: parametersOf(shape) * bytes,
    cache: cache * numKvHeads,
    cacheOfAll: cache * numHeads,
    square: numHeads * tokens ** 2 * bytes,
    streaming: 2 * numHeads * tokens * bytes,
  };
}

/** From how many tokens on Q K^T and the sum over V take as much as everything else together. */
export function evenLength(shape: Shape): number {
  const each = flopsOf(shape, 1, 0).total;
  const pair = flopsOf(shape, 0, 1).total;
  return shape.causal ? (2 * each) / pair - 1 : each / pair;
}
