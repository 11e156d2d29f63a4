// Where the .wasm comes from when init() is not given one. For one entry there are two answers, and the bundles of the
// package differ in nothing else: tools/build/package.js resolves 'qkv-files' to files-external.ts for `qkv` and
// to files-embedded.ts for `qkv/inline`.

import type { MoreOperators } from '../engine.js';
import type { Abi } from '../memory/abi.js';
import type { RawModule } from '../memory/raw.js';
import type { Team } from './team.js';
import type { InitOptions, Variant } from '../api/types.js';

type WasmSource = NonNullable<InitOptions['wasm']>;

/** Places to try in turn; one that turns out not to exist here is undefined. If all fail, the first error is reported. */
export type DefaultPlaces = (
  variant: Variant,
) => readonly (() => WasmSource | Promise<WasmSource | undefined>)[];

/** Starts `threads - 1` workers; undefined where one file is all there is, and a worker's script is another. */
export type StartThreads =
  | ((raw: RawModule, module: WebAssembly.Module, threads: number) => Promise<Team>)
  | undefined;

/** What an entry of the package loads. */
export interface Product {
  /** What its .wasm files begin with: `<name>-simd.wasm`. */
  readonly name: 'qkv' | 'qkv-train' | 'qkv-spectra';
  readonly abi: Abi;
  /** Its operators besides those of `qkv`. */
  readonly more: MoreOperators;
  /** Whether its module has these alone, and none of those of `qkv`; there is one build of it then. */
  readonly isAlone?: boolean;
  readonly files: { readonly defaultPlaces: DefaultPlaces; readonly startThreads: StartThreads };
}
