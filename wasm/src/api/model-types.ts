import type { AdapterFiles } from './adapter-types.js';
import type { ChatMessage, ChatPrompt, ChatPromptOptions, ChatTemplates } from './chat-types.js';
import type { Constraint } from './constraint-types.js';
import type { SamplingOptions } from './sampling-types.js';
import type {
  Alternative,
  Beam,
  FinishReason,
  Generation,
  Generations,
} from './generation-types.js';
import type {
  Activated,
  Activations,
  Edit,
  Guess,
  LanguageModelMicroscope,
  Read,
} from './inspect-types.js';
import type { Filled, LanguageModelConfig } from './model-config.js';
import type { Layers, Passing, Said, Shape3, Shown, With } from './option-types.js';
import type { LayerReadings, Reading } from './reading-types.js';
import type { OwnedArray } from './types.js';

export type {
  Filled,
  LanguageModelConfig,
  Llama3Scaling,
  LongRopeScaling,
  ModelRotary,
} from './model-config.js';

export type { AdapterFiles } from './adapter-types.js';
export type { Passing } from './option-types.js';
export type { LayerReadings } from './reading-types.js';
export type {
  ChatMessage,
  ChatPrompt,
  ChatPromptOptions,
  ChatTemplates,
  ChatTurn,
  JinjaTemplate,
} from './chat-types.js';
export type {
  Alternative,
  Beam,
  FinishReason,
  Generation,
  Generations,
} from './generation-types.js';

// As in types.ts: the options leave out a type of the web that a program lacks.
type Web = typeof globalThis;
type WebSignal = Web extends { AbortSignal: { prototype: infer T } } ? T : never;

/**
 * How matrices and the embedding are kept in memory; gains and biases are always float32. `'bf16'` and `'f16'` round to the nearest,
 * `'int8'` has blocks of 32 numbers with one float16 scale each, max |w| / 127, as Q8_0 of GGUF; `'int4'` has 4 bits for each of 32
 * numbers with a float16 scale and offset, from the least to the greatest number, as Q4_1. Inputs of products with the last two are
 * rounded to 8 bits; of `'int8'` to 7 where the processor is an x86 without AVX-VNNI and the engine has relaxed SIMD.
 */
export type WeightFormat = 'f32' | 'bf16' | 'f16' | 'int8' | 'int4';

/** How a model keeps its matrices: also `'q4_k'`, the blocks of a GGUF file in Q4_K as they are, which {@link load} alone gives. */
export type KeptFormat = WeightFormat | 'q4_k';

/** Text to tokens and back: tokenizer.json by {@link jsonTokenizer}, `@huggingface/tokenizers` by {@link huggingFaceTokenizer}, or one of yours. */
export interface Tokenizer {
  /** The tokens of a text, with those that begin or end one if the model wants them. Texts of control tokens are these tokens. */
  encode(text: string): ArrayLike<number>;
  /**
   * As `encode`, but texts of control tokens, as `<|im_end|>`, are plain text: for what users write. Tokens that a file calls user-defined
   * are text, and stay. Tokenizers out of files have it; the option `plain` needs it.
   */
  encodePlain?(text: string): ArrayLike<number>;
  /**
   * The tokens of a text alone, without those that begin or end one. Control tokens are found as by `encode`, but where `escape`, a
   * letter, stands within the text of one it is plain text; that letter is then left out. {@link LanguageModel.chat} needs it.
   * Tokenizers out of files have it.
   */
  encodeBare?(text: string, escape?: string): ArrayLike<number>;
  /** The texts of control tokens. Whatever has `encodeBare` has them. */
  readonly controls?: readonly string[] | undefined;
  /** The text of tokens; `'\uFFFD'` where a letter is not whole yet. */
  decode(ids: ArrayLike<number>): string;
  /**
   * The bytes of UTF-8 that a token adds in the middle of a text, which need not be whole letters. Undefined for control tokens, and for
   * numbers of no token. Constraints need it: without it they are refused. Tokenizers out of files have it, unless they are of the
   * kind WordPiece or have a decoder whose tokens change each other's text.
   */
  bytesOf?(id: number): Uint8Array | undefined;
  /**
   * The token with which encode() begins a text, if it does. It is dropped from a text that goes on in a session; without
   * this field the model reads what encode() gives. Tokenizers out of files and those of {@link huggingFaceTokenizer} have it.
   */
  readonly begin?: number | undefined;
  /**
   * The tokens of two texts together, as a model was trained to compare them, and the segment of each token. With `most` the longer one
   * loses its last tokens until no more than so many are left. A tokenizer.json with a template of pairs has it, and GGUF files of encoders; `score`
   * needs it for pairs.
   */
  encodePair?(first: string, second: string, most?: number): TokenPair;
  /** The token that stands for one that is to be filled in, as [MASK]. Tokenizers out of files have it where there is one. */
  readonly mask?: number | undefined;
  /**
   * What it is made of, for files that keep it. Tokenizers out of GGUF files have it, those of {@link charactersTokenizer}, and those out of
   * files of ours.
   */
  toJSON?(): SavedTokenizer;
}

