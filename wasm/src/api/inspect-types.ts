// Places in a pass of a language model: what can be read and changed there, and what is computed of them.

import type { Shape3, Shape4 } from './option-types.js';
import type { NdArray, OwnedArray } from './array-types.js';

// As in types.ts: the options leave out a type of the web that a program lacks.
type Web = typeof globalThis;
type WebSignal = Web extends { AbortSignal: { prototype: infer T } } ? T : never;

/**
 * A place in a pass. B rows of the batch, R rows of tokens that are requested, Tk keys, H query heads, Hkv heads of keys and values.
 * In brackets the names of TransformerLens.
 *
 * - `'embed'` [B, R, dModel], the stream before the first layer (hook_embed + hook_pos_embed)
 * - `'q'` [B, H, R, dK], `'k'`, `'v'` [B, Hkv, R, dK], as attention reads them, after qk norm and rotation (hook_rot_q, hook_rot_k, hook_v)
 * - `'scores'` [B, H, R, Tk], what the softmax is taken of; -Infinity where a key is excluded (hook_attn_scores)
 * - `'weights'` [B, H, R, Tk], what values are multiplied by (hook_pattern)
 * - `'z'` [B, H, R, dK], what a head mixes, before W_O (hook_z)
 * - `'heads'` [B, H, R, dModel], what each head gives, z W_O of the head, without bias (hook_result); read alone
 * - `'attention'` [B, R, dModel], what the attention sub-layer adds (hook_attn_out)
 * - `'middle'` [B, R, dModel], the stream between the sub-layers (hook_resid_mid); not with `parallelResidual`
 * - `'neurons'` [B, R, dFeedForward], after the activation and the gate (hook_post); not of models with experts
 * - `'feedForward'` [B, R, dModel], what the feed-forward sub-layer adds (hook_mlp_out)
 * - `'residual'` [B, R, dModel], the stream after the layer (hook_resid_post)
 * - `'final'` [B, R, dModel], after the last norm (ln_final.hook_normalized); read alone
 * - `'cross'` [B, R, dModel], what cross-attention adds, of models with an encoder (hook_cross_attn_out)
 */
export type Site =
  | 'embed'
  | 'q'
  | 'k'
  | 'v'
  | 'scores'
  | 'weights'
  | 'z'
  | 'heads'
  | 'attention'
  | 'middle'
  | 'neurons'
  | 'feedForward'
  | 'residual'
  | 'final'
  | 'cross';

/** The shape of the array at a place. */
export type ShapeAt<Where extends Site> = Where extends
  | ('q' | 'k' | 'v')
  | ('scores' | 'weights' | 'z' | 'heads')
  ? Shape4
  : Shape3;

/** What to read of a pass. */
export interface Read {
  /** The place. Each of a layer once. */
  site: Site;
  /** Counted from 0, each once. Default all. Of `'embed'` and `'final'`, which belong to no layer, it cannot be given. */
  layers?: readonly number[] | undefined;
  /** Tokens of this pass, [begin, end). Default all. */
  rows?: readonly [begin: number, end: number] | undefined;
}

/**
 * A change of a pass, made where the activation comes into being, before anything reads it. Each number x that is chosen becomes
 * x `scale`, then `value`, then + `add`: those of the three that are given, one at least. Edits of one place act in the order of the
 * list, after `inspect.ablate`.
 *
 * A cut edge of attention is `{ site: 'scores', layer, head, rows: [i, i + 1], keys: [j, j + 1], value: -Infinity }`, without `head` in
 * all heads of the layer, a removed head
 * `{ site: 'z', layer, head, value: 0 }`, a steering vector `{ site: 'residual', layer, add: vector }`. Keys that the mask excludes stay
 * excluded, a row that is cut from all its keys has weights 0, and weights that are changed are not divided by their sum again.
 */
export interface Edit {
  /** The place. What nothing in the pass reads cannot be changed. */
  site: Exclude<Site, 'heads' | 'final'>;
  /** Counted from 0. Of `'embed'`, which belongs to no layer, it cannot be given. */
  layer?: number | undefined;
  /** One head of `'q'`, `'scores'`, `'weights'` or `'z'`, or of keys and values (Hkv) of `'k'` or `'v'`. Default all. */
  head?: number | undefined;
  /** Rows of the batch, [begin, end). Default all. */
  batch?: readonly [begin: number, end: number] | undefined;
  /** Tokens of this pass, [begin, end); in `generate` counted from the first of the prompt on. Default all. */
  rows?: readonly [begin: number, end: number] | undefined;
  /** Keys of `'scores'` and `'weights'`, [begin, end), counted with those that a session holds. Default all. */
  keys?: readonly [begin: number, end: number] | undefined;
  /** Numbers of the last axis of all other places, such as neurons, [begin, end). Default all. */
  columns?: readonly [begin: number, end: number] | undefined;
  /**
   * What takes its place: a number, a vector of the last axis that is chosen, or an array of the shape that is chosen, [batch, heads,
   * rows, last axis] where the place has heads (1 with `head`), else [batch, rows, last axis]; axes of extent 1 may be left out. Finite, or
   * -Infinity for `'scores'`. In `generate`, whose passes have different tokens, a number or a vector.
   */
  value?: number | NdArray | Float32Array | undefined;
  /** What is added, likewise. */
  add?: number | NdArray | Float32Array | undefined;
  /** A finite number. */
  scale?: number | undefined;
}

