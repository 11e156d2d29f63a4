import type { Qkv } from 'qkv';
import type { LayerRequest } from '../domain/layer';
import type { ExactHead } from './exact_head';
import type { Head, Inputs, Layer } from './heads';
import type { Model } from '../domain/model';

/** The heads of a request, ready to run, with what they are made of. */
export interface Heads {
  readonly model: Model | null;
  readonly x: Float32Array;
  readonly list: readonly Head[];
  readonly inputs: Inputs | null;
  readonly count: number;
  /** What the check computes a head of; by default of the model, or of the reader's numbers. */
  readonly exact?: (head: number) => ExactHead;
}

export interface HeadResult {
  readonly weights: Float32Array;
  /** Only where scores are shown. */
  readonly scores: Float32Array | null;
  readonly entropy: Float32Array;
}

/** Where the heads of a loaded model come from; null: they are those of another model. */
export interface ModelOfHeads {
  heads(text: NonNullable<LayerRequest['trained']>): Heads | null;
}

/** What computes one head of a request. */
export interface HeadRunner {
  readonly qkv: Qkv;
  result(heads: Heads, head: number, layer: Layer, scores: boolean): HeadResult;
}
