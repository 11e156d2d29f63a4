/**
 * Language models on an engine of `qkv`, `qkv/inline` or `qkv/train`: {@link load} reads the files of a trained one, and
 * {@link create} makes one of weights in memory. A {@link LanguageModel} answers with logits, says what follows, and shows what
 * its layers computed.
 * @module qkv/models
 */
import { QkvError } from '../api/errors.js';
import type {
  CreateOptions,
  LanguageModel,
  LanguageModelConfig,
  LoadOptions,
  Source,
} from '../api/model-types.js';
import type { NdArray, Qkv } from '../api/types.js';
import { describe, isRecord, reading } from '../arguments/values.js';
import { behind, type Behind } from '../load/init.js';
import { inlineKey } from '../load/inline-key.js';
import { readPart, written } from '../memory/abi.js';
import type { Instance } from '../memory/instance.js';
import * as models from '../models/create.js';

export { QkvError, type QkvErrorCode } from '../api/errors.js';
export { array, random, toNested, zeros } from '../arguments/plain-arrays.js';
export type * from '../api/model-types.js';

const { operators } = readPart(QKV_MODELS_ABI);

/** What is behind an engine of `qkv/inline`, which shares no module with this one and has to be asked. */
function behindInline(engine: unknown): Behind | undefined {
  const ask = isRecord(engine) ? (engine as Record<PropertyKey, unknown>)[inlineKey] : undefined;
  const found = typeof ask === 'function' ? (ask as () => Behind)() : undefined;
  return found?.abi.hash === written.hash ? found : undefined;
}

/** The instance of an engine, which knows the operators of models from now on. */
function instanceOf(fn: string, engine: unknown): Instance {
  const found = reading(fn, 'engine', () =>
    isRecord(engine) ? (behind.get(engine) ?? behindInline(engine)) : undefined,
  );
  if (!found) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: engine is ${describe(engine)}, expected one that init of qkv, qkv/inline or qkv/train made, of this copy of the package`,
    );
  }
  const { instance, abi } = found;
  for (const [name, operator] of operators) abi.operators.set(name, operator);
  instance.raw(fn);
  return instance;
}

/**
 * Makes a model of weights in memory, by the names of `parameters()` in `qkv/train`.
 *
 * @throws {@link QkvError} `invalid_argument` (an engine or config that is none, names that are missing or surplus, which are
 * listed), `shape_mismatch`, `out_of_range`, `out_of_memory`, `unsupported`, `disposed`; nothing is kept then
 */
export function create(
  engine: Qkv,
  config: LanguageModelConfig,
  weights: Readonly<Record<string, NdArray>>,
  options?: CreateOptions,
): LanguageModel {
  return models.create(instanceOf('create', engine), config, weights, options);
}