/** What was read of a pass. `Sites` are the places that were requested. */
export interface Activations<Sites extends Site = Site> {
  /**
   * The array at a place: of its layer, or without one of `'embed'` and `'final'`.
   *
   * @throws {@link QkvError} `out_of_range` for what was not read; the message lists what was
   */
  get<Where extends Sites>(site: Where, layer?: number): OwnedArray<ShapeAt<Where>>;
}

/** What a pass returns besides with `read` of this type. */
export type Activated<Given> = [Given] extends [
  readonly {
    /** What was requested. */
    readonly site: infer Sites;
  }[],
]
  ? {
      /** What was read. */
      activations: Activations<Extract<Sites, Site>>;
    }
  : unknown;

/** How much one part of the stream gives. */
export interface Contribution {
  /**
   * `'embed'`: the stream before the first layer; `'head'`: z W_O of a head; `'attentionBias'`: what else attention adds, its biases and
   * what quantised rows round; `'cross'`: cross-attention; `'feedForward'`; `'bias'`: the rest, biases of norms and of the head.
   */
  part: 'embed' | 'head' | 'attentionBias' | 'cross' | 'feedForward' | 'bias';
  /** Counted from 0; of parts that belong to one. */
  layer?: number;
  /** Of `'head'`. */
  head?: number;
  /** In logits. */
  value: number;
}

/** A logit, or the difference of two, taken apart. */
export interface Attribution {
  /** The embedding, each layer's heads, biases and sub-layers, the rest. */
  parts: readonly Contribution[];
  /** What they add up to: the logit, before `logitSoftcap`. */
  total: number;
}

/** Options of {@link LanguageModelMicroscope.attribute}. */
export interface AttributeOptions<InSession = unknown> {
  /** The token whose logit is taken apart. */
  answer: number;
  /** The token whose logit is subtracted. Default none. */
  instead?: number | undefined;
  /** The token of this pass after which they stand. Default the last. */
  row?: number | undefined;
  /** As in `forward`. */
  edit?: readonly Edit[] | undefined;
  /** As in `forward`; a model with an encoder needs one. */
  session?: InSession | undefined;
}

/** How far a sweep is, in patches. */
export interface SweepProgress {
  /** Patches whose effect is known. */
  done: number;
  /** All patches. */
  of: number;
}

/** Options of {@link LanguageModelMicroscope.sweep}. */
export interface SweepOptions {
  /** The prompt whose activations are restored. */
  clean: string | ArrayLike<number>;
  /** The prompt into whose pass they are put, of as many tokens. */
  corrupt: string | ArrayLike<number>;
  /** The measure is the logit of this token, */
  answer: number;
  /** less the logit of this one, at the last token. */
  instead: number;
  /**
   * What is restored, and what the grid has: `'residual'` (the stream after a layer), `'attention'` and `'feedForward'` [layer][token];
   * `'z'` [layer][head], at all tokens; `'neurons'` of one layer, [token][block].
   */
  site: 'residual' | 'attention' | 'feedForward' | 'z' | 'neurons';
  /** With `'neurons'`: their layer. */
  layer?: number | undefined;
  /** With `'neurons'`: how many are restored together, in order; the last block may be shorter. Default dFeedForward / 16, rounded up. */
  block?: number | undefined;
  /**
   * What is put there: that of the clean pass, the default; zeros; or its mean over the tokens of a text, in a pass of its own.
   */
  with?:
    | 'clean'
    | 'zero'
    | {
        /** The text, or its tokens. */
        mean: string | ArrayLike<number>;
      }
    | undefined;
  /**
   * Activations to change in every pass, as in `forward`: of both prompts, of the text of `mean` as far as its tokens go, and of every
   * patch, where what is restored is the last of the list. So the grid is that of the changed model. With `mean`, whose text has other
   * tokens, numbers or vectors of the last axis.
   */
  edit?: readonly Edit[] | undefined;
  /** Ends it; it is rejected with the reason. */
  signal?: WebSignal | undefined;
  /** Called after each pass. */
  onProgress?: ((progress: SweepProgress) => void) | undefined;
}

/** A picture of causes. */
export interface Sweep {
  /** (measure - corrupt) / (clean - corrupt), as `site` says: 0 as the corrupt pass, 1 as the clean one. */
  grid: OwnedArray<readonly [rows: number, columns: number]>;
  /** The measure of the clean pass. */
  clean: number;
  /** Of the corrupt pass. */
  corrupt: number;
}

/**
 * What a head does over rows of tokens x. Means are over the rows that have such keys, except the first row; 0 without any.
 */
