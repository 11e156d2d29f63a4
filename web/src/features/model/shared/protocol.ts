import type { Failure } from '../../../domain/failure';
import type { Microscope, ToMicroscope } from '../../microscope/shared/protocol';
import type { ShippedName } from './shipped_models';

/** Of one text the page reads no more tokens than this, nor than the model takes. */
export const MOST_TOKENS = 256;
/** Bars of the next token that are shown. */
export const MOST_BARS = 10;

/** Where the bytes of a model are. */
export type ModelFiles =
  | { readonly kind: 'address'; readonly name: ShippedName; readonly url: string }
  /** One file of the reader's on a server that lets other pages read it. */
  | { readonly kind: 'web'; readonly url: string }
  | { readonly kind: 'files'; readonly files: readonly File[] };

/** The files of addresses that are kept in this browser. */
export interface KeptFiles {
  readonly files: readonly {
    readonly address: string;
    readonly bytes: number;
    /** Whether all of it has come. */
    readonly isWhole: boolean;
  }[];
  /** Why the latest was not kept. */
  readonly problem: string | null;
}

/** What a file of an address is called: the last part of its path. */
export function fileOfAddress(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  return path.split('/').filter(Boolean).at(-1) ?? url;
}

export type TokenizerKind = 'characters' | 'pieces' | 'file' | 'none';

/** Why the heads of a model are not drawn by the other panels. */
export type NotDrawn = 'alibi' | 'softcap' | 'window';

/** What a loaded model is. */
export interface ModelInfo {
  /** Another number for every load. */
  readonly id: number;
  /** Null: a file of the reader. */
  readonly name: ShippedName | null;
  readonly file: string;
  readonly fileBytes: number;
  /** Of the weights in memory. */
  readonly bytes: number;
  /** From the press to the loaded model, in milliseconds. */
  readonly time: number;
  readonly family: string;
  readonly parameters: number;
  /** Numbers of the file by their type, those of most numbers first; empty where the page does not read the header. */
  readonly types: readonly (readonly [type: string, count: number])[];
  /** How matrices are kept in memory. */
  readonly format: string;
  readonly vocabulary: number;
  readonly maxLength: number;
  readonly numLayers: number;
  readonly numHeads: number;
  readonly dModel: number;
  readonly dK: number;
  readonly positions: string;
  readonly causal: boolean;
  /** Whether it says what follows. */
  readonly speaks: boolean;
  readonly tokenizer: TokenizerKind;
  /** The name of a tokenizer that came along and that the page does not read. */
  readonly unread: string | null;
  readonly notDrawn: NotDrawn | null;
}

/** A head by its layer and its place there, both from 0. */
export type HeadName = readonly [layer: number, head: number];

export interface Sampling {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
}

/** What the panel shows of a model: everything follows from this. */
export interface ModelAsk {
  readonly text: string;
  /** Tokens that are read, the text repeated or cut; null: as many as it has. */
  readonly length: number | null;
  /** The token after which the next one is shown; null: the last. */
  readonly at: number | null;
  readonly sampling: Sampling;
  readonly ablated: readonly HeadName[];
  /** The token whose neighbours are shown; null: the one at `at`. */
  readonly near: number | null;
  /** The head whose whole map is shown; null: the first. */
  readonly head: HeadName | null;
  /** Whether weights are shown times the length of what they bring. */
  readonly brought: boolean;
}

/** A text as the model reads it. */
export interface Reading {
  /** Another number for every other text. */
  readonly id: number;
  readonly text: string;
  readonly length: number | null;
  readonly ids: readonly number[];
  /** What is written of each. */
  readonly labels: readonly string[];
  /** Tokens of the text before it was cut or repeated. */
  readonly total: number;
  /** Characters of the text that the model does not know: they were left out. */
  readonly unknown: readonly string[];
  /** -ln of the probability that the model gave to each token, in nats; NaN of the first. */
  readonly surprisal: Float32Array;
}

