import type { Failure } from '../../../domain/failure';

/** Prompts are at most so long: every token is a column of the maps. */
export const MOST_PROMPT = 64;

/** A head by its layer and its place there, both from 0. */
export type CutHead = readonly [layer: number, head: number];
/** An edge of attention: that from a key to a query, in one head. */
export type CutEdge = readonly [layer: number, head: number, query: number, key: number];

/** Two prompts, and how the pass over the first is cut. */
export interface MicroscopeAsk {
  readonly clean: string;
  readonly corrupt: string;
  /** Tokens whose logits are compared; null: the likeliest after each prompt. */
  readonly answer: number | null;
  readonly instead: number | null;
  readonly heads: readonly CutHead[];
  readonly edges: readonly CutEdge[];
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
  readonly maps: Maps | null;
  /** What could not be computed. */
  readonly failure: Failure | null;
}

export const NO_MICROSCOPE: Microscope = {
  ...{ prompts: null, shares: null, cut: null, maps: null, failure: null },
};

export type ToMicroscope =
  | { readonly kind: 'microscope'; readonly ask: MicroscopeAsk }
  | { readonly kind: 'maps' }
  | { readonly kind: 'stop-maps' };
