import type { LayerRequest } from '../../../domain/layer';
import type { NormPlace, Rule, NormType } from './constants';
import type { AttentionOptions } from 'qkv';

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

export interface DepthRequest extends Pick<StackOptions, 'type' | 'depth' | 'seed' | 'rule'> {
  readonly layer: LayerRequest;
}

/** One number for each depth: of the stacks the geometric mean, the least and the greatest. */
export interface Band {
  readonly middle: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
}

export interface DepthResult {
  readonly request: DepthRequest;
  readonly curves: Readonly<Record<NormPlace, { readonly stream: Band; readonly gradient: Band }>>;
}

export interface StackOptions {
  readonly place: NormPlace;
  readonly type: NormType;
  readonly depth: number;
  readonly seed: number;
  readonly rule: Rule;
  readonly attention: Pick<AttentionOptions, 'causal' | 'window' | 'temperature'>;
}
