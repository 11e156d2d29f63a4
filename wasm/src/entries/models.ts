/**
 * Language models on an engine of `qkv`, `qkv/inline` or `qkv/train`: {@link load} reads the files of a trained one, and
 * {@link create} makes one of weights in memory. A {@link LanguageModel} answers with logits, says what follows, and shows what
 * its layers computed.
 * @module qkv/models
 */
import { QkvError } from '../api/errors.js';
import type { LoadOptions, ModelCache, ModelCacheOptions, Source } from '../api/load-types.js';
import type {
  CreateOptions,
  HuggingFaceTokenizer,
  LanguageModel,
  LanguageModelConfig,
  Neighbour,
  Tokenizer,
  TokenizerJson,
} from '../api/model-types.js';
import type { Only } from '../api/option-types.js';
import type { SampledOf, SamplingOptions, TokenLogits } from '../api/sampling-types.js';
import type { NdArray, OwnedArray, Qkv } from '../api/types.js';
import { describe, isRecord, reading } from '../arguments/values.js';
import { readPart } from '../memory/abi-part.js';
import { behind } from '../load/init.js';
import { inlineKey } from '../load/inline-key.js';
import { written } from '../memory/abi.js';
import type { Instance } from '../memory/instance.js';
import * as creating from '../models/create.js';
import * as caching from '../models/cache/model-cache.js';
import * as loading from '../models/load.js';
import * as sampling from '../models/sample.js';
import * as similarity from '../models/similarity.js';
import * as llama2c from '../models/tokenizers/llama2c-tokenizer.js';
import { charactersTokenizer as charactersOf } from '../models/tokenizers/characters-tokenizer.js';
import * as huggingFace from '../models/tokenizers/hugging-face-tokenizer.js';
import * as json from '../models/tokenizers/json/json-tokenizer.js';

export { QkvError, type QkvErrorCode } from '../api/errors.js';
export { array, random, toNested, zeros } from '../plain-arrays.js';
export type * from '../api/inspect-types.js';
export type * from '../api/load-types.js';
export type * from '../api/model-types.js';
export type * from '../api/sampling-types.js';
export type * from '../api/types.js';
export type { Constraint, ConstraintRule } from '../api/constraint-types.js';

const { operators } = readPart(QKV_MODELS_ABI);

/** What is behind an engine of `qkv/inline`, which shares no module with this one, but has a function that returns it. */
function behindInline(engine: object): Instance | undefined {
  const read = (engine as Record<PropertyKey, unknown>)[inlineKey];
  const found = typeof read === 'function' ? ((read as () => unknown)() as Instance) : undefined;
  return found?.abi?.hash === written.hash ? found : undefined;
}