/** What a file of ours keeps of a tokenizer, of which `load` makes it again. */
export type SavedTokenizer =
  | {
      /** Each token is a letter, or the text of one or more letters, of which the longest is taken. */
      readonly type: 'characters' | 'pieces';
      /** By their numbers. */
      readonly tokens: readonly string[];
    }
  | {
      /** The file of the hub. */
      readonly type: 'tokenizer.json';
      /** The file, parsed. */
      readonly json: TokenizerJson;
    }
  | {
      /** What a GGUF file says. */
      readonly type: 'gguf';
      /** Its metadata, below `tokenizer.ggml.`. */
      readonly metadata: Readonly<Record<string, unknown>>;
    };

/** Two texts as tokens. */
export interface TokenPair {
  /** The tokens of both, with those around and between them. */
  readonly ids: ArrayLike<number>;
  /** The segment of each. */
  readonly types: ArrayLike<number>;
  /** Whether a text lost tokens. */
  readonly isCut: boolean;
}

/** What `@huggingface/tokenizers` has, as far as it is used. */
export interface HuggingFaceTokenizer {
  /** The tokens of a text. */
  encode(text: string): {
    /** Their numbers. */
    readonly ids: ArrayLike<number>;
  };
  /** The text of tokens. */
  decode(
    ids: number[],
    options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean },
  ): string;
}

/** A tokenizer.json of the Hugging Face hub, parsed. */
export interface TokenizerJson {
  /** The vocabulary, and how words become pieces of it: BPE, WordPiece or Unigram. */
  readonly model: object;
}

/** Options of {@link create}. */
export interface CreateOptions {
  /** Default `'f32'`. */
  format?: WeightFormat | undefined;
  /** Most tokens of a row, if that is fewer than the config says: sessions take memory for so many. */
  maxLength?: number | undefined;
  /** For texts in place of tokens. */
  tokenizer?: Tokenizer | undefined;
}

/** What to return of a pass besides logits, all of it as the core computed it. Options that are left out cost nothing. */
export interface Inspect {
  /** Layers to read, counted from 0, each once. Default all. */
  layers?: readonly number[] | undefined;
  /** Weights of attention. */
  weights?: boolean | undefined;
  /** Entropy of the rows of weights, in nats. */
  entropy?: boolean | undefined;
  /** Query rows [begin, end) of `weights` and `q`. Default all. */
  rows?: readonly [begin: number, end: number] | undefined;
  /** The residual stream after each chosen layer. */
  residuals?: boolean | undefined;
  /** Logits as if the stack ended after each chosen layer: through the last norm and the head (nostalgebraist 2020). */
  logitLens?: boolean | undefined;
  /**
   * Queries, keys and values of each chosen layer as attention reads them: after the norms of `qkNorm` and the rotation. The
   * softmax of `attentionScale` q k^T, with the softcap, slopes and mask of the config, is `weights`.
   */
  projections?: boolean | undefined;
  /** Heads whose output is replaced by zeros, as [layer, head]. */
  ablate?: readonly (readonly [layer: number, head: number])[] | undefined;
}

