import type { Language } from '../../../i18n/i18n';
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

/** Of the model that writes dates: heads of each attention, steps of training, dates that test it. */
export const [DATE_HEADS, DATE_STEPS, DATES_TESTED] = [2, 1200, 200];

/** A model is trained, and then reads. */
export type ToDatesLab =
  | { readonly type: 'train'; readonly language: Language }
  | { readonly type: 'read'; readonly tokens: readonly number[] };

export type FromDatesLab =
  | { readonly type: 'training'; readonly step: number }
  /** How many of the dates that test it are right. */
  | { readonly type: 'trained'; readonly right: number }
  | { readonly type: 'reading'; readonly reading: DateReading };

export interface DateReading {
  /** What was read, and what is written of it, without its end. */
  readonly tokens: readonly number[];
  readonly ids: readonly number[];
  /** Cross-attention, [heads, rows, tokens]: a row for each token that is written, and one for the end if it comes. */
  readonly rows: number;
  readonly weights: Float32Array;
}