/** Of every head, layer by layer; each in [0, 1]. */
export interface HeadScores {
  readonly numHeads: number;
  readonly previous: Float32Array;
  readonly first: Float32Array;
  readonly induction: Float32Array;
  /** Random tokens that are read twice for `induction`. */
  readonly repeated: number;
  /** Largest |difference| of weights from the model's own pass and from q and k by the core's attention. */
  readonly difference: number;
}

export interface Losses {
  readonly whole: number;
  /** Without the heads that are taken out; null: none is. */
  readonly ablated: number | null;
  readonly heads: readonly HeadName[];
}

/** A token that may follow, and its probability after each step of the selection; null where it was dropped. */
export interface NextBar {
  readonly id: number;
  readonly label: string;
  readonly temperature: number;
  readonly topK: number | null;
  readonly topP: number | null;
}

export interface NextToken {
  readonly at: number;
  /** What stands before, and the token that follows in the text, if there is one. */
  readonly label: string;
  readonly actual: { readonly id: number; readonly label: string; readonly p: number } | null;
  readonly bars: readonly NextBar[];
  /** Tokens that are left after each selection. */
  readonly keptK: number;
  readonly keptP: number;
  readonly entropy: number;
  readonly vocabulary: number;
  /** What the ablated heads change: the likeliest token with all heads, and its probabilities with and without them. */
  readonly cut: {
    readonly heads: readonly HeadName[];
    readonly label: string;
    readonly whole: number;
    readonly cut: number;
  } | null;
}

/** What the stack would say if it ended after each layer. */
export interface Lens {
  readonly at: number;
  readonly layers: readonly {
    readonly tokens: readonly { readonly id: number; readonly label: string; readonly p: number }[];
    /** Of the token that the whole model finds likeliest. */
    readonly last: number;
  }[];
}

/** The likeliest token after each layer at every token of the text, with all heads. */
export interface LensGrid {
  /** [layer][token] */
  readonly layers: readonly (readonly {
    readonly id: number;
    readonly label: string;
    readonly p: number;
  }[])[];
}

/** What one query reads in every head, and the whole map of one head. */
export interface TokenReads {
  readonly at: number;
  readonly head: HeadName;
  /** Whether these are weights times the length of what they bring; else they are weights. */
  readonly brought: boolean;
  readonly numHeads: number;
  /** Keys that the query may read, the first so many of the text. */
  readonly keys: number;
  /** [numLayers * numHeads, keys] */
  readonly rows: Float32Array;
  /** [T, T] */
  readonly map: Float32Array;
  /** What is written of each token. */
  readonly labels: readonly string[];
  /** What has the brightest colour in `rows` and in `map`: of weights 1, else the largest number. */
  readonly most: number;
  readonly mapMost: number;
}

/** The learned embeddings on the plane of their two largest principal components. */
export interface Plane {
  /** [n, 2] */
  readonly points: Float32Array;
  readonly labels: readonly string[];
  /** Parts of the variance along each axis. */
  readonly shares: readonly [number, number];
  readonly width: number;
}

export interface Near {
  readonly id: number;
  readonly label: string;
  readonly tokens: readonly {
    readonly id: number;
    readonly label: string;
    readonly cosine: number;
  }[];
}

/** How much of each token is in one of them after all layers: a row of attention rollout. */
export interface Rollout {
  readonly at: number;
  readonly label: string;
  /** The largest shares, the largest first; `last`: the mean weight of the last layer's heads. */
  readonly sources: readonly {
    readonly place: number;
    readonly label: string;
    readonly share: number;
    readonly last: number;
  }[];
  /** The token's share of itself, and what all that are not listed share. */
  readonly own: number;
  readonly rest: number;
}

