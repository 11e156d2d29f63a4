// Models of qkv/models by the objects that callers have, for trainers that begin with one.

import type { AdapterFiles, WrittenAdapters } from '../api/adapter-types.js';
import { QkvError } from '../api/errors.js';
import { describe } from '../arguments/values.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';
import type { Config } from './config.js';
import type { NamedArray } from './named-arrays.js';
import type { SavedTexts } from './saved-texts.js';

/** Adapters that are trained: of the same maps in every layer, all of one rank and factor. */
export interface UniformAdapters {
  readonly rank: number;
  /** The factor is alpha / rank. */
  readonly alpha: number;
  readonly dropout: number;
  /** The arrays A [in, rank] and B [rank, out] by their names, as "layers.0.attention.wq.loraA". */
  readonly arrays: ReadonlyMap<string, Float32Array>;
  /** By which name the files call the model that they are of. */
  readonly base: string | undefined;
}

/** Reads adapters of a model out of files of PEFT, and writes such files. */
export interface AdapterReader {
  read(fn: string, files: AdapterFiles): UniformAdapters;
  write(fn: string, adapters: UniformAdapters): WrittenAdapters;
}

/** Where a model is, and what it is. */
export interface ModelHandle {
  readonly instance: Instance;
  readonly config: Config;
  readonly arrays: ReadonlyMap<string, NamedArray>;
  /** What its files say of texts. */
  texts(fn: string): SavedTexts;
  /** Adapters of such a model in files. */
  readonly adapters: AdapterReader;
  /** Its address, for a call of `fn`; refused once it is disposed. */
  live(fn: string): Address;
}

const handles = new WeakMap<object, ModelHandle>();

/** Makes a model known by the object that the caller has. */
export function keepHandle(owner: object, handle: ModelHandle): void {
  handles.set(owner, handle);
}

/** The model behind an object of this engine. */
export function handleOf(fn: string, instance: Instance, model: unknown): ModelHandle {
  const handle = typeof model === 'object' && model !== null ? handles.get(model) : undefined;
  if (!handle) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: model is ${describe(model)}, expected a model that load() or create() of qkv/models made`,
    );
  }
  if (handle.instance !== instance) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: model belongs to another engine, expected one that was loaded with this engine`,
    );
  }
  return handle;
}
