import type { Said, Shown, With } from './option-types.js';
import type { ArrayInput } from './types.js';

/** How a token is chosen from logits. The defaults choose the likeliest one. */
export interface SamplingOptions {
  /** Logits are divided by it; 0, the default, takes the likeliest token, the first of equal ones. */
  temperature?: number | undefined;
  /** Only so many of the likeliest tokens stay; 0, the default, for all. */
  topK?: number | undefined;
  /** A token stays only if the probabilities of all likelier ones add up to less than this (nucleus sampling). In (0, 1]; default 1. */
  topP?: number | undefined;
  /** Only tokens stay that are at least so likely, compared with the likeliest. In [0, 1]; default 0. */
  minP?: number | undefined;
  /** Logits of the tokens in `seen` are divided by it where positive, else multiplied. Above 0; default 1. */
  repetitionPenalty?: number | undefined;
  /** Times the number of times that a token is in `seen`, taken from its logit. Default 0. */
  frequencyPenalty?: number | undefined;
  /** Taken from the logits of the tokens in `seen`, once each. Default 0. */
  presencePenalty?: number | undefined;
  /** Of the draw: the same seed and step draw the same token from the same logits. 0 to 2^53 - 1; default 0. */
  seed?: number | undefined;
  /** Counts the draws of one seed. 0 to 2^53 - 1; default 0. */
  step?: number | undefined;
  /** Tokens so far, which the penalties are for. A token may be there more than once. */
  seen?: ArrayLike<number> | undefined;
  /** What is added to the logits of tokens, by their numbers; with `-Infinity` a token is never chosen. */
  logitBias?: Readonly<Record<number, number>> | undefined;
  /**
   * The tokens that may be chosen, a bit for each: token i may be if bit i % 32 of word i / 32 is set. `ceil(vocabulary / 32)` words.
   * Default all.
   */
  allowed?: Uint32Array | undefined;
  /** How many of the likeliest tokens to return besides, at most the vocabulary. Default 0. */
  topLogprobs?: number | undefined;
}

/** A token and how likely it is. */
export interface TokenProbability {
  /** Which one. */
  id: number;
  /** ln of its probability by the logits as they were given, before bias, penalties, temperature and selection. */
  logProbability: number;
}

/** What {@link sample} chooses. */
export interface SampledToken extends TokenProbability {
  /** With `topLogprobs`: the likeliest tokens by the logits as they were given, the likeliest first, of equals the first. */
  topLogprobs?: readonly TokenProbability[];
}

/** What {@link sample} returns for options of this type: `topLogprobs` is there if a number of them is requested. */
export type SampledOf<Options> = Options extends unknown
  ? Shown<
      With<
        SampledToken,
        [Said<Options, 'topLogprobs'>] extends [number]
          ? Required<Pick<SampledToken, 'topLogprobs'>>
          : unknown
      >
    >
  : never;

/** The logits of one token: [vocabulary], or with axes of 1 before, as `rows: 'last'` of `forward` gives them. */
export type TokenLogits = Float32Array | ArrayInput;
