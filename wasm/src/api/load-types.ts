// Where models are, and how they are fetched and kept.

import type { CreateOptions, Tokenizer, TokenizerJson, WeightFormat } from './model-types.js';

// As in types.ts: the options leave out a type of the web that a program lacks.
type Web = typeof globalThis;
type WebUrl = Web extends { URL: { prototype: infer T } } ? T : never;
type WebBlob = Web extends { Blob: { prototype: infer T } } ? T : never;
type WebSignal = Web extends { AbortSignal: { prototype: infer T } } ? T : never;
type WebResponse = Web extends { Response: { prototype: infer T } } ? T : never;

/**
 * Where a model is. An address may be one of a hub: `hub:owner/name/file`, or `hub:owner/name/file@revision`, and for `weights` also
 * `hub:owner/name`, of which {@link load} finds all files that it reads (those below that are not given).
 */
export interface Source {
  /**
   * config.json of the Hugging Face hub, parsed, or where it is. Not needed for GGUF and llama2.c files, which carry it, and
   * for files of trainers of `qkv/train`.
   */
  config?: string | WebUrl | object | undefined;
  /**
   * safetensors (one file, shards, or where their index is), GGUF (one file, or all of its parts in any order), or a llama2.c
   * checkpoint.
   */
  weights:
    | (string | WebUrl | WebBlob | ArrayBuffer | Uint8Array)
    | readonly (string | WebUrl | WebBlob | ArrayBuffer | Uint8Array)[];
  /**
   * For texts in place of tokens: one of yours, or tokenizer.json of the Hugging Face hub, parsed, or where it is. Default the one in
   * the file: of GGUF, and of files of `qkv/train` whose metadata has one.
   */
  tokenizer?: Tokenizer | TokenizerJson | string | WebUrl | undefined;
  /**
   * generation_config.json of the Hugging Face hub, parsed, or where it is: its `eos_token_id` are the tokens that end what
   * `generate` says, in place of those of config.json. Nothing else of it is read.
   */
  generation?: string | WebUrl | object | undefined;
  /** 1_Pooling/config.json of sentence-transformers, parsed, or where it is: the default of `pooling` of `embed`. */
  pooling?: string | WebUrl | object | undefined;
  /**
   * tokenizer_config.json of the Hugging Face hub, parsed, or where it is: its chat templates, and the texts of tokens that these have as
   * variables. GGUF files carry both. Nothing else of it is read.
   */
  tokenizerConfig?: string | WebUrl | object | undefined;
  /** A chat template, or where it is, as chat_template.jinja of the hub: before those of other files. */
  chatTemplate?: string | WebUrl | undefined;
}

