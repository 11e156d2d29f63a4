// Tokens one after another, and what is known of them all.

import type { TokenProbability } from './sampling-types.js';

/**
 * Why a generation ended: a token or text that ends it came (`'stop'`), `maxTokens` came (`'length'`), the session or model has no
 * room for more (`'room'`), or its signal, an error or the caller ended it before (`'aborted'`).
 */
export type FinishReason = 'stop' | 'length' | 'room' | 'aborted';

/** A token that was likely, too. */
export interface Alternative extends TokenProbability {
  /** What it would have added to the text, by itself; empty without a tokenizer. */
  text: string;
}

/** The tokens of one generation, for one loop. */
export interface Generation<T> extends AsyncGenerator<T, void, undefined> {
  /** As given, or as drawn for this generation: with it the same call gives the same tokens. */
  readonly seed: number;
  /** Why it ended; undefined before. */
  readonly finishReason: FinishReason | undefined;
  /** Reads all tokens that are to come and returns their text. @throws as the loop does */
  text(): Promise<string>;
}

/** The tokens of several generations, for one loop. */
export interface Generations<T> extends AsyncGenerator<T, void, undefined> {
  /** Of each generation, as {@link Generation.seed}. */
  readonly seeds: readonly number[];
  /** Why each has ended; undefined before. */
  readonly finishReasons: readonly (FinishReason | undefined)[];
  /** Reads all tokens that are to come and returns the text of each generation. @throws as the loop does */
  texts(): Promise<string[]>;
}

/** An answer of beam search. */
export interface Beam {
  /** Its tokens, with the one that ends it. */
  readonly ids: Int32Array;
  /** Its text; empty without a tokenizer. */
  readonly text: string;
  /** ln of its probability after the prompt, by the logits themselves. */
  readonly logProbability: number;
  /** By which answers are ordered: the higher the better. */
  readonly score: number;
  /** Why it ended. */
  readonly finishReason: FinishReason;
}
