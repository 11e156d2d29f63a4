import type { NdArray, Qkv } from 'qkv';
import type { LayerRequest } from '../domain/layer';
import type { LayerPlace } from '../domain/layer_place';
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
  /** Of a trained model: its whole pass, for panels that show more of it than heads. */
  readonly learned?: LearnedPass;
}

/** A token that may follow. */
export interface NextGuess {
  readonly label: string;
  readonly p: number;
}

/** What becomes of a trained model when keys are cut from all its heads. */
export interface CutPass {
  /** [T, T], 1 where a query may read a key: the mask without what the model never reads. */
  readonly mask: Uint8Array;
  /** [T, T] of the requested head, and [T]. */
  readonly weights: Float32Array;
  readonly entropy: Float32Array;
  /** The likeliest tokens after the last one, as the model is and with the keys cut; null: it does not say what follows. */
  readonly next: {
    readonly whole: readonly NextGuess[];
    /** Null: nothing is cut that the model would read. */
    readonly cut: readonly NextGuess[] | null;
  } | null;
}

/** What is at the places of one layer of a trained model; what the layer does not have is not there. */
export interface LayerPass {
  readonly layer: number;
  /** `weights` is [T, T] of the requested head; all others have a row for each token. */
  readonly places: Readonly<Partial<Record<LayerPlace, NdArray>>>;
  /** What each head of the layer adds to the stream, [T, dModel]. */
  readonly heads: readonly NdArray[];
  /** Largest |difference| of the stream after the layer and what came in with what both sub-layers add; null: a norm comes after the sums. */
  readonly difference: number | null;
}

/** Passes of a trained model over the first tokens of its text. */
export interface LearnedPass {
  readonly causal: boolean;
  /** `mask`: [count, count], 1 where a query may read a key, in every head of every layer. */
  cut(mask: Uint8Array, count: number, head: number): CutPass;
  /** The layer of this head, which counts through all layers, over the first `count` tokens. */
  layer(head: number, count: number): LayerPass;
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
