import type { Qkv } from 'qkv';
import type { LanguageModel, ModelCache, Tokenizer } from 'qkv/models';
import { charactersIn, piecesIn, type Encoded } from './own_tokens';
import { embeddingOf, headerOf, tokensOf, typesOf, type OwnTokens } from './safetensors';
import { labelsOf, labelsOfPieces } from '../shared/token_label';
import {
  fileOfAddress,
  type ModelFiles,
  type ModelInfo,
  type NotDrawn,
  type TokenizerKind,
} from '../shared/protocol';
import { BEGIN, type ShippedName } from '../shared/shipped_models';
import { sortFiles } from './sorted_files';

/** A model as the page uses it. */
export interface Opened {
  readonly model: LanguageModel;
  readonly info: Omit<ModelInfo, 'id' | 'time'>;
  /** What is written of a token. */
  readonly label: (id: number) => string;
  /** The tokens of a text, and what of it none could be made of. */
  readonly encode: (text: string) => Encoded;
  /** The token before every text; null: none. */
  readonly begin: number | null;
  /** [vocabulary, dModel] */
  readonly embedding: Float32Array | null;
}

export interface OpenOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (loaded: number, total: number) => void;
}

/** What cannot be loaded for a reason that the page words itself. */
class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

// ---- bytes ----

/** A file of a server, with how much of it is there. */
async function fetched(url: string, { signal, onProgress }: OpenOptions): Promise<Blob> {
  const failed = (error: unknown): never => {
    if (signal.aborted) throw error;
    throw new Refusal('load_failed', `${url}: ${String(error)}`);
  };
  const response = await fetch(url, { signal }).catch(failed);
  if (!response.ok || !response.body) {
    throw new Refusal('load_failed', `${url}: status ${response.status}, expected 200`);
  }
  // Of a compressed answer the length is that of what was sent.
  const total = Number(response.headers.get('content-length'));
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body.getReader();
  let loaded = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(failed);
    if (done) break;
    parts.push(value);
    loaded += value.byteLength;
    onProgress(loaded, Math.max(total, loaded));
  }
  return new Blob(parts);
}

let kept: ModelCache | undefined;

/** Files of addresses that the reader gave, which this browser keeps. */
export async function keptModels(): Promise<ModelCache> {
  const { modelCache } = await import('qkv/models');
  return (kept ??= modelCache({ name: 'qkv-page-models' }));
}