/** What a model answers. */
export interface ModelOutput {
  /**
   * Logits of what follows each token (of what stands there, in an encoder), [batch, T, vocabulary], or [batch, 1, vocabulary] with
   * `rows: 'last'`. An encoder without a head has none.
   */
  logits?: OwnedArray<Shape3>;
  /** The stream after the last norm, [batch, T, dModel] or [batch, 1, dModel]: of a model without a head, or with `hidden: true`. */
  hidden?: OwnedArray<Shape3>;
  /** With `inspect`, by layer. */
  layers?: ReadonlyMap<number, LayerReadings>;
  /** With `read`. */
  activations?: Activations;
}

/** Options of {@link LanguageModel.forward}. */
export interface ForwardOptions {
  /** Rows of ids. Default 1. */
  batch?: number | undefined;
  /**
   * Of all tokens, or of the last of each row alone. Default `'all'`, also with a session: T rows of logits are
   * 4 T vocabulary bytes, so ask for `'last'` if only what follows is of interest.
   */
  rows?: 'all' | 'last' | undefined;
  /** Whether to return the stream too. Default: without a head. */
  hidden?: boolean | undefined;
  /** The tokens follow those that it holds, and are added to it. */
  session?: Session | undefined;
  /** Segments of the tokens, [batch, T]. Default 0. */
  tokenTypes?: ArrayLike<number> | undefined;
  /** Tokens of each row that are read, [batch]; default all. Not with a session. */
  keyLengths?: ArrayLike<number> | undefined;
  /** What to read besides: a short form of `read`, and what `read` cannot name. */
  inspect?: Inspect | undefined;
  /** Activations to read; a place that `inspect` asks for cannot be named here as well. */
  read?: readonly Read[] | undefined;
  /** Activations to change. */
  edit?: readonly Edit[] | undefined;
  /** As in {@link GenerateOptions}. Default false. */
  plain?: boolean | undefined;
}

/**
 * What {@link LanguageModel.forward} returns for options of this type. `logits` are there if the model has a head, `hidden` with
 * `hidden: true` or without one, and of `inspect` what was requested. Where the type does not tell, an array may be missing.
 */
export type OutputOf<Options, Head extends boolean = true> = Options extends unknown
  ? Shown<
      With<
        ModelOutput,
        Layers<Said<Options, 'inspect'>, LayerReadings, Reading> &
          Activated<Said<Options, 'read'>> &
          Required<
            Pick<
              ModelOutput,
              | ([Head] extends [true] ? 'logits' : never)
              | ([Said<Options, 'hidden'>] extends [true] ? 'hidden' : never)
              | ([Head] extends [false] ? 'hidden' : never)
            >
          >
      >
    >
  : never;

/** A token that {@link LanguageModel.generate} yields for options of this type. */
export type TokenOf<Options> = Options extends unknown
  ? Shown<
      With<
        Token,
        Layers<Said<Options, 'inspect'>, LayerReadings, Reading> &
          Activated<Said<Options, 'read'>> &
          ([Said<Options, 'topLogprobs'>] extends [number]
            ? Required<Pick<Token, 'topLogprobs'>>
            : unknown)
      >
    >
  : never;

/** Options of {@link LanguageModel.loss}. */
export interface LossOptions {
  /** Rows of ids. Default 1. */
  batch?: number | undefined;
  /** `ablate` alone has a meaning here. */
  inspect?: Pick<Inspect, 'ablate'> | undefined;
  /** Activations to change. */
  edit?: readonly Edit[] | undefined;
  /** As in {@link GenerateOptions}. Default false. */
  plain?: boolean | undefined;
}

/** Options of {@link LanguageModel.embed}. */
export interface EmbedOptions {
  /**
   * The mean over the tokens of a text, the first token, or the last. Default what the files say ({@link LanguageModel.pooling}),
   * else `'mean'`.
   */
  pooling?: 'mean' | 'cls' | 'last' | undefined;
  /**
   * Whether a text of more than maxLength tokens is cut to them, less what the tokenizer puts after every text, which stays.
   * Default false: such a text is refused.
   */
  truncate?: boolean | undefined;
  /** Whether vectors get unit length. Default true. */
  normalize?: boolean | undefined;
  /** As in {@link GenerateOptions}. Default false. */
  plain?: boolean | undefined;
  /** Ends it between two passes; it is rejected with the reason. */
  signal?: WebSignal | undefined;
  /** Called after each pass. */
  onProgress?: ((progress: TextProgress) => void) | undefined;
}

