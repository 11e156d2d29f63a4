// Models of qkv/models by the objects that callers have, for trainers that begin with one.

import { QkvError } from '../api/errors.js';
import { describe } from '../arguments/values.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';
import type { Config } from './config.js';
import type { NamedArray } from './named-arrays.js';
import type { SavedTexts } from './saved-texts.js';

/** Where a model is, and what it is. */
export interface ModelHandle {
  readonly instance: Instance;
  readonly config: Config;
  readonly arrays: ReadonlyMap<string, NamedArray>;
  /** What its files say of texts. */
  texts(fn: string): SavedTexts;
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
