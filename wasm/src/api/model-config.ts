import type { RotaryOptions } from './types.js';

/**
 * How Llama 3.1 stretches positions. With r = `rotaryDim`, w_i = base^(-2i/r) and t_i = originalLength w_i / 2 pi turns: w_i where
 * t_i is above highFrequencyFactor, w_i / factor where it is below lowFrequencyFactor, and between them linear in t_i.
 */
export interface Llama3Scaling {
  /** Which way of stretching. */
  type: 'llama3';
  /** By how much, at least 1. */
  factor: number;
  /** Default 1. */
  lowFrequencyFactor?: number | undefined;
  /** Above lowFrequencyFactor. Default 4. */
  highFrequencyFactor?: number | undefined;
  /** Tokens of a row in training. */
  originalLength: number;
}

/**
 * How Phi-3 and Phi-4 stretch positions (LongRoPE): w_i / longFactors[i] in models whose `maxLength` is above originalLength, and
 * w_i / shortFactors[i] in others; cosines and sines are multiplied by attentionFactor.
 */
export interface LongRopeScaling {
  /** Which way of stretching. */
  type: 'longrope';
  /** One for each pair, at least w_i / 2, so that it turns by at most 2 from one position to the next. */
  shortFactors: readonly number[];
  /** Likewise. */
  longFactors: readonly number[];
  /** Tokens of a row up to which the short ones hold. */
  originalLength: number;
  /** Above 0. Default 1. */
  attentionFactor?: number | undefined;
}

/** Rotary positions of a model. */
export interface ModelRotary extends Pick<RotaryOptions, 'base' | 'rotaryDim' | 'interleaved'> {
  /** As that of `rotaryEmbedding`, that of Llama 3.1, and that of Phi-3. */
  scaling?: RotaryOptions['scaling'] | Llama3Scaling | LongRopeScaling;
}

/**
 * What a language model is made of: embeddings, blocks, a last norm with `norm: 'pre'`, and logits. Trainers refuse another value than
 * the default of a field that says "the default for trainers".
 */
