import type { Failure } from '../../../domain/failure';

/** Prompts are at most so long: every token is a column of the maps. */
export const MOST_PROMPT = 64;

/** A head by its layer and its place there, both from 0. */
export type CutHead = readonly [layer: number, head: number];
/** An edge of attention: that from a key to a query, in one head. */
export type CutEdge = readonly [layer: number, head: number, query: number, key: number];

/** Where the picture of a pass is zoomed to: the whole model, one layer, or one head of it. */
export type Zoom = readonly [] | readonly [layer: number] | CutHead;

/** Two prompts, and how the pass over the first is cut. */
export interface MicroscopeAsk {
  readonly clean: string;
  readonly corrupt: string;
  /** Tokens whose logits are compared; null: the likeliest after each prompt. */
  readonly answer: number | null;
  readonly instead: number | null;
  readonly heads: readonly CutHead[];
  readonly edges: readonly CutEdge[];
  /** The token whose stream the picture of the pass follows; null: the last. */
  readonly at: number | null;
  /** The head that the picture is zoomed to; null: none. */
  readonly head: CutHead | null;
}

/** A token that may follow the clean prompt. */
export interface Choice {
  readonly id: number;
  readonly label: string;
  readonly probability: number;
}

export interface Prompt {
  readonly ids: readonly number[];
  readonly labels: readonly string[];
  /** What of the text the model does not know. */
  readonly unknown: readonly string[];
}

/** Why two prompts are not compared. */
export type Problem = 'empty' | 'long' | 'lengths' | 'same';

/** Two prompts as the model reads them. The measure is the logit of `answer` less that of `instead` after the last token. */
export interface Prompts {
  readonly clean: Prompt;
  readonly corrupt: Prompt;
  readonly problem: Problem | null;
  /** The likeliest tokens after either prompt, those of the clean one first. */
  readonly choices: readonly Choice[];
  /** Null without a token. */
  readonly answer: Choice | null;
  readonly instead: Choice | null;
  /** Of each prompt. */
  readonly measures: readonly [clean: number, corrupt: number];
}

export type Part = 'embed' | 'head' | 'attentionBias' | 'cross' | 'feedForward' | 'bias';

/** What a part of the stream gives to the measure. */
export interface Share {
  readonly part: Part;
  readonly layer: number | null;
  readonly head: number | null;
  readonly value: number;
}

/** A part of the stream, and how long the vector is that it adds at one token; null: the package does not tell. */
export interface Added extends Share {
  readonly norm: number | null;
}

/** One layer of a pass, seen from one token. */
export interface PassLayer {
  /** What is added, in the order of the model: the heads first. */
  readonly parts: readonly Added[];
  /** Length of what all heads add together, biases included. */
  readonly attention: number;
  /** Length of the stream after the layer, of every token. */
  readonly streams: Float32Array;
  /** [H, T]: what the token reads in each head. */
  readonly weights: Float32Array;
}

/** What one head computes: its weights, [T, T], and its vectors at one token. */
export interface HeadPass {
  readonly head: CutHead;
  readonly map: Float32Array;
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  readonly z: Float32Array;
}

/** The pass over the clean prompt, with the cuts that there are, seen from one token: what it adds up to, and what may follow. */
export interface WholePass {
  readonly at: number;
  readonly labels: readonly string[];
  /** Length of the stream before the first layer, of every token, and what it gives. */
  readonly embed: { readonly streams: Float32Array; readonly value: number };
  readonly layers: readonly PassLayer[];
  /** What the biases of norms and of the last product give. */
  readonly bias: number;
  /** Length of the token's vector after the last norm. */
  readonly final: number;
  /** The measure after this token: the sum of what all parts give. */
  readonly total: number;
  readonly next: readonly Choice[];
  readonly head: HeadPass | null;
}

/** The measure of the clean prompt, with the cuts that there are, as a sum. */
export interface Shares {
  readonly parts: readonly Share[];
  readonly total: number;
}

/** The likeliest next tokens of the clean prompt with and without the cuts. */
export interface CutResult {
  readonly heads: readonly CutHead[];
  readonly edges: readonly CutEdge[];
  readonly rows: readonly {
    readonly id: number;
    readonly label: string;
    readonly before: number;
    readonly after: number;
  }[];
}

export const MAP_SITES = ['residual', 'attention', 'feedForward', 'z'] as const;
export type MapSite = (typeof MAP_SITES)[number];

/** What restoring one activation does: 0 as the corrupt pass, 1 as the clean one. Columns are tokens, of 'z' heads. */
export interface CauseMap {
  readonly site: MapSite;
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

/** Maps of a pair of prompts, as far as they are computed. */
export interface Maps {
  readonly maps: readonly CauseMap[];
  /** Patched passes. */
  readonly done: number;
  readonly of: number;
  readonly running: boolean;
}

/** What is known of the latest ask. */
export interface Microscope {
  readonly prompts: Prompts | null;
  readonly shares: Shares | null;
  readonly cut: CutResult | null;
  readonly pass: WholePass | null;
  readonly maps: Maps | null;
  /** What could not be computed. */
  readonly failure: Failure | null;
}

export const NO_MICROSCOPE: Microscope = {
  ...{ prompts: null, shares: null, cut: null, pass: null, maps: null, failure: null },
};

export type ToMicroscope =
  | { readonly kind: 'microscope'; readonly ask: MicroscopeAsk }
  | { readonly kind: 'maps' }
  | { readonly kind: 'stop-maps' };
