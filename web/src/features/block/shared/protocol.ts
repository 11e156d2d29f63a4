import type { DepthRequest, DepthResult } from '../worker/depth_study';

/** The latest request is worked on; the one before it is given up. */
export interface ToDepthLab {
  readonly type: 'run';
  readonly request: DepthRequest;
}

export type FromDepthLab =
  /** From 0 to 1. */
  | { readonly type: 'progress'; readonly done: number }
  /** Null: there are no tokens. */
  | { readonly type: 'result'; readonly result: DepthResult | null };
