// Where the .wasm comes from when init() is not given one. There are two answers, and the bundles of the
// package differ in nothing else: tools/build.js resolves 'qkv-files' to files-external.ts for `qkv` and
// to files-embedded.ts for `qkv/inline`.

import type { RawModule } from '../memory/raw.js';
import type { Team } from './team.js';
import type { InitOptions, Variant } from '../api/types.js';

type Source = NonNullable<InitOptions['wasm']>;

/** Places to try in turn; one that turns out not to exist here is undefined. If all fail, the first error is reported. */
export type DefaultPlaces = (
  variant: Variant,
) => readonly (() => Source | Promise<Source | undefined>)[];

/** Starts `threads - 1` workers; undefined where one file is all there is, and a worker's script is another. */
export type StartThreads =
  ((raw: RawModule, module: WebAssembly.Module, threads: number) => Promise<Team>) | undefined;
