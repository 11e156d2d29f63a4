import type { Show } from '../domain/choices';
import type { Check } from '../domain/check';
import type { LayerRequest } from '../domain/layer';
import type { EngineInfo } from 'qkv';
import type { LabScores } from './limits';
import type { MasksRequest, MasksResult } from './masks';
import type { PaintPalette } from './paint';
import type { PairLayout } from './pairs';
import type { PositionsRequest, PositionsResult } from './positions';
import type { RowRequest, RowSteps } from './row';
import type { Pixels, Size } from './surface';
import type { TemperaturePoint, TemperatureStudy } from './temperature';
import type { WidthStudy } from './widths';

/** What of it is on the screen. */
export interface ViewRequest {
  readonly head: number;
  readonly other: number | null;
  readonly show: Show;
  /** The selected query, and the row and column under the crosshair; -1 without tokens. */
  readonly query: number;
  readonly told: number;
  /** Whether the page wants all weights of the shown head, as far as they are few. */
  readonly matrix: boolean;
  /** Whether a hand is on the temperature: of many tokens, some rows then stand for all, until it rests. */
  readonly dragging: boolean;
}

export interface FrameRequest {
  readonly layer: LayerRequest;
  readonly view: ViewRequest;
  readonly shift: number;
  /** Null while the panel is not on the screen. */
  readonly row: RowRequest | null;
  readonly studies: StudyRequests;
  /** The same; `layout` is that of the encoding and of what turns its pairs. */
  readonly masks: MasksRequest | null;
  readonly positions: PositionsRequest | null;
  readonly layout: PairLayout;
  /** The canvases on the screen, by name, with their sizes. */
  readonly surfaces: Readonly<Record<string, Size>>;
  readonly ratio: number;
}

/** What panels that are on the screen have worked out besides the frames. */
export interface StudyRequests {
  /** The scores that are studied at all temperatures; null: none. */
  readonly temperature: LabScores | null;
  /** The sample of random queries and keys; null: none. */
  readonly widths: number | null;
}

/** The latest of what came of it; null: nothing yet. */
export interface Studies {
  readonly temperature: TemperatureStudy | null;
  readonly widths: WidthStudy | null;
}

/** One row of the shown head. */
export interface RowData {
  readonly row: number;
  /** [T] */
  readonly weights: Float32Array;
  /** [T], before the temperature; -Infinity where masked. */
  readonly scores: Float32Array;
  readonly entropy: number;
  readonly lse: number;
  /** The key that weighs most. */
  readonly largest: number;
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

/** The answer that is waited for: what is on the screen, and no more. */
export interface Frame {
  readonly id: number;
  readonly request: FrameRequest;
  readonly numHeads: number;
  readonly query: RowData | null;
  readonly told: RowData | null;
  /** The same rows of the other head, while two heads are compared. */
  readonly otherTold: RowData | null;
  /** Size of the ends of the colour scale, when it is signed. */
  readonly range: number;
  /** Every so many rows of the map were computed; the last of each group stands for the others. */
  readonly step: number;
  /** [T, T] of the shown head (less the other one), when asked for and not too large. */
  readonly matrix: Float32Array | null;
  readonly encoding: {
    readonly data: Float32Array;
    readonly length: number;
    readonly layout: PairLayout;
  };
  readonly shift: ShiftCheck;
  readonly row: RowSteps | null;
  /** The studied scores at this temperature. */
  readonly temperature: TemperaturePoint | null;
  readonly masks: MasksResult | null;
  readonly positions: PositionsResult | null;
  readonly info: EngineInfo;
  /** The stages that had to run again for this frame; the others kept their results. */
  readonly ran: readonly string[];
  /** From the request's arrival to its pixels, in milliseconds. */
  readonly time: number;
}

/** What is new in a frame; the rest is as in the frame before, and is not copied again. */
export type FrameNews = Partial<Frame>;

/** What a head does, as means over its rows; see headStatistics of the package. */
export interface HeadNumbers {
  readonly entropy: number;
  readonly distance: number;
  readonly first: number;
  readonly largest: number;
}

export interface Timing {
  /** Median time of one forward call of the whole layer, in milliseconds. */
  readonly median: number;
  /** How many measurements the median is taken over. */
  readonly samples: number;
  /** Calls averaged in the latest measurement: more than one where the clock is coarse. */
  readonly calls: number;
  /** Smallest step of the clock that was seen, in milliseconds. */
  readonly tick: number;
}

/** What follows a frame when the worker has time: nobody waits for it. */
export interface Report {
  /** The frame it is about. */
  readonly id: number;
  readonly heads: readonly HeadNumbers[];
  /** Null until it is known. `heads` says how many were checked: of many tokens only the shown one. */
  readonly check: (Check & { readonly heads: number }) | null;
  readonly timing: Timing | null;
  readonly memory: { readonly heapBytes: number; readonly usedBytes: number };
}

/** Everything the pixels were made of, for exports and tests. */
export interface Tensors {
  readonly request: FrameRequest;
  /** [T, D_MODEL]; empty for the source `yours`. */
  readonly x: Float32Array;
  readonly wq: Float32Array;
  readonly wk: Float32Array;
  readonly bq: Float32Array;
  /** Of every head: [T, T], [T, T] and [T]. */
  readonly heads: readonly {
    readonly weights: Float32Array;
    readonly scores: Float32Array;
    readonly entropy: Float32Array;
  }[];
  /** [T, D_MODEL] */
  readonly output: Float32Array;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export type ToWorker =
  | { readonly type: 'start' }
  | { readonly type: 'surface'; readonly name: string; readonly canvas: OffscreenCanvas | null }
  | { readonly type: 'palette'; readonly palette: PaintPalette }
  | { readonly type: 'run'; readonly id: number; readonly request: FrameRequest }
  | { readonly type: 'tensors' };

export type FromWorker =
  | { readonly type: 'ready'; readonly info: EngineInfo }
  | {
      readonly type: 'frame';
      readonly news: FrameNews;
      readonly pixels: Readonly<Record<string, Pixels>>;
    }
  | {
      readonly type: 'report';
      readonly report: Report;
      readonly pixels: Readonly<Record<string, Pixels>>;
    }
  | { readonly type: 'studies'; readonly news: Partial<Studies> }
  | { readonly type: 'tensors'; readonly tensors: Tensors }
  /** All that follows from this request has been said: no work is left. */
  | { readonly type: 'rest'; readonly id: number }
  | { readonly type: 'load-failed'; readonly failure: Failure }
  | { readonly type: 'run-failed'; readonly id: number; readonly failure: Failure };
