/**
 * Attention for the browser: {@link init} loads an engine, and everything else is a function of it
 * ({@link Qkv}). Shapes are in brackets, outermost first: B is the batch, Hq and Hkv are query and key/value
 * heads, Tq and Tk the numbers of queries and keys, dK and dV the widths of a key and a value. Error bounds are
 * worst cases against exact arithmetic on the same inputs; tests enforce these numbers.
 * @module qkv
 */
import { checkBoolean, checkChoice, checkKeys } from './check.js';
import { Engine } from './engine.js';
import { QkvError } from './error.js';
import { checkSource, load } from './load.js';
import type { InitOptions, Qkv } from './types.js';

export { QkvError, type QkvErrorCode } from './error.js';
export type * from './types.js';

/** One engine for each distinct set of options. */
const engines = new Map<string, Promise<Qkv>>();

/** A key for objects that are only equal to themselves. */
const identities = new WeakMap<object, number>();
let nextIdentity = 0;
function identity(value: object): number {
  const known = identities.get(value);
  if (known !== undefined) return known;
  nextIdentity += 1;
  identities.set(value, nextIdentity);
  return nextIdentity;
}

function keyOf({ variant = 'auto', deterministic = false, wasm }: InitOptions): string {
  const isUrl = typeof wasm === 'string' || wasm instanceof URL;
  const source = isUrl ? String(wasm) : wasm === undefined ? 0 : identity(wasm);
  return JSON.stringify([variant, deterministic, source]);
}

/** The error in the options, if there is one. */
function findProblem(options: InitOptions): QkvError | undefined {
  try {
    checkKeys('init', 'options', options, ['variant', 'deterministic', 'wasm']);
    const { variant = 'auto' } = options;
    checkChoice('init', 'variant', variant, ['auto', 'relaxed', 'simd']);
    checkBoolean('init', 'deterministic', options.deterministic);
    if (options.deterministic && variant === 'relaxed') {
      throw new QkvError(
        'invalid_argument',
        "init: variant is 'relaxed' and deterministic is true, expected one or the other",
      );
    }
    checkSource(options.wasm);
    return undefined;
  } catch (error) {
    if (error instanceof QkvError) return error;
    throw error;
  }
}

/**
 * Loads the engine: picks the fastest build this JavaScript engine can run, fetches and compiles it.
 * The promise is kept for each distinct set of options, so concurrent and later calls share one engine,
 * until it is disposed; a failed load is forgotten and may be tried again.
 *
 * @throws {@link QkvError} `unsupported` without WebAssembly SIMD (or relaxed SIMD, if asked for),
 * `load_failed` when the .wasm cannot be had, is something else, or is of another version,
 * `invalid_argument` for options that make no sense.
 */
export function init(options: InitOptions = {}): Promise<Qkv> {
  const problem = findProblem(options);
  if (problem) return Promise.reject(problem);
  const key = keyOf(options);
  const known = engines.get(key);
  if (known) return known;
  const forget = (): void => {
    if (engines.get(key) === engine) engines.delete(key);
  };
  const engine: Promise<Qkv> = load(options).then(
    ({ raw, variant, isa }) =>
      new Engine(raw, { version: QKV_VERSION, variant, threads: 1, isa }, forget),
    (error: unknown) => {
      forget();
      throw error;
    },
  );
  engines.set(key, engine);
  return engine;
}