/** Everything that follows from an ask; what is new is reported as it is known. Null: nothing follows. */
export interface Answers {
  readonly reading: Reading;
  readonly scores: HeadScores | null;
  readonly losses: Losses | null;
  readonly next: NextToken | null;
  readonly lens: Lens | null;
  readonly rollout: Rollout | null;
  readonly grid: LensGrid | null;
  readonly reads: TokenReads | null;
  readonly plane: Plane | null;
  readonly near: Near | null;
}

export interface Generated {
  /** The text that is written on, and what was written so far. */
  readonly before: string;
  readonly text: string;
  readonly tokens: number;
  /** Tokens in the cache, the most it can hold, and the bytes of one. */
  readonly cached: number;
  readonly capacity: number;
  readonly bytesPerToken: number;
  /** Median of the time of a token so far, in milliseconds. */
  readonly median: number;
  readonly running: boolean;
  readonly seed: number;
}

/** Time of one token behind so many others, in milliseconds. */
export interface SpeedPoint {
  readonly length: number;
  readonly cached: number;
  readonly whole: number;
}

export interface Speed {
  readonly points: readonly SpeedPoint[];
  /** Largest |difference| of the logits of both ways. */
  readonly difference: number;
  readonly running: boolean;
}

/** What the loss of the shown text changes by without each head. */
export interface HeadChanges {
  readonly reading: number;
  /** [numLayers * numHeads]; NaN: not yet. */
  readonly changes: Float32Array;
  readonly running: boolean;
}

/** A word in two texts. */
export interface ContextsAsk {
  readonly word: string;
  readonly texts: readonly [string, string];
}

/** What becomes of the vector of a word in two contexts; the token is the last one of the word, which has read all of it. */
export interface Contexts {
  readonly ask: ContextsAsk;
  /** What is written of the token in each text; null where the text does not have the word, or has characters that the model does not know. */
  readonly labels: readonly [string | null, string | null];
  /** The cosine of both: of their rows of the table, then after each layer; empty where there is nothing to compare. */
  readonly cosines: readonly number[];
}

export type ToModel =
  | ToMicroscope
  | { readonly kind: 'load'; readonly files: ModelFiles }
  /** Asks for the files that are kept in this browser. */
  | { readonly kind: 'list_kept' }
  | { readonly kind: 'remove_kept'; readonly address: string }
  | { readonly kind: 'abort' }
  | { readonly kind: 'ask'; readonly ask: ModelAsk }
  | {
      readonly kind: 'generate';
      readonly seed: number;
      readonly tokens: number;
      /** Tokens in a second; null: as fast as it goes. */
      readonly pace: number | null;
    }
  | { readonly kind: 'stop' }
  | { readonly kind: 'changes' }
  | { readonly kind: 'speed' }
  | { readonly kind: 'contexts'; readonly ask: ContextsAsk };

/** What a loaded model does on request. */
export type Work = 'answers' | 'changes' | 'speed' | 'generated' | 'contexts';

export type FromModel =
  | { readonly kind: 'progress'; readonly loaded: number; readonly total: number }
  | { readonly kind: 'loaded'; readonly info: ModelInfo }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'kept'; readonly kept: KeptFiles }
  | { readonly kind: 'answers'; readonly news: Partial<Answers> }
  /** Every answer to the latest `ask` has been sent. */
  | { readonly kind: 'answered' }
  | { readonly kind: 'generated'; readonly generated: Generated }
  | { readonly kind: 'changes'; readonly changes: HeadChanges }
  | { readonly kind: 'speed'; readonly speed: Speed }
  | { readonly kind: 'contexts'; readonly contexts: Contexts }
  | { readonly kind: 'microscope'; readonly news: Partial<Microscope> }
  /** A request to the loaded model could not be done; nothing of it is under way any more. */
  | { readonly kind: 'failed'; readonly of: Work; readonly failure: Failure };

/** For the frames: which model reads which tokens. */
export interface TrainedText {
  readonly model: number;
  readonly ids: readonly number[];
}
