// From the options of init() to an engine, which later calls with the same options share.

import { QkvError } from '../api/errors.js';
import type { EngineInfo, InitOptions, Qkv, Variant } from '../api/types.js';
import { identity } from '../arguments/identity.js';
import { checkBoolean, checkChoice } from '../arguments/numbers.js';
import { describe, reading, takeOptions } from '../arguments/values.js';
import { createEngine } from '../engine.js';
import { Instance } from '../memory/instance.js';
import type { Product } from './files.js';
import { checkSource, fail, isAddress, reason } from './compile.js';
import { load, type Loaded } from './instantiate.js';
import { mostThreads, type Team } from './team.js';

/** What is behind each engine, for qkv/models alone. */
export const behind = new WeakMap<object, Instance>();

/** One load for each distinct set of options: the module, and how many engines use it. */
interface Shared {
  readonly loaded: Promise<Loaded>;
  users: number;
}
const loads = new Map<string, Shared>();

function keyOf(
  product: Product,
  { variant = 'auto', threads = 1, deterministic = false, wasm }: InitOptions,
): string {
  const source = isAddress(wasm) ? String(wasm) : wasm === undefined ? 0 : identity(wasm);
  return JSON.stringify([product.name, variant, threads, deterministic, source]);
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
      `init: threads is ${describe(threads)} and variant is '${variant}', which has one thread, expected ` +
        `'${variant}-threads' or 'auto'`,
    );
  }
}

/** A copy of the options, which make sense, and the key of their engine. */
function checkOptions(product: Product, given: InitOptions): [options: InitOptions, key: string] {
  const names = ['variant', 'threads', 'deterministic', 'wasm', 'shared'] as const;
  const options = takeOptions('init', 'options', given, names);
  const { variant = 'auto', threads = 1 } = options;
  checkChoice('init', 'variant', variant, ['auto', ...variants]);
  checkBoolean('init', 'deterministic', options.deterministic);
  checkBoolean('init', 'shared', options.shared);
  if (options.deterministic && variant.startsWith('relaxed')) {
    throw new QkvError(
      'invalid_argument',
      `init: variant is '${variant}' and deterministic is true, expected one or the other`,
    );
  }
  checkThreads(variant, threads);
  checkSource(options.wasm);
  return [options, reading('init', 'wasm', () => keyOf(product, options))];
}

/**
 * A function of its own, because a getter keeps all that stands around it: a program that keeps an engine after
 * dispose() must not keep its memory.
 */
function infoOf(variant: Variant, isa: string, helpers: Team['helpers']): EngineInfo {
  const info = {
    ...{ version: QKV_VERSION, variant, isa },
    get threads() {
      return 1 + helpers.size;
    },
  };
  // Consoles of Node and Bun, and of Deno, which wants a text, say [Getter] for the number.
  const value = (): object => ({ ...info });
  const text = (show: (of: object) => string): string => show({ ...info });
  Object.defineProperty(info, Symbol.for('nodejs.util.inspect.custom'), { value });
  return Object.defineProperty(info, Symbol.for('Deno.customInspect'), { value: text });
}

/** An engine of its own on a module that it may share; the last that is disposed lets the module go. */
export async function sharedEngine(product: Product, given: InitOptions): Promise<Qkv> {
  const [options, key] = checkOptions(product, given);
  const known = options.shared === false ? undefined : loads.get(key);
  const own = known ?? { loaded: load(product, options), users: 0 };
  const forget = (): void => {
    if (loads.get(key) === own) loads.delete(key);
  };
  if (options.shared !== false) loads.set(key, own);
  own.users += 1;
  try {
    const { raw, variant, isa, team } = await own.loaded;
    const info = infoOf(variant, isa, team.helpers);
    const instance = new Instance(raw, product.abi);
    const engine = createEngine(instance, info, product, () => {
      own.users -= 1;
      if (own.users > 0) return;
      forget();
      team.close();
    });
    if (!product.isAlone) behind.set(engine, instance);
    return engine;
  } catch (error) {
    forget();
    throw error instanceof QkvError
      ? error
      : fail(`wasm could not be loaded (${reason(error)})`, error);
  }
}
