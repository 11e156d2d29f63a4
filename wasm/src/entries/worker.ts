/**
 * Attention off the main thread: the engine of `qkv` in workers, under the same names. Every method takes the
 * same arguments and promises the same result, bit for bit; tensors, caches, layers, blocks and trainers live in a
 * worker and have asynchronous methods. Arrays are copied to the worker, or moved if the call says so;
 * results are moved back.
 * @module qkv/worker
 */
import { describe } from '../arguments/values.js';
import { QkvError } from '../api/errors.js';
import type { InitOptions, Qkv } from '../api/types.js';
import { isPort } from '../platform/ports.js';
import { host } from '../worker/host/host.js';
import { start } from '../worker/client/start.js';
import type { AsyncInitOptions, AsyncQkv, WorkerModels, WorkerPort } from '../api/worker-types.js';

export { QkvError, type QkvErrorCode } from '../api/errors.js';
export { array, random, toNested, zeros } from '../plain-arrays.js';
export type { Constraint, ConstraintRule } from '../api/constraint-types.js';
export type * from '../api/inspect-types.js';
export type * from '../api/load-types.js';
export type * from '../api/logit-types.js';
export type * from '../api/model-types.js';
export type * from '../api/sampling-types.js';
export type * from '../api/trainer-types.js';
export type * from '../api/types.js';
export type * from '../api/worker-types.js';
export type * from '../api/worker-train-types.js';

/**
 * Starts workers, or takes yours, and loads an engine in each. Calls with the same options share them, and
 * each gets an engine of its own: its `dispose()` leaves the others alive. A failed load is forgotten and may be tried again.
 *
 * @throws {@link QkvError} `load_failed` when a worker cannot be started, does not answer in time, is of
 * another version, or cannot load its engine, `invalid_argument` and `out_of_range` for options that make no
 * sense, and what `init` of `qkv` throws
 */
export function init(options: AsyncInitOptions = {}): Promise<AsyncQkv> {
  return start(options);
}

/**
 * In a worker of yours: lets the other side call engines here by `init({ worker })`. `port` is `self` of a
 * dedicated worker, `parentPort` in Node, or a `MessagePort`; `load` is `init` of `qkv`, `qkv/inline` or `qkv/train`, or
 * a function that calls it with options of its own. `models`, for `loadModel`, is `qkv/models`, or an object with a `load` of yours
 * that calls it with a tokenizer. An engine of `init({ worker, shared: false })` is disposed with that of the other side. Other
 * messages may use the same port: those of this package are objects with a key `'qkv/worker'`. Doing it again for the same port does nothing.
 *
 * @throws {@link QkvError} `invalid_argument` for what is no port or no function
 */
export function serve(
  port: WorkerPort,
  load: (options?: InitOptions) => Promise<Qkv>,
  models?: WorkerModels,
): void {
  if (!isPort(port)) {
    throw new QkvError(
      'invalid_argument',
      `serve: port is ${describe(port)}, expected self of a worker or a MessagePort`,
    );
  }
  if (typeof load !== 'function') {
    throw new QkvError(
      'invalid_argument',
      `serve: load is ${describe(load)}, expected the init of qkv`,
    );
  }
  if (models !== undefined && typeof models?.load !== 'function') {
    throw new QkvError(
      'invalid_argument',
      `serve: models is ${describe(models)}, expected qkv/models, or an object with its load`,
    );
  }
  host(port, load, models);
}