export interface HeadScores {
  /** Counted from 0. */
  layer: number;
  /** Counted from 0. */
  head: number;
  /** Mean weight of row i on key i - 1. */
  previous: number;
  /** Mean weight of row i on all keys j < i with x_j = x_i. */
  duplicate: number;
  /** Mean weight of row i on all keys j < i with x_(j-1) = x_i: prefix matching (Olsson et al. 2022). */
  induction: number;
  /** Mean weight on key 0. */
  first: number;
  /**
   * Mean over the different tokens, read from the embedding, of the place of the token's own logit among those of x W_V W_O W_U, from -1
   * (the least) to 1 (the greatest) (Elhage et al. 2021). NaN in a model without a head.
   */
  copying: number;
  /** Sum of the entropies of the rows over that of even weights on the keys that each may read: 0 for one key, 1 for all alike. */
  evenness: number;
}

/** Options of {@link LanguageModelMicroscope.headScores}. */
export interface HeadScoresOptions {
  /** The tokens, at least 2. Default: the token with which the tokenizer begins a text, if any, and random tokens twice. */
  text?: string | ArrayLike<number> | undefined;
  /**
   * How many random tokens, no two of them alike as far as the vocabulary allows. Default 32, or as many as maxLength has room for.
   */
  tokens?: number | undefined;
  /** Of the random tokens, 0 to 2^32 - 1. Default 0. */
  seed?: number | undefined;
}

/** Options of {@link LanguageModelMicroscope.normWeights}. */
export interface NormWeightsOptions<InSession = unknown> {
  /** Counted from 0. */
  layer: number;
  /** Query rows, [begin, end). Default all. */
  rows?: readonly [begin: number, end: number] | undefined;
  /** As in `forward`; a model with an encoder needs one. */
  session?: InSession | undefined;
}

/** Options of {@link LanguageModelMicroscope.lens}. */
export interface LensOptions<InSession = unknown> {
  /** How many tokens to return, 1 to 64 and at most the vocabulary. Default 5, or the vocabulary if it is smaller. */
  top?: number | undefined;
  /** Counted from 0, each once. Default all. */
  layers?: readonly number[] | undefined;
  /** As in `forward`: each layer guesses from the stream that the changes leave it. */
  edit?: readonly Edit[] | undefined;
  /** As in `forward`; a model with an encoder needs one. */
  session?: InSession | undefined;
}

/** A token that a layer would guess. */
export interface Guess {
  /** Which one. */
  id: number;
  /** Its text; empty without a tokenizer. */
  text: string;
  /** Among the whole vocabulary. */
  probability: number;
}

/** What takes a model apart. */
export interface LanguageModelMicroscope<InSession = unknown> {
  /**
   * How much of a logit, or of the difference of two, each part of the stream gives at one token ("direct logit attribution", Elhage et
   * al. 2021): through the norms after it, with their scales of this pass held fixed. With n = (numLayers + 2) max(dModel, numHeads dK) and S
   * the sum of the magnitudes of all products, the values add up to `total` within 2^-51 (n + 8) S.
   *
   * @throws {@link QkvError} as `forward`, `unsupported` for a model without a head
   */
  attribute(ids: string | ArrayLike<number>, options: AttributeOptions<InSession>): Attribution;
  /**
   * What restoring one activation of a clean pass into a corrupt one does to the difference of two logits (activation patching: Vig et al.
   * 2020, Meng et al. 2022). One pass of each prompt; then patches go through as rows of batches of at most 512 tokens, from the
   * patched layer on, with turns of the event loop between.
   *
   * @throws {@link QkvError} rejected with `invalid_argument` (also where both passes have the same measure), `shape_mismatch` for prompts of
   * different lengths, `out_of_range`, `unsupported` for a model without a head or such a site, `out_of_memory`, `disposed`; or with the
   * reason of the signal, or what `onProgress` throws
   */
  sweep(options: SweepOptions): Promise<Sweep>;
  /**
   * What every head does, in order of layers and heads.
   *
   * @throws {@link QkvError} as `forward`, `invalid_argument` for a model with an encoder
   */
  headScores(options?: HeadScoresOptions): readonly HeadScores[];
  /**
   * Weights times the length of what they bring, |w_ij v_j W_O| (Kobayashi et al. 2020), [numHeads, rows, Tk] of one layer, before a
   * norm on what attention adds.
   *
   * @throws {@link QkvError} as `forward`
   */
  normWeights(
    ids: string | ArrayLike<number>,
    options: NormWeightsOptions<InSession>,
  ): OwnedArray<Shape3>;
  /**
   * The likeliest tokens if the stack ended after each layer (logit lens, nostalgebraist 2020), the likeliest first:
   * `guesses[layer][token]`, in the order of `layers`.
   *
   * @throws {@link QkvError} as `forward`, `unsupported` for a model without a head
   */
  lens(
    ids: string | ArrayLike<number>,
    options?: LensOptions<InSession>,
  ): readonly (readonly Guess[])[][];
}