/** The instance of an engine, which knows the operators of models from now on. */
function instanceOf(fn: string, engine: unknown): Instance {
  const instance = reading(fn, 'engine', () =>
    isRecord(engine) ? (behind.get(engine) ?? behindInline(engine)) : undefined,
  );
  if (!instance) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: engine is ${describe(engine)}, expected one that init of qkv, qkv/inline or qkv/train made, of this copy of the package`,
    );
  }
  for (const [name, operator] of operators) instance.abi.operators.set(name, operator);
  instance.raw(fn);
  return instance;
}

/**
 * Makes a model of weights in memory, by the names of `parameters()` in `qkv/train`.
 *
 * @throws {@link QkvError} `invalid_argument` (an engine or config that is none, names that are missing or surplus, which are
 * listed), `shape_mismatch`, `out_of_range`, `out_of_memory`, `unsupported`, `disposed`; nothing is kept then
 */
export function create<Head extends boolean | undefined = undefined>(
  engine: Qkv,
  config: LanguageModelConfig & {
    /** As in {@link LanguageModelConfig}. With `false` the model has no logits for the compiler either. */
    head?: Head;
  },
  weights: Readonly<Record<string, NdArray>>,
  options?: CreateOptions,
): LanguageModel<[Head] extends [false] ? false : true> {
  const model: unknown = creating.create(instanceOf('create', engine), config, weights, options);
  return model as LanguageModel<[Head] extends [false] ? false : true>;
}

/**
 * Loads a model from its files, which are read once from front to back: besides the weights themselves, a few MB are taken.
 * A file is trusted in nothing: one that contradicts itself, or has more than 4096 layers, is refused (SECURITY.md has all limits). A
 * text is short for `{ weights: text }`: an address, or `hub:owner/name`, of which all files are found.
 *
 * For the compiler the model has a head and answers with logits. `load<false>(…)` is for an encoder without one, which answers with
 * `hidden` in their place.
 *
 * @throws {@link QkvError} `unsupported` names the family, tensor or type; `invalid_argument` what is wrong with the file, config or an
 * argument; `load_failed` what could not be read; `out_of_range`, `out_of_memory`, `disposed`; the reason of the signal.
 * Nothing is kept then.
 */
export async function load<Head extends boolean = true>(
  engine: Qkv,
  source: Source | string,
  options?: LoadOptions,
): Promise<LanguageModel<Head>> {
  const model: unknown = await loading.load(instanceOf('load', engine), source, options);
  return model as LanguageModel<Head>;
}

/**
 * Chooses a token from logits, as `generate` does: biases, repetition penalty, frequency and presence penalty, `allowed`,
 * temperature, `topK`, `topP`, `minP` in this order, then a draw from what is left. NaN and -Infinity are never chosen. The same
 * logits and options choose the same token on every engine.
 *
 * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range` (a token that the logits do not have, no token that may
 * be chosen), `out_of_memory`, `disposed`
 */
export function sample<O extends Only<O, SamplingOptions> = SamplingOptions>(
  engine: Qkv,
  logits: TokenLogits,
  options?: O,
): SampledOf<O> {
  const chosen: unknown = sampling.sample(instanceOf('sample', engine), logits, options);
  return chosen as SampledOf<O>;
}

/**
 * Makes a cache for the option `cache` of {@link load}. Nothing is opened before it is used.
 *
 * @throws {@link QkvError} `invalid_argument`
 */
export const modelCache = (options?: ModelCacheOptions): ModelCache => caching.modelCache(options);

/**
 * A tokenizer of the package @huggingface/tokenizers: `new Tokenizer(json, config)` of it, with tokenizer.json of the hub. Special tokens
 * have no text, and what that package throws is thrown.
 *
 * @throws {@link QkvError} `invalid_argument` for what has no `encode` and `decode`
 */
export const huggingFaceTokenizer = (tokenizer: HuggingFaceTokenizer): Tokenizer =>
  huggingFace.huggingFaceTokenizer(tokenizer);

/**
 * The tokenizer of a tokenizer.json of the Hugging Face hub, parsed: BPE, WordPiece or Unigram. `load` makes it itself of the file or
 * its address. `truncation` and `padding` are not applied.
 *
 * @throws {@link QkvError} `unsupported` names a part that this package does not know, `invalid_argument` what is wrong
 */
export const jsonTokenizer = (tokenizer: TokenizerJson): Tokenizer => json.jsonTokenizer(tokenizer);

/**
 * The tokenizer of a llama2.c checkpoint, from the bytes of its tokenizer.bin. A text begins with token 1 and a space, which
 * `decode` drops again.
 *
 * @throws {@link QkvError} `invalid_argument` for what is no such file
 */
export const llama2cTokenizer = (bytes: ArrayBuffer | Uint8Array): Tokenizer =>
  llama2c.llama2cTokenizer(bytes);

/**
 * A tokenizer whose token i is the i-th of these letters (code points), counted from 0.
 *
 * @throws {@link QkvError} `invalid_argument` for what is no letter and for a duplicate; its `encode` for a text with another letter
 */
export const charactersTokenizer = (characters: readonly string[]): Tokenizer =>
  charactersOf(characters);

/**
 * The cosines of the angles between vectors, a_i . b_j / (|a_i| |b_j|), [n, m] for [n, d] and [m, d], or 0 where one of the two is all zeros. A
 * Float32Array is one vector. Sums are in float64 and rounded once.
 *
 * @param b - default `a`
 * @throws {@link QkvError} `invalid_argument` for what is no array, `shape_mismatch` for vectors of other widths
 */
export const cosineSimilarity = (
  a: NdArray | Float32Array,
  b?: NdArray | Float32Array,
): OwnedArray<readonly [number, number]> => similarity.cosineSimilarity(a, b);

/**
 * The vectors, of [n, d], that are nearest to a query by the cosine of the angle, the nearest first and of equal ones the first.
 *
 * @param k - how many at most. Default 10
 * @throws {@link QkvError} as {@link cosineSimilarity}, `out_of_range` for k below 1
 */
export const nearest = (
  vectors: NdArray | Float32Array,
  query: NdArray | Float32Array,
  k?: number,
): readonly Neighbour[] => similarity.nearest(vectors, query, k);