/** How far a call that reads many texts is. */
export interface TextProgress {
  /** Texts that were read. */
  done: number;
  /** All of them. */
  of: number;
}

/** Vectors of texts, [texts, dModel]. */
export interface Embeddings extends OwnedArray<readonly [texts: number, dModel: number]> {
  /** Which texts were cut, in order: those that had more than maxLength tokens, with `truncate`. */
  truncated: readonly number[];
}

/** Options of {@link LanguageModel.score}. */
export interface ScoreOptions {
  /**
   * Whether a text, or a pair, of more than maxLength tokens is cut to them; of a pair the longer text loses tokens. Default false: it is
   * refused.
   */
  truncate?: boolean | undefined;
  /** As in {@link GenerateOptions}, for texts alone: pairs are always read with their control tokens. Default false. */
  plain?: boolean | undefined;
  /** Ends it between two passes; it is rejected with the reason. */
  signal?: WebSignal | undefined;
  /** Called after each pass. */
  onProgress?: ((progress: TextProgress) => void) | undefined;
}

/** Logits of classes, [texts, classes]: before any softmax or sigmoid. */
export interface Scores extends OwnedArray<readonly [texts: number, classes: number]> {
  /** Which texts or pairs were cut, in order. */
  truncated: readonly number[];
}

/** Options of {@link LanguageModel.fillMask}. */
export interface FillMaskOptions {
  /** How many tokens to return, 1 to 64 and at most the vocabulary. Default 5, or the vocabulary if it is smaller. */
  top?: number | undefined;
  /** The token that stands for one to be filled in. Default `mask` of the tokenizer. */
  mask?: number | undefined;
}

/** One of the vectors that are near another. */
export interface Neighbour {
  /** Which vector. */
  index: number;
  /** The cosine of the angle between the two. */
  similarity: number;
}

/** How a session makes room: see `shift` of {@link SessionOptions}. */
export interface SessionShift {
  /** Tokens at the beginning that stay, such as those of a system prompt. 0 to capacity - 1; default 0. */
  keep?: number | undefined;
}

/** Options of {@link LanguageModel.session}. */
export interface SessionOptions {
  /** Rows side by side. Default 1. */
  batch?: number | undefined;
  /** Most tokens of a row, for which memory is taken as they come. Default the model's maxLength. */
  capacity?: number | undefined;
  /** Of keys and values, as that of `kvCache`. Default `'f32'`. */
  format?: 'f32' | 'bf16' | 'int8' | undefined;
  /**
   * Of a model with an encoder: what that reads, once, and every token of the session attends to. [batch, S] in row-major order, or a
   * text, which is one row; at most maxLength tokens of a row, all of them read.
   */
  source?: string | ArrayLike<number> | undefined;
  /** As in {@link GenerateOptions}, for a text of `source`. Default false. */
  plain?: boolean | undefined;
  /**
   * Of a model with an encoder: activations to read of its pass over the source, of any place but `'cross'`; layers are the encoder's,
   * rows and keys the tokens of the source. The session has them as `activations`.
   */
  read?: readonly Read[] | undefined;
  /** Of a model with an encoder: activations of its pass to change, likewise. Every token of the session attends to what comes of it. */
  edit?: readonly Edit[] | undefined;
  /**
   * What `save()` of a session of this model returned: the new one holds the same, bit for bit. It has its batch, format and source, and by
   * default its capacity, or maxLength of the model if that is less. Bytes of a model of another config are refused; that the weights are
   * the same cannot be seen.
   */
  from?: Uint8Array | undefined;
  /**
   * Makes room for tokens that would not fit, in place of refusing them: of n tokens that it holds, those after the first `keep` are
   * dropped from the oldest on, ceil((n - keep) / 2) of them, or as many as are needed if those are more; the rest moves down as `remove`
   * says. Tokens stay dropped if what comes next fails. `generate` then ends at `maxTokens` or a stop alone, and takes prompts of at most
   * capacity - keep tokens. Not with positions that are added to the stream (`'learned'`, `'sinusoidal'`). Default: no shift.
   */
  shift?: SessionShift | undefined;
}

/** What {@link LanguageModel.session} returns for options of this type, sessions being of type `S`. */
export type SessionOf<Options, S = Session> = Options extends unknown
  ? [Said<Options, 'read'>] extends [readonly object[]]
    ? With<S, Activated<Said<Options, 'read'>>>
    : S
  : never;

