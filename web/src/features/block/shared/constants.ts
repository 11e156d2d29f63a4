import type { Source } from '../../../domain/sources';
import type { LayerPlace } from '../../../domain/layer_place';

/** What can be looked at on the way through a block. The order is that of pre-norm. */
export const TAPS = [
  'input',
  'norm1',
  'weights',
  'concat',
  'attention',
  'sum1',
  'norm2',
  'hidden',
  'forward',
  'sum2',
] as const;
export type TapId = (typeof TAPS)[number];

/** The two places of the norms: before what they feed, or after each sum. */
export const NORM_PLACES = ['pre', 'post'] as const;
export type NormPlace = (typeof NORM_PLACES)[number];

export const NORM_TYPES = ['layer', 'rms'] as const;
export type NormType = (typeof NORM_TYPES)[number];

/** How a stack of blocks is initialised; see deep_stack.ts. */
export const RULES = ['glorot', 'scaled'] as const;
export type Rule = (typeof RULES)[number];

/** The order in which a token passes the taps. */
export const PATHS: Readonly<Record<NormPlace, readonly TapId[]>> = {
  pre: TAPS,
  post: [
    ...['input', 'weights', 'concat', 'attention', 'sum1', 'norm1'],
    ...['hidden', 'forward', 'sum2', 'norm2'],
  ] as TapId[],
};

/** What the package reads of a layer of a trained model: not what comes out of its norms. */
export const LEARNED_PATH = TAPS.filter((id): id is LayerPlace => id !== 'norm1' && id !== 'norm2');

/** The stream itself, which sub-layers read and add to; the last of a path is the output. */
export const STREAM: Readonly<Record<NormPlace, readonly TapId[]>> = {
  pre: ['input', 'sum1', 'sum2'],
  post: ['input', 'sum1', 'norm1', 'sum2', 'norm2'],
};

/** Of longer texts a block reads the first tokens. */
export const MAX_BLOCK_TOKENS = 64;
/** Width inside the feed-forward layer, as a multiple of the width of a token. */
export const WIDER = 4;
/** What norms add to the mean square before the root. */
export const EPSILON = 1e-5;
export const MAX_DEPTH = 24;

/** Whether the layer of this source is one that a block is built around: the reader's numbers have no tokens, a trained model has blocks of its own. */
export const hasBlock = (source: Source): source is 'constructed' | 'random' =>
  source === 'constructed' || source === 'random';
/** Stacks of different seeds, from the chosen one on: one alone would say little about the rule. */
export const STACKS = 5;
/** Random directions of the output whose gradients are averaged. */
export const PROBES = 8;

/** How long a worker of the panel works before it looks for another request, in milliseconds. */
export const SLICE = 30;
