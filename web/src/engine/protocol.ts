import type { EngineInfo } from 'qkv';
import type { Projections } from './model';

/** What the page asks for; everything else about the layer is fixed. */
export interface LayerRequest {
  readonly tokens: readonly string[];
  readonly positions: boolean;
  readonly causal: boolean;
  readonly temperature: number;
  readonly seed: number;
  readonly shift: number;
}

/** How far the float32 results of the core are from a float64 recomputation of the same layer. */
export interface Check {
  /** Largest |difference| of an attention weight. */
  readonly weights: number;
  /** Largest |difference| of a row's entropy, in nats. */
  readonly entropy: number;
  /** Largest |sum of a row - 1|. */
  readonly rowSum: number;
}

export interface Timing {
  /** Median time of one forward call, in milliseconds. */
  readonly median: number;
  /** How many measurements the median is taken over. */
  readonly samples: number;
  /** Calls averaged in the latest measurement: more than one where the clock is coarse. */
  readonly calls: number;
  /** Smallest step of the clock that was seen, in milliseconds. */
  readonly tick: number;
}

/** PE(p + k) against M_k PE(p), for every row of the encoding. */
export interface ShiftCheck {
  readonly k: number;
  /** M_k as D_MODEL/2 blocks of 2 x 2. */
  readonly blocks: Float32Array;
  /** PE(p + k), [encoding.length, D_MODEL]. */
  readonly shifted: Float32Array;
  readonly residual: number;
}

/** One complete answer. Arrays are row-major float32 as the core returned them. */
export interface Frame {
  readonly id: number;
  readonly request: LayerRequest;
  /** [T, D_MODEL]: embeddings, with positions when they are on. */
  readonly x: Float32Array;
  readonly projections: Projections;
  /** [NUM_HEADS, T, T] */
  readonly weights: Float32Array;
  /** [NUM_HEADS, T], nats */
  readonly entropy: Float32Array;
  /** [T, D_MODEL] */
  readonly output: Float32Array;
  readonly encoding: { readonly data: Float32Array; readonly length: number };
  readonly shift: ShiftCheck;
  readonly check: Check;
  readonly timing: Timing;
  readonly memory: { readonly heapBytes: number; readonly usedBytes: number };
  readonly info: EngineInfo;
  /** The stages that had to run again for this frame; the others kept their results. */
  readonly ran: readonly string[];
}

/** What is new in a frame; the rest is as in the frame before, and is not copied again. */
export type FrameNews = Partial<Frame>;

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export type ToWorker =
  | { readonly type: 'start' }
  | { readonly type: 'run'; readonly id: number; readonly request: LayerRequest };

export type FromWorker =
  | { readonly type: 'ready'; readonly info: EngineInfo }
  | { readonly type: 'frame'; readonly news: FrameNews }
  | { readonly type: 'load-failed'; readonly failure: Failure }
  | { readonly type: 'run-failed'; readonly id: number; readonly failure: Failure };