/** Keys and values of one conversation, one cache for each layer. Memory grows with the tokens that it holds. */
export interface Session {
  /** Tokens that are held. */
  readonly length: number;
  /** Most tokens. */
  readonly capacity: number;
  /** Of keys and values of `capacity` tokens: the most that it takes. */
  readonly bytes: number;
  /** With `read`: what was read of the encoder's pass. */
  readonly activations?: Activations;
  /** Forgets all tokens from `length` on. @throws {@link QkvError} `out_of_range`, `invalid_argument`, `busy`, `disposed` */
  truncate(length: number): void;
  /**
   * Forgets tokens [begin, end); those after them move down to their positions: keys of rotary layers are turned back by as many positions, within
   * rounding what they would be there, all else is as it was. What the layers made of the tokens that stay still knows the ones that went.
   * @throws {@link QkvError} `out_of_range`, `invalid_argument`, `unsupported` (positions that are added to the stream), `busy`,
   * `out_of_memory`, `disposed`; nothing is forgotten then
   */
  remove(begin: number, end: number): void;
  /**
   * Another session with the same tokens, which goes on by itself. It takes the memory of the tokens that are held.
   * @throws {@link QkvError} `out_of_memory`, `busy`, `disposed`
   */
  fork(): Session;
  /**
   * All that it holds, for the option `from` of {@link LanguageModel.session}, on any machine: a header of 96 bytes and the numbers of
   * keys and values in its format. Weights are not in it.
   * @throws {@link QkvError} `out_of_memory`, `busy`, `disposed`
   */
  save(): ReturnType<Uint8Array['slice']>;
  /** Gives the memory back; a generation that goes on in it is rejected with `disposed`. A second call does nothing. */
  dispose(): void;
  /** As `dispose`, for `using`. */
  [Symbol.dispose](): void;
}

/** Options of {@link LanguageModel.generate}. */
export interface GenerateOptions extends Pick<
  SamplingOptions,
  'temperature' | 'topK' | 'topP' | 'minP' | 'logitBias'
> {
  /** Most tokens. Default: as many as there is room for. */
  maxTokens?: number | undefined;
  /**
   * Logits of tokens of this call's prompt and of what it generated, not of what the session held before, are divided by it where
   * positive, else multiplied. Above 0; default 1.
   */
  repetitionPenalty?: number | undefined;
  /** As `repetitionPenalty`, but times the number of times that a token was there, and taken from its logit. Default 0. */
  frequencyPenalty?: number | undefined;
  /** As `frequencyPenalty`, once for each token that was there. Default 0. */
  presencePenalty?: number | undefined;
  /** Tokens that are never chosen. */
  banned?: readonly number[] | undefined;
  /** The first tokens of the answer. They are chosen as all others are, and count. */
  forced?: readonly number[] | undefined;
  /**
   * Called before each choice with the tokens of the answer so far: it returns those that may be chosen, or undefined for all. Not in
   * workers, which no function reaches.
   */
  mask?: ((answer: Int32Array) => ArrayLike<number> | undefined) | undefined;
  /**
   * What the answer has to be: `jsonSchema(…)` or `regularExpression(…)` of `qkv/constraints`. Only tokens with which it can still
   * become that are chosen; when nothing can follow, generation ends with `'stop'`. It needs a tokenizer with `bytesOf`.
   */
  constraint?: Constraint | undefined;
  /** How many of the likeliest tokens come with each token, by the logits themselves: at most 1000 and the vocabulary. Default 0. */
  topLogprobs?: number | undefined;
  /**
   * The same seed gives the same tokens on every engine (deterministic builds). Default: drawn for each call, whose result has it as
   * `seed`. 0 to 2^53 - 1.
   */
  seed?: number | undefined;
  /** Texts that end it, also across tokens; they are not part of any token's `text`. */
  stop?: readonly string[] | undefined;
  /**
   * Tokens that end it. The one that does is yielded, without text of its own, counts towards `maxTokens` and is read into the
   * session. Default: those that the model's file names.
   */
  stopTokens?: readonly number[] | undefined;
  /**
   * Where to go on; afterwards it holds the prompt and every token that was yielded, as far as there is room. If it holds tokens
   * when the loop begins, a text is read without the token `begin` of the tokenizer. Until the loop ends nothing else may use it.
   */
  session?: Session | undefined;
  /**
   * Whether the prompt is all of what the session is to hold: of the tokens that it holds those are kept with which the prompt begins, the
   * others are forgotten when the loop begins, and the rest of the prompt is read. Without a meaning without a session, and for one of several
   * rows. Default false: the prompt goes on after what the session holds. `chat` sets it.
   */
  reuse?: boolean | undefined;
  /** What to read of the pass that chose each token, which has one row. `rows` has no meaning here. */
  inspect?: Omit<Inspect, 'rows'> | undefined;
  /** Activations to read of that pass. */
  read?: readonly Read[] | undefined;
  /** Activations to change in all passes. */
  edit?: readonly Edit[] | undefined;
  /** Ends it; the iteration is rejected with the reason. */
  signal?: WebSignal | undefined;
  /**
   * Whether the texts of control tokens in a prompt, as `<|im_end|>`, are plain text (`encodePlain` of the tokenizer), as is right for what a
   * user has written. Default false. Without a meaning for tokens.
   */
  plain?: boolean | undefined;
}