/** A file of an address that the reader gave, from where it is kept or from its server, and kept then. */
async function fetchedOnce(url: string, { signal, onProgress }: OpenOptions): Promise<Blob> {
  const cache = await keptModels();
  try {
    return await cache.blob(url, {
      signal,
      onProgress: ({ loaded, total }) => onProgress(loaded, total),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const why = String(error instanceof Error ? error.message : error);
    const [, status] = / answered (\d+) /.exec(why) ?? [];
    const answer = status === undefined ? why : `status ${status}, expected 200`;
    throw new Refusal('address_failed', `${url}: ${answer}`);
  }
}

interface Parts {
  readonly weights: readonly Blob[];
  readonly name: ShippedName | null;
  readonly file: string;
  readonly config: unknown;
  readonly tokenizer: Blob | null;
  /** The name of a tokenizer that the page does not read. */
  readonly unread: string | null;
}

async function jsonOf(file: File): Promise<unknown> {
  try {
    return JSON.parse(await file.text());
  } catch {
    throw new Refusal('config_json', file.name);
  }
}

async function partsOf(files: ModelFiles, options: OpenOptions): Promise<Parts> {
  if (files.kind === 'web') {
    const { url } = files;
    const blob = await fetchedOnce(url, options);
    const file = new File([blob], fileOfAddress(url));
    return partsOf({ kind: 'files', files: [file] }, options);
  }
  if (files.kind === 'address') {
    const { name, url } = files;
    const weights = [await fetched(url, options)];
    return {
      weights,
      name,
      file: `${name}.safetensors`,
      config: undefined,
      tokenizer: null,
      unread: null,
    };
  }
  const { weights, config, tokenizer, unread } = await sortFiles(files.files);
  const [first] = weights;
  if (!first) throw new Refusal('no_weights', files.files.map(({ name }) => name).join(', '));
  const read = config ? await jsonOf(config) : undefined;
  return {
    weights,
    name: null,
    file: first.name,
    config: read,
    tokenizer,
    unread: unread?.name ?? null,
  };
}

// ---- tokens ----

/** The numbers in a text that are tokens: what a reader can write for a model without a tokenizer. */
function numbersIn(text: string, vocabulary: number) {
  const found = text.match(/\d+/g) ?? [];
  const isToken = (digits: string) => Number(digits) < vocabulary;
  return {
    ids: found.filter(isToken).map(Number),
    unknown: [...new Set(found.filter((digits) => !isToken(digits)))],
  };
}

type Words = Pick<Opened, 'label' | 'encode' | 'begin'> & { readonly kind: TokenizerKind };

function wordsOf({ tokenizer, config }: LanguageModel, own: OwnTokens | null): Words {
  const label = labelsOf(tokenizer);
  if (own) {
    const { type: kind, tokens } = own;
    const places = new Map(tokens.map((token, id) => [token, id]));
    const inText = kind === 'characters' ? charactersIn : piecesIn;
    const encode = (text: string) => inText(text, places);
    const begin = places.get(BEGIN) ?? null;
    return { kind, encode, begin, label: kind === 'characters' ? label : labelsOfPieces(tokens) };
  }
  if (!tokenizer) {
    const encode = (text: string) => numbersIn(text, config.vocabulary);
    return { kind: 'none', label, encode, begin: null };
  }
  const encode = (text: string) => ({ ids: Array.from(tokenizer.encode(text)), unknown: [] });
  return { kind: 'file', label, encode, begin: null };
}

// ---- what it is ----

function notDrawn({
  positions,
  attentionSoftcap,
  window,
}: LanguageModel['config']): NotDrawn | null {
  if (positions === 'alibi') return 'alibi';
  if (attentionSoftcap > 0) return 'softcap';
  const windows = Array.isArray(window) ? window : [window];
  return windows.some((each) => each !== null) ? 'window' : null;
}

function describeModel(model: LanguageModel, parts: Parts, kind: TokenizerKind) {
  const { config, parameterCount, bytes, format } = model;
  const { vocabulary, maxLength, numLayers, numHeads, dModel, dK, positions, causal } = config;
  return {
    name: parts.name,
    file: parts.file,
    fileBytes: parts.weights.reduce((sum, { size }) => sum + size, 0),
    bytes,
    family: config.family,
    parameters: parameterCount,
    format,
    ...{ vocabulary, maxLength, numLayers, numHeads, dModel, dK, positions, causal },
    speaks: causal, // the package takes no causal model without a head
    tokenizer: kind,
    unread: parts.unread,
    notDrawn: notDrawn(config),
  };
}

/** Reads a model; nothing is kept if that fails. */
export async function open(qkv: Qkv, files: ModelFiles, options: OpenOptions): Promise<Opened> {
  const [models, parts] = await Promise.all([import('qkv/models'), partsOf(files, options)]);
  const { weights, config, tokenizer: bin } = parts;
  const [first] = weights;
  const headers = await Promise.all(weights.map(headerOf));
  const [header = null] = headers;
  const own = header && tokensOf(header);
  // One of pieces is made by the package, out of the file.
  let tokenizer: Tokenizer | undefined;
  if (own?.type === 'characters') tokenizer = models.charactersTokenizer(own.tokens);
  if (bin) tokenizer = models.llama2cTokenizer(await bin.arrayBuffer());
  const source = {
    weights: weights.length === 1 && first ? first : weights,
    config: config as object | undefined,
    tokenizer,
  };
  const { signal, onProgress } = options;
  // What is shipped is computed in float32 throughout: of int8 the inputs of products would be rounded, too.
  const model = await models.load(qkv, source, {
    ...(parts.name && { format: 'f32' }),
    // Logits are those of the next token here, or there are none.
    head: false,
    signal,
    ...(files.kind === 'files' && {
      onProgress: ({ loaded, total }) => onProgress(loaded, total),
    }),
  });
  try {
    const { kind, ...words } = wordsOf(model, own);
    const { vocabulary, dModel } = model.config;
    const embedding =
      header && first ? await embeddingOf(first, header, [vocabulary, dModel]) : null;
    const types = typesOf(headers.filter((each) => each !== null));
    return { model, ...words, embedding, info: { ...describeModel(model, parts, kind), types } };
  } catch (error) {
    model.dispose();
    throw error;
  }
}
