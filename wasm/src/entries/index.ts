/**
 * Attention for the browser: {@link init} loads an engine, and everything else is a function of it
 * ({@link Qkv}). Shapes are in brackets, outermost first: B is the batch, Hq and Hkv are query and key/value
 * heads, Tq and Tk the numbers of queries and keys, dK and dV the widths of a key and a value. Error bounds are
 * worst cases against exact arithmetic on the same inputs; tests enforce these numbers.
 * @module qkv
 */
import { checkBoolean, checkChoice } from '../arguments/check.js';
import { checkSource, fail, isAddress, reason } from '../load/compile.js';
import { Engine } from '../engine.js';
import { QkvError } from '../api/errors.js';
import { describe, reading, takeOptions } from '../arguments/values.js';
import { identity } from '../arguments/identity.js';
import { load } from '../load/instantiate.js';
import { mostThreads } from '../load/team.js';
import type { InitOptions, Qkv, Variant } from '../api/types.js';

export { QkvError, type QkvErrorCode } from '../api/errors.js';
export type * from '../api/types.js';

/** One engine for each distinct set of options. */
const engines = new Map<string, Promise<Qkv>>();

function keyOf({
  variant = 'auto',
  threads = 1,
  deterministic = false,
  wasm,
}: InitOptions): string {
  const source = isAddress(wasm) ? String(wasm) : wasm === undefined ? 0 : identity(wasm);
  return JSON.stringify([variant, threads, deterministic, source]);
}

const variants: readonly Variant[] = ['relaxed', 'simd', 'relaxed-threads', 'simd-threads'];

function checkThreads(variant: 'auto' | Variant, threads: unknown): void {
  const whole = Number.isSafeInteger(threads);
  const fits = whole && Number(threads) >= 1 && Number(threads) <= mostThreads;
  if (!fits && threads !== 'auto') {
    throw new QkvError(
      whole ? 'out_of_range' : 'invalid_argument',
      `init: threads is ${describe(threads)}, expected a whole number from 1 to ${mostThreads} or 'auto'`,
    );
  }
  const single = variant === 'relaxed' || variant === 'simd';
  if (single && threads !== 1) {
    throw new QkvError(
      'invalid_argument',
      `init: threads is ${describe(threads)} and variant is '${variant}', which has one, expected ` +
        `'${variant}-threads' or 'auto'`,
    );
  }
}

/** A copy of the options, which make sense, and the key of their engine. */
function checkOptions(given: InitOptions): [options: InitOptions, key: string] {
  const names = ['variant', 'threads', 'deterministic', 'wasm'];
  const options = takeOptions('init', 'options', given, names);
  const { variant = 'auto', threads = 1 } = options;
  checkChoice('init', 'variant', variant, ['auto', ...variants]);
  checkBoolean('init', 'deterministic', options.deterministic);
  if (options.deterministic && variant.startsWith('relaxed')) {
    throw new QkvError(
      'invalid_argument',
      `init: variant is '${variant}' and deterministic is true, expected one or the other`,
    );
  }
  checkThreads(variant, threads);
  checkSource(options.wasm);
  return [options, reading('init', 'wasm', () => keyOf(options))];
}

/**
 * Loads the engine: picks the fastest build this JavaScript engine can run, fetches and compiles it.
 * The promise is kept for each distinct set of options, so concurrent and later calls share one engine,
 * until it is disposed; a failed load is forgotten and may be tried again.
 *
 * @throws {@link QkvError} `unsupported` without WebAssembly SIMD (or relaxed SIMD, if asked for),
 * `load_failed` when the .wasm cannot be had, is something else, or is of another version,
 * `invalid_argument` for options that make no sense, `out_of_range` for more threads than 64 or none.
 */
export function init(options: InitOptions = {}): Promise<Qkv> {
  let taken: InitOptions;
  let key: string;
  try {
    [taken, key] = checkOptions(options);
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : fail(reason(error)));
  }
  const known = engines.get(key);
  if (known) return known;
  const forget = (): void => {
    if (engines.get(key) === engine) engines.delete(key);
  };
  const engine: Promise<Qkv> = load(taken).then(
    ({ raw, variant, isa, team }) => {
      const info = { version: QKV_VERSION, variant, threads: team.threads, isa };
      return new Engine(raw, info, () => {
        team.close();
        forget();
      });
    },
    (error: unknown) => {
      forget();
      throw error instanceof QkvError ? error : fail(`wasm is of no use (${reason(error)})`, error);
    },
  );
  engines.set(key, engine);
  return engine;
}
