/**
 * Attention for the browser: {@link init} loads an engine, and everything else is a function of it
 * ({@link Qkv}). Shapes are in brackets, outermost first: B is the batch, Hq and Hkv are query and key/value
 * heads, Tq and Tk the numbers of queries and keys, dK and dV the widths of a key and a value. Error bounds are
 * worst cases against exact arithmetic on the same inputs; tests enforce these numbers.
 * @module qkv
 */
import { defaultPlaces, startThreads } from 'qkv-files';
import type { InitOptions, Qkv } from '../api/types.js';
import { sharedEngine } from '../load/init.js';
import { readAbi, written } from '../memory/abi.js';

export { QkvError, type QkvErrorCode } from '../api/errors.js';
export { array, random, toNested, zeros } from '../plain-arrays.js';
export type * from '../api/types.js';

const product = {
  name: 'qkv',
  abi: readAbi(written),
  more: {},
  files: { defaultPlaces, startThreads },
} as const;

/**
 * Loads an engine: picks the fastest build that this JavaScript engine can run, fetches and compiles it. Calls with
 * the same options share one load, one instance and its memory (unless `shared` is false), and each gets an engine
 * of its own: its `dispose()` leaves the others alive. A failed load is forgotten and may be tried again.
 *
 * @throws {@link QkvError} `unsupported` without WebAssembly SIMD (or relaxed SIMD, if requested),
 * `load_failed` when the .wasm cannot be had, is something else, or is of another version,
 * `invalid_argument` for options that make no sense, `out_of_range` for more threads than 64 or none.
 */
export function init(options: InitOptions = {}): Promise<Qkv> {
  return sharedEngine(product, options);
}