export interface LanguageModelConfig {
  /** 'gpt2', 'llama' and so on: what a file says, and nothing depends on it. Default ''. */
  family?: string | undefined;
  /** Tokens there are, at least 1. Ids are 0 to vocabulary - 1. */
  vocabulary: number;
  /** Blocks, 1 to 65,536. */
  numLayers: number;
  /** Width of a token. */
  dModel: number;
  /** Query heads. */
  numHeads: number;
  /** Heads of keys and values, a divisor of numHeads. Default numHeads. */
  numKvHeads?: number | undefined;
  /** Width of a head. Default dModel / numHeads, which must then be whole. */
  dK?: number | undefined;
  /** Width of the hidden layer of the feed-forward part; 0 means blocks of attention alone. */
  dFeedForward: number;
  /** Most tokens of a row. */
  maxLength: number;
  /** Whether a token reads only itself and those before it. Default true; false makes an encoder. */
  causal?: boolean | undefined;
  /**
   * Where the norms of a block stand. Default `'pre'`. `'after'` is x + norm(sub(x)) (OLMo 2): the norms are then called
   * postNorm1 and postNorm2.
   */
  norm?: 'pre' | 'post' | 'after' | undefined;
  /** Default `'layer'`. */
  normType?: 'layer' | 'rms' | undefined;
  /** Of all norms, at least 0. Default 1e-5. */
  epsilon?: number | undefined;
  /** Of the feed-forward parts: those with `glu` have a gate, `'relu2'` is max(x, 0)^2. Default `'gelu'`. */
  activation?:
    | 'relu'
    | 'gelu'
    | 'gelu_tanh'
    | 'silu'
    | 'swiglu'
    | 'geglu'
    | 'geglu_tanh'
    | 'relu2'
    | undefined;
  /** How positions enter. Default `'learned'`. */
  positions?: 'none' | 'learned' | 'sinusoidal' | 'rotary' | 'alibi' | undefined;
  /**
   * With `positions: 'rotary'`: `base`, `rotaryDim`, `interleaved` and `scaling`. Of all layers, or of each as an array of
   * numLayers: null where nothing is rotated, and at most two that differ.
   */
  rotary?: ModelRotary | readonly (ModelRotary | null)[] | undefined;
  /** Whether q and k are normalised, by default each head of them before it is rotated. Default false. */
  qkNorm?: boolean | undefined;
  /**
   * With `qkNorm`: `'head'`, each head before it is rotated; `'rotated'`, each head after that; `'whole'`, all heads of a token
   * together, before the rotation. Default `'head'`.
   */
  qkNormOf?: 'head' | 'rotated' | 'whole' | undefined;
  /** x + attention(norm1(x)) + feedForward(norm2(x)), with `norm: 'pre'`, as GPT-NeoX. Default false. */
  parallelResidual?: boolean | undefined;
  /** Whether logits are products with the rows of the embedding. Default false. */
  tiedEmbeddings?: boolean | undefined;
  /** Whether linear maps and layer norms have biases; logits have none. Default: with `normType: 'layer'`. */
  biases?: boolean | undefined;
  /** Whether the maps to q, k and v have biases, as Qwen2. Default: as `biases`. */
  qkvBiases?: boolean | undefined;
  /** Factor on the embeddings, not 0. Default 1. */
  embeddingScale?: number | undefined;
  /**
   * Keys to the left that a query may read, besides its own; null, the default, for all. Of all layers, or of each as an array
   * of numLayers.
   */
  window?: number | null | readonly (number | null)[] | undefined;
  /** Whether windows reach as far to the right, with `causal: false`. Default false. */
  symmetricWindow?: boolean | undefined;
  /** Factor on q.k. Default null: 1 / sqrt(dK). */
  attentionScale?: number | null | undefined;
  /** As `softcap` of attention; 0, the default, for none. */
  attentionSoftcap?: number | undefined;
  /** c > 0: logits become c tanh(logit / c). 0, the default, for none. */
  logitSoftcap?: number | undefined;
  /**
   * x + norm'(sub(norm(x))): one more norm on what each sub-layer adds, with `norm: 'pre'`, as Gemma 2. Default false.
   */
  postNorms?: boolean | undefined;
  /** Rows of a table that tells segments apart, as BERT. Default 0, for none. */
  tokenTypes?: number | undefined;
  /** Whether the sum of the embeddings is normalised, as BERT. Default false. */
  embeddingNorm?: boolean | undefined;
  /**
   * Whether attention of the first layer has a norm before it, with `norm: 'pre'`. Default true; ModernBERT has none there.
   */
  firstNorm?: boolean | undefined;
  /**
   * Rows of a table of biases on the scores, `relativeBias`, that are chosen by the distance of query and key as
   * `t5RelativeBias` does, for both directions unless the model is causal. Default 0, for none; the default for trainers.
   */
  relativeBuckets?: number | undefined;
  /**
   * Layers of an encoder of the same sizes and kinds, which reads a source; each of the `numLayers` is then one of a decoder, with
   * cross-attention to what the encoder made of the source (T5). The decoder is causal and has `norm: 'pre'` and `positions:
   * 'none'`. Default 0, for none; the default for trainers.
   */
  encoderLayers?: number | undefined;
  /** With `encoderLayers`: the token that the decoder begins with. Default 0. */
  startToken?: number | undefined;
  /** With `relativeBuckets`: the distance from which on all keys share a bucket. Default 128. */
  relativeMaxDistance?: number | undefined;
  /**
   * Feed-forward parts of each layer, without biases, of which a router chooses `expertsPerToken` for each token: those with the
   * greatest shares in the softmax of its logits, each times its share. Default 0, for one part; the default for trainers.
   */
  numExperts?: number | undefined;
  /** With `numExperts`, at least 1. Default 0. */
  expertsPerToken?: number | undefined;
  /** Whether the shares of the experts of a token are divided by their sum. Default false. */
  normalizedExperts?: boolean | undefined;
  /** Whether there are logits. False for an encoder whose stream is the result. Default true; the default for trainers. */
  head?: boolean | undefined;
  /** Whether the head adds a bias, `headBias`, to the logits. Default false. */
  headBias?: boolean | undefined;
  /**
   * The head reads f(h W + b) in place of the stream h, W being `headTransform.w` [dModel, dModel], as BERT has it for masked tokens
   * (`'gelu'`) and in its pooler (`'tanh'`). Default `'none'`.
   */
  headTransform?: 'none' | 'relu' | 'gelu' | 'gelu_tanh' | 'silu' | 'tanh' | undefined;
  /** With `headTransform`: one more norm after f. Default false. */
  headNorm?: boolean | undefined;
  /** N > 0: a head of its own gives N logits, of classes, and not one for each token of the vocabulary. Default 0; the default for trainers. */
  classes?: number | undefined;
  /**
   * Of which tokens there are logits: of each, or one for a row: of its first token, of the mean of its stream, or of its last. Default
   * `'none'`; the default for trainers.
   */
  headPooling?: 'none' | 'first' | 'mean' | 'last' | undefined;
}

/** A config with all its defaults. */
export type Filled<Config> = {
  readonly [Name in keyof Config]-?: Exclude<Config[Name], undefined>;
};