/** A token that was chosen. */
export interface Token {
  /** Which one. */
  id: number;
  /**
   * What it adds to the text: what may be the beginning of a `stop` or of a letter waits for a later token. Empty without a
   * tokenizer.
   */
  text: string;
  /** ln of its probability by the logits themselves, before penalty, temperature and selection. */
  logProbability: number;
  /** With `topLogprobs`: the likeliest tokens, the likeliest first, whether this is one of them or not. */
  topLogprobs?: readonly Alternative[];
  /** Of the last token: why it is that. */
  finishReason?: FinishReason;
  /** With `inspect`, by layer. */
  layers?: ReadonlyMap<number, LayerReadings>;
  /** With `read`. */
  activations?: Activations;
}

/**
 * Options of {@link LanguageModel.beams}. Nothing is drawn, so there is no temperature and no seed, and answers are compared by
 * probabilities, which penalties are none of. `mask` is called for each answer that is followed.
 */
export interface BeamOptions extends Pick<
  GenerateOptions,
  ('maxTokens' | 'stopTokens' | 'banned' | 'forced' | 'mask' | 'constraint') | ('plain' | 'signal')
> {
  /** How many answers are followed, and returned at most: 1 to 64. Default 4. */
  beams?: number | undefined;
  /** Answers are compared by ln p / length ^ lengthPenalty (Wu et al. 2016): 0 for ln p itself. Default 1. */
  lengthPenalty?: number | undefined;
  /** What is added to ln p of an answer for each of these tokens in it, where answers are compared. */
  logitBias?: GenerateOptions['logitBias'];
}

/** Options of {@link LanguageModel.generateAll}: those of `generate`, for all of its generations. */
export type GenerateAllOptions = Omit<
  GenerateOptions,
  'session' | 'reuse' | 'inspect' | 'read' | 'edit'
>;

/** A token of one of several generations. */
export interface TokenOfAll extends Omit<Token, 'layers' | 'activations'> {
  /** Of which prompt. */
  index: number;
}

/** Options of {@link LanguageModel.chat}. */
export interface ChatOptions extends Omit<GenerateOptions, 'plain'>, ChatPromptOptions {}

/** Options of {@link LanguageModel.encode}. */
export interface EncodeOptions {
  /** As in {@link GenerateOptions}. Default false. */
  plain?: boolean | undefined;
  /** Whether the tokens that begin or end a text are left out. Default false. */
  bare?: boolean | undefined;
  /** With `bare`: a letter within texts of control tokens that are plain text, which is left out. */
  escape?: string | undefined;
}

/**
 * A language model. `Head` is whether it has a head and answers with logits, as all do but encoders: {@link create} sees it in
 * its config, for {@link load} it is a type argument.
 */
export interface LanguageModel<
  Head extends boolean = true,
