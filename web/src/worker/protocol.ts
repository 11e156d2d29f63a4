import type { FromModel, ToModel } from '../features/model/shared/protocol';
import type { EngineInfo } from 'qkv';
import type { Check } from '../domain/check_result';
import type { Failure } from '../domain/failure';
import type { LayerRequest } from '../domain/layer';
import type { ViewRequest } from '../domain/view';
import type { Pixels, Size } from '../domain/pixels';
import type { PaintPalette } from '../domain/paint_palette';
import type { RowData } from '../domain/row_data';
import type { PanelRequests, PanelResults, Studies } from '../features/computed';

/** What of the layer is on the screen, and what of the panels; see PanelRequests. */
export interface FrameRequest extends PanelRequests {
  readonly layer: LayerRequest;
  readonly view: ViewRequest;
  /** The canvases on the screen, by name, with their sizes. */
  readonly surfaces: Readonly<Record<string, Size>>;
  readonly ratio: number;
}

/** The answer that is waited for: what is on the screen, and no more. */
export interface Frame extends PanelResults {
  readonly id: number;
  readonly request: FrameRequest;
  readonly numHeads: number;
  readonly query: RowData | null;
  readonly described: RowData | null;
  /** The same rows of the other head, while two heads are compared. */
  readonly otherDescribed: RowData | null;
  /** Size of the ends of the colour scale, when it is signed. */
  readonly range: number;
  /** Every so many rows of the map were computed; the last of each group stands for the others. */
  readonly step: number;
  /** [T, T] of the shown head (less the other one), when requested and not too large. */
  readonly matrix: Float32Array | null;
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
  /** Effective rank of W_Q W_K^T; NaN where no projections are read, and where it was not requested. */
  readonly rank: number;
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
  /** Of each head that was requested: [T, T], [T, T] and [T]. */
  readonly heads: readonly {
    readonly head: number;
    readonly weights: Float32Array;
    readonly scores: Float32Array;
    readonly entropy: Float32Array;
  }[];
  /** [T, D_MODEL]; empty where only the heads that are shown were requested. */
  readonly output: Float32Array;
}

/** Of which heads tensors are wanted: all, or those that the map shows. */
export type Wanted = 'all' | 'shown';

export type ToWorker =
  | { readonly type: 'start' }
  | { readonly type: 'surface'; readonly name: string; readonly canvas: OffscreenCanvas | null }
  | { readonly type: 'palette'; readonly palette: PaintPalette }
  | { readonly type: 'run'; readonly id: number; readonly request: FrameRequest }
  | { readonly type: 'tensors'; readonly wanted: Wanted }
  | { readonly type: 'model'; readonly message: ToModel };

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
  | { readonly type: 'tensors-failed'; readonly failure: Failure }
  | { readonly type: 'model'; readonly message: FromModel }
  /** All that follows from this request has been said: no work is left. */
  | { readonly type: 'rest'; readonly id: number }
  | { readonly type: 'load-failed'; readonly failure: Failure }
  | { readonly type: 'run-failed'; readonly id: number; readonly failure: Failure };