/** The hub that addresses as `hub:owner/name` are of. */
export interface HubOptions {
  /** Its address. Default `'https://huggingface.co'`. Files are below `/owner/name/resolve/revision/`, as there. */
  host?: string | undefined;
  /** An access token, sent to this host alone: `Authorization: Bearer token`. */
  token?: string | undefined;
  /** Headers of requests to this host alone. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Headers of requests: for the addresses that were given, or of the address of a request. What a server redirects to another origin
 * goes there without them; a function is called again, for the new address. Browsers do not say where a
 * redirect leads: they drop `Authorization` themselves where it leads to another origin, and with other headers a redirect is an error.
 */
export type RequestHeaders =
  | Readonly<Record<string, string>>
  | ((
      address: string,
    ) =>
      | Readonly<Record<string, string>>
      | undefined
      | Promise<Readonly<Record<string, string>> | undefined>);

/** What {@link FetchOptions.fetch} is called with. */
export interface FetchInit {
  /** `Range`, `If-Range` and those of the options. */
  headers: Record<string, string>;
  /** Ends the request. */
  signal: WebSignal;
  /** `'manual'`: answers that redirect are wanted as they are. */
  redirect?: 'manual' | 'follow';
  /** `'no-store'` where the file is kept by a {@link ModelCache}: the browser's own cache would have it a second time. */
  cache?: 'no-store';
}

/** How files are requested from servers. */
export interface FetchOptions {
  /** Headers of the requests for the files of `source`. */
  headers?: RequestHeaders | undefined;
  /** The hub of addresses as `hub:owner/name`. */
  hub?: HubOptions | undefined;
  /** In place of the global `fetch`. */
  fetch?: ((address: string, init: FetchInit) => Promise<WebResponse>) | undefined;
  /**
   * Requests for the rest of a file whose connection broke, in a row for which no byte came. Before the nth it waits 0.25 s 2^(n-1), a
   * quarter more or less by chance. Default 5.
   */
  tries?: number | undefined;
}

/** Options of {@link load}. */
export interface LoadOptions extends Omit<CreateOptions, 'tokenizer'>, FetchOptions {
  /**
   * For all matrices. Default: as the file has most of them. If that is blocks, matrices in Q4_K stay as they are (`'q4_k'`), others
   * with blocks of 4 bits are `'int4'` and all others `'int8'`.
   */
  format?: WeightFormat | undefined;
  /**
   * Whether the head for masked tokens or for classes is read that files of classes such as `BertForMaskedLM` and
   * `BertForSequenceClassification` have. Default true; without it such a model is an encoder that answers with `hidden`.
   */
  head?: boolean | undefined;
  /** Ends the loading; what was taken is given back. */
  signal?: WebSignal | undefined;
  /** Called as bytes of weights arrive. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * The SHA-256 that weights must have, in hexadecimal: of the one file, or by the names of files. The hashes that a hub
   * states for its files are checked without it.
   */
  sha256?: string | Readonly<Record<string, string>> | undefined;
  /** Where files of servers are kept: a `modelCache` of `qkv/models`, or its options. Default nowhere. */
  cache?: ModelCache | ModelCacheOptions | undefined;
}

/** How far a load is, in bytes of weights. */
export interface Progress {
  /** Read so far. */
  loaded: number;
  /** To read. */
  total: number;
  /** Bytes in a second, of about the last two. */
  rate: number;
  /** The name of the file that is read, the last part of its address; `'weights'` for bytes. */
  file: string;
  /** Why the cache keeps nothing of what comes; there is none as long as it does. */
  cacheProblem?: string;
}

/** Options of {@link modelCache}. */
export interface ModelCacheOptions {
  /** Caches of different names know nothing of each other. Not with a folder. Default `'qkv-models'`. */
  name?: string | undefined;
  /** In Node, Deno and Bun, where it is needed: the folder of the files. It is made when something is kept. */
  folder?: string | undefined;
  /**
   * `'cache'`: the Cache API of browsers; `'opfs'`: files of the origin (the origin private file system). Default `'folder'` with a folder,
   * else `'cache'`.
   */
  kind?: 'cache' | 'opfs' | 'folder' | undefined;
  /** When it holds more, the files go that were not used for the longest time. A larger file is not kept. Default no limit. */
  maxBytes?: number | undefined;
}

/** A file in a cache, or the part of it that has come. */
export interface KeptFile {
  /** Where it is from. */
  address: string;
  /** Bytes of the file; undefined until a server has said how many. */
  size: number | undefined;
  /** Bytes of it that are kept. */
  kept: number;
  /** When it was last loaded. */
  used: Date;
}

/** Options of {@link ModelCache.blob}. */
export interface BlobOptions extends FetchOptions {
  /** Ends the download; what came is kept. */
  signal?: WebSignal | undefined;
  /** Called as bytes arrive. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/**
 * Files of servers that are kept for the next time. A file that is kept is not requested again, also offline, until it is removed; of
 * `hub:owner/name` the list of its files is requested first, which names the revision. What cannot be kept is loaded all the same.
 */
export interface ModelCache {
  /** As it was given. */
  readonly name: string;
  /** Where it keeps files. */
  readonly kind: 'cache' | 'opfs' | 'folder';
  /** As it was given. */
  readonly folder: string | undefined;
  /** As it was given. */
  readonly maxBytes: number;
  /** Why the latest file was not kept, or could not be read: no room, denied. */
  readonly problem: string | undefined;
  /** What is kept, latest use first. Empty where the cache cannot be read, as `problem` says. */
  list(): Promise<KeptFile[]>;
  /** Bytes that are kept. */
  size(): Promise<number>;
  /** Removes a file. `false` if it was not there. */
  remove(address: string | WebUrl): Promise<boolean>;
  /** Removes all files. */
  clear(): Promise<void>;
  /**
   * A file of a server, kept and whole.
   * @throws {@link QkvError} `load_failed` when it cannot be read; the reason of the signal
   */
  blob(address: string | WebUrl, options?: BlobOptions): Promise<WebBlob>;
}