> extends LanguageModelMicroscope<Session> {
  /** With all defaults. */
  readonly config: Filled<LanguageModelConfig>;
  /** Numbers in all arrays. */
  readonly parameterCount: number;
  /** Bytes of all arrays. */
  readonly bytes: number;
  /** How matrices are kept. */
  readonly format: KeptFormat;
  /** As given to {@link load}, or out of the file. */
  readonly tokenizer?: Tokenizer | undefined;
  /** How a conversation is written, where the files say it. */
  readonly chatTemplates?: ChatTemplates | undefined;
  /**
   * What `embed` does by default: as the files say, else `'mean'`. Undefined where they say that there is no vector of a text, or
   * only a score: `embed` then needs the option `pooling`.
   */
  readonly pooling?: 'mean' | 'cls' | 'last' | undefined;
  /** Arrays of the files that the model leaves out: of heads for other tasks, such as `cls`, `score` or `pooler`. */
  readonly ignored: readonly string[];
  /**
   * Why a model of {@link load} has no tokenizer, with the kind that its file names, or why the one in the file may not be the right one,
   * and what to do. Undefined where nothing is wrong, or `tokenizer` was given.
   */
  readonly tokenizerProblem?: string | undefined;
  /**
   * One pass over all layers. ids are [batch, T] in row-major order, each in [0, vocabulary), or a text, which is one row. In a session
   * that holds tokens a text is read without the token `begin` of the tokenizer.
   *
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range` (an id, a layer, a head or a length that is none, more
   * tokens than maxLength or than the session has room for), `out_of_memory`, `busy` (a session in which a generation goes on),
   * `disposed`; a session is as it was then
   */
  forward<O extends Passing<O, ForwardOptions> = ForwardOptions>(
    ids: string | ArrayLike<number>,
    options?: O,
  ): OutputOf<O, Head>;
  /**
   * Room for the keys and values of a conversation.
   *
   * @throws {@link QkvError} `invalid_argument` for an encoder, for a `source`, `read` or `edit` without one and for no `source` with one,
   * `shape_mismatch`, `out_of_range`, `unsupported` for a place that the encoder lacks, `out_of_memory`, `disposed`
   */
  session<O extends Passing<O, SessionOptions> = SessionOptions>(options?: O): SessionOf<O>;
  /**
   * Tokens that follow a prompt, one at a time as they are requested, with turns of the event loop between. Greedy unless a
   * temperature is given. Ends at `maxTokens`, a stop, or when there is no more room.
   *
   * Of a model with an encoder the prompt is what the encoder reads, and the tokens are the decoder's from `startToken` of the config
   * on. With a session, which has its source, it is the tokens that the decoder has said, `[startToken]` at first.
   *
   * The tokens are for one loop; a second one is `busy`. So is a session in which another generation goes on, from the first token that
   * is requested to the end of the loop.
   *
   * @throws {@link QkvError} at once for options that make no sense, a text without a tokenizer, and a session that is `busy`; the iteration
   * is rejected with `out_of_memory`, `busy`, `disposed` (of a model or session that was disposed meanwhile), or the reason of the signal.
   * Before the first token a session is then as it was, and later holds what was yielded
   */
  generate<O extends Passing<O, GenerateOptions> = GenerateOptions>(
    prompt: string | ArrayLike<number>,
    options?: O,
  ): Generation<TokenOf<O>>;
  /**
   * Tokens that follow each of several prompts, side by side: every pass reads the weights once for all of them. Each generation has the tokens
   * that `generate` has with its seed: that of prompt i is the first seed + i, 0 after 2^53 - 1. A round has a token of each generation that has not ended.
   *
   * @throws {@link QkvError} as `generate`
   */
  generateAll(
    prompts: readonly (string | ArrayLike<number>)[],
    options?: GenerateAllOptions,
  ): Generations<TokenOfAll>;
  /**
   * The likeliest answers as a whole, the best first, by beam search: at each place the likeliest answers so far go on, each with its likeliest
   * tokens, until none can become better than those that have ended.
   *
   * @throws {@link QkvError} as `generate`; the reason of the signal
   */
  beams(prompt: string | ArrayLike<number>, options?: BeamOptions): Promise<Beam[]>;
  /**
   * The prompt of a conversation: what the template of the model's files writes, and its tokens. Only the texts of control tokens that the
   * template itself writes are tokens.
   *
   * @throws {@link QkvError} `invalid_argument` (messages or options that are none, a template that the files lack, what the template
   * refuses, a tokenizer that cannot tell the template's texts from those of the messages), `unsupported` without `@huggingface/jinja`
   */
  chatPrompt(messages: readonly ChatMessage[], options?: ChatPromptOptions): ChatPrompt;
  /**
   * What the model answers to a conversation: `chatPrompt`, then `generate` with `reuse`, whose options it takes, too. So with a session
   * only what is new in the conversation is read.
   *
   * @throws {@link QkvError} as `chatPrompt` and `generate`
   */
  chat<O extends Passing<O, ChatOptions> = ChatOptions>(
    messages: readonly ChatMessage[],
    options?: O,
  ): Generation<TokenOf<O>>;
  /** The tokens of a text. @throws {@link QkvError} `invalid_argument`, also without a tokenizer that can do what is requested */
  encode(text: string, options?: EncodeOptions): Int32Array;
  /** The text of tokens. @throws {@link QkvError} `invalid_argument`, `out_of_range` */
  decode(ids: ArrayLike<number>): string;
  /** Mean negative log-likelihood per token in nats, over all but the first of each row, which has at least 2. @throws as `forward` */
  loss(ids: string | ArrayLike<number>, options?: LossOptions): number;
  /**
   * Sentence vectors, [texts, dModel], in the order of the texts. Texts of about one length are rows of one pass, of at most 512 tokens
   * unless a text alone has more, with turns of the event loop between passes. Each vector is within the bound of `forward` of that of the text
   * alone.
   *
   * @throws {@link QkvError} rejected as `forward` throws, with `invalid_argument` also for a text without a tokenizer, or without tokens; or
   * with the reason of the signal, or what `onProgress` throws
   */
  embed(
    texts: readonly (string | ArrayLike<number>)[],
    options?: EmbedOptions,
  ): Promise<Embeddings>;
  /**
   * Logits of classes, [texts, classes], of a text or of a pair of texts, such as a question and a passage (cross-encoders). Of files of
   * classes such as `BertForSequenceClassification` and `Qwen2ForSequenceClassification`. Passes, progress and errors as of `embed`.
   *
   * @throws {@link QkvError} rejected as that of `embed`, and `unsupported` for a model without such a head
   */
  score(
    texts: readonly (string | readonly [string, string] | ArrayLike<number>)[],
    options?: ScoreOptions,
  ): Promise<Scores>;
  /**
   * The likeliest tokens at each mask of a text, such as [MASK], the likeliest first. Of files of classes such as `BertForMaskedLM`.
   *
   * @throws {@link QkvError} as `forward`, `invalid_argument` for a text without a mask, `unsupported` for a model without a head of tokens, and
   * for one that reads from left to right
   */
  fillMask(
    text: string | ArrayLike<number>,
    options?: FillMaskOptions,
  ): readonly (readonly Guess[])[];
  /**
   * The model as a safetensors file of qkv, every number as it is kept: {@link load} reads it back in the same formats. Has the
   * config, the tokens that end a text, the pooling, chat templates, and a tokenizer that has `toJSON`; pass any other to `load` again.
   *
   * @throws {@link QkvError} `out_of_memory`, `disposed`
   */
  save(): ReturnType<Uint8Array['slice']>;
  /**
   * A model of its own with adapters of low rank (LoRA, Hu et al. 2021) added to the weights, W + alpha / r B A, or alpha / sqrt(r) with
   * `use_rslora`. This one stays as it is, and the two share nothing; dispose either. The files are those of PEFT, with its modules of linear maps
   * by their names in transformers. Sums are in float64 and rounded to float32 once, and then as the format of the array keeps them: within 2^-8 of a
   * weight for bfloat16, and half a step of a block for int8 and int4; maps of `'q4_k'` become `'int4'`.
   *
   * @throws {@link QkvError} `unsupported` names a field of adapter_config.json, a type, or a part of adapters that is not known (DoRA, embeddings);
   * `invalid_argument` what is wrong with the files, a module that the model lacks, a pair of which a half is missing; `shape_mismatch` (adapters of
   * another model, another rank), `out_of_memory`, `disposed`
   */
  withAdapters(files: AdapterFiles): LanguageModel<Head>;
  /** Gives the memory back. A second call does nothing. */
  dispose(): void;
  /** As `dispose`, for `using`. */
  [Symbol.dispose](): void;
}
