/**
 * Training: the engine of `qkv` with gradients. {@link init} loads .wasm files of its own, and what it resolves to is
 * everything that `qkv` has and more ({@link TrainQkv}). Tensors belong to the engine that made them, so one engine of
 * this entry does for both ways.
 * @module qkv/train
 */
import type { TrainQkv } from '../api/train-types.js';
import type { InitOptions } from '../api/types.js';
import { readPart } from '../memory/abi-part.js';
import { defaultPlaces, startThreads } from '../load/files-train.js';
import { sharedEngine } from '../load/init.js';
import { readAbi, written } from '../memory/abi.js';
import { operators } from '../train/operators.js';

export { QkvError, type QkvErrorCode } from '../api/errors.js';
export { array, random, toNested, zeros } from '../plain-arrays.js';
export type * from '../api/types.js';
export type * from '../api/train-types.js';
export type * from '../api/logit-types.js';
export type * from '../api/trainer-types.js';

const { hash, operators: own } = readPart(QKV_TRAIN_ABI);

const product = {
  name: 'qkv-train',
  abi: { hash, operators: new Map([...readAbi(written).operators, ...own]) },
  more: operators,
  files: { defaultPlaces, startThreads },
} as const;

/**
 * Loads an engine that can be trained with, as `init` of `qkv` loads one that cannot: the same options, the same sharing,
 * the same errors. A `wasm` that is given must be of this entry: qkv-train-simd.wasm and its like.
 *
 * @throws {@link QkvError} what `init` of `qkv` throws
 */
export function init(options: InitOptions = {}): Promise<TrainQkv> {
  return sharedEngine(product, options) as Promise<TrainQkv>;
}
