// From init() options to a running module: which variant, which bytes, are they ours, and its threads.

import { allowInPolicy, asciiOf, compileDefault, compileGiven } from './compile.js';
import { fail, isForbidden, reason } from './compile.js';
import { QkvError } from '../api/errors.js';
import { start } from './embind.js';
import { type RawModule, textAt } from '../memory/raw.js';
import { alone, canShareMemory, type Team } from './team.js';
import type { InitOptions, Variant } from '../api/types.js';
import type { Product } from './files.js';
import { chooseVariant, isaOf, isThreaded, singleOf, threadsOf } from './variant.js';

/** The variant that the file itself states, before any of its code runs. */
function identify(module: WebAssembly.Module, { name, abi, isAlone }: Product): Variant {
  const [section] = WebAssembly.Module.customSections(module, 'qkv');
  const words = section ? asciiOf(new Uint8Array(section)).split(' ') : [];
  const [found, version, kind, hash, memory] = words;
  if (found !== name) {
    const was = found ?? 'not of this package';
    const other = isAlone ? '' : ` or ${name}-relaxed.wasm`;
    throw fail(`the .wasm is ${was}, expected ${name}-simd.wasm${other}`);
  }
  if (version !== QKV_VERSION) {
    throw fail(
      `the .wasm is version ${version} and the JavaScript is ${QKV_VERSION}, expected the same; one of ` +
        'the two comes from an old copy or cache',
    );
  }
  if (hash !== abi.hash) {
    throw fail(
      `the .wasm reads the argument layout ${hash} and the JavaScript writes ${abi.hash}, expected the same; ` +
        'one of the two comes from another build',
    );
  }
  return (memory === 'shared' ? `${kind}-threads` : kind) as Variant;
}

/** A file may be given explicitly and still be the wrong one for the options. */
function checkGiven(found: Variant, options: InitOptions, wanted: Variant): void {
  const { variant = 'auto', deterministic = false } = options;
  if (variant !== 'auto' && found !== variant && found !== wanted) {
    throw fail(`the .wasm is the ${found} build, expected variant '${variant}'`);
  }
  if (deterministic && found.startsWith('relaxed')) {
    throw fail('the .wasm is the relaxed build, expected the simd build for deterministic: true');
  }
}

/** As wasm/CMakeLists.txt says: 2 MB to begin with and at most 4 GB, in pages of 64 kB. */
const pages = { initial: 32, maximum: 65536 };

const instantiate = (
  module: WebAssembly.Module,
  wasmMemory: WebAssembly.Memory,
): Promise<RawModule> =>
  start(module, wasmMemory).catch((error: unknown) => {
    const expected = isForbidden(error)
      ? `a policy that allows it; ${allowInPolicy}`
      : 'an intact file';
    throw fail(`the .wasm cannot be started (${reason(error)}), expected ${expected}`, error);
  });

export interface Loaded {
  readonly raw: RawModule;
  readonly variant: Variant;
  readonly isa: string;
  readonly team: Team;
}

/** How far shared memory may grow, in pages: 4 GB, or else 2 or 1. */
const sharedMaxima = [pages.maximum, 2 ** 15, 2 ** 14];

/**
 * An engine reserves the address space for all that shared memory may become, which small devices and processes with
 * a limit do not have. Undefined where there is not even 1 GB.
 */
function sharedMemory(): WebAssembly.Memory | undefined {
  for (const maximum of sharedMaxima) {
    try {
      return new WebAssembly.Memory({ ...pages, maximum, shared: true });
    } catch {
      // Less may do.
    }
  }
  return undefined;
}

/** For a file that was given and runs on nothing else. */
function requireSharedMemory(variant: Variant): WebAssembly.Memory {
  const memory = canShareMemory() ? sharedMemory() : undefined;
  if (memory) return memory;
  throw new QkvError(
    'unsupported',
    `init: the .wasm is the ${variant} build and shared memory is not available (a page must be isolated ` +
      "from other origins for that), expected the build without '-threads'",
  );
}

export async function load(product: Product, options: InitOptions): Promise<Loaded> {
  const { startThreads } = product.files;
  let wanted = chooseVariant(options);
  let shared = startThreads && isThreaded(wanted) ? sharedMemory() : undefined;
  if (!shared) wanted = singleOf(wanted);
  const module = await (options.wasm === undefined
    ? compileDefault(product, wanted)
    : compileGiven(options.wasm));
  const variant = identify(module, product);
  checkGiven(variant, options, wanted);
  if (isThreaded(variant)) shared ??= requireSharedMemory(variant);
  const raw = await instantiate(
    module,
    isThreaded(variant) && shared ? shared : new WebAssembly.Memory(pages),
  );
  const isa = textAt(raw, raw._isa());
  if (isa !== isaOf(variant)) throw fail(`the .wasm runs ${isa}, expected ${isaOf(variant)}`);
  const team =
    startThreads && isThreaded(variant)
      ? await startThreads(raw, module, threadsOf(options))
      : alone;
  return { raw, variant, isa, team };
}
