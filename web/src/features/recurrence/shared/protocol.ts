import type { Tally } from './accuracy';
import type { Kind } from './model_configs';
import type { Timing } from './timing_settings';

/** Where the weights come from: trained by this page, or before, by the recipe. */
export type Origin = 'here' | 'before';

/** How far a model is. Loss and accuracy are of the latest batch, of tokens that follow right ones. */
export interface Learner {
  readonly parameters: number;
  readonly steps: number;
  readonly loss: number;
  readonly accuracy: number;
  /** Of a step. */
  readonly milliseconds: number;
}

/** What a model said, up to its end, and the weights with which it read the source, [heads, rows, S]. */
export interface Said {
  readonly ids: readonly number[];
  readonly heads: number;
  readonly rows: number;
  readonly weights: Float32Array;
}

/** Weights as files, the seed of the run that made them, and its steps. */
export interface Trained {
  readonly files: Readonly<Record<Kind, Uint8Array>>;
  readonly seed: number;
  readonly steps: number;
}

/** What the panel asks for. */
export type Order =
  | { readonly type: 'begin'; readonly seed: number; readonly running: boolean }
  | { readonly type: 'play' | 'pause' | 'step' | 'measure' }
  | ({ readonly type: 'load' } & Trained)
  | { readonly type: 'source'; readonly source: readonly number[] };

/** The answer to `begin` and `load`: what is reported before it is of the models of before. */
export interface Begun {
  readonly type: 'begun';
}

/** Which models there are now. */
export interface Progress {
  readonly type: 'progress';
  readonly origin: Origin;
  readonly seed: number;
  readonly running: boolean;
  readonly done: boolean;
  readonly learners: Readonly<Record<Kind, Learner>>;
}

/** What was counted of the weights after `steps`. */
export interface Counted {
  readonly type: 'counted';
  readonly steps: number;
  readonly tallies: Readonly<Record<Kind, readonly Tally[]>>;
}

export interface Spoken {
  readonly type: 'spoken';
  readonly steps: number;
  readonly source: readonly number[];
  readonly said: Readonly<Record<Kind, Said>>;
}

/** Norms by distance, with the initial weights where this page has had them, and now. */
export interface Reached {
  readonly type: 'reached';
  readonly steps: number;
  readonly first: Readonly<Record<Kind, Float64Array>>;
  readonly now: Readonly<Record<Kind, Float64Array>>;
}

export interface Timed {
  readonly type: 'timed';
  readonly variant: string;
  /** Of all timings, this part is done; at the end 1. */
  readonly part: number;
  /** What is known by now; null at the end, when all is known. */
  readonly timings: readonly Timing[] | null;
}

/** What is known of models and times. */
export type Finding = Progress | Counted | Spoken | Reached | Timed;
export type News = Begun | Finding;
