// Of `qkv`: the .wasm files beside this module.

import { whereViteHas } from '../platform/package-files.js';
import type { DefaultPlaces, StartThreads } from './files.js';
import * as threads from './team.js';
import type { Variant } from '../api/types.js';

export const startThreads: StartThreads = threads.startThreads;

/** Literal URLs, so that bundlers see them and carry the files along. */
function urlOf(variant: Variant): URL {
  switch (variant) {
    case 'relaxed':
      return new URL('./qkv-relaxed.wasm', import.meta.url);
    case 'simd':
      return new URL('./qkv-simd.wasm', import.meta.url);
    case 'relaxed-threads':
      return new URL('./qkv-relaxed-threads.wasm', import.meta.url);
    case 'simd-threads':
      return new URL('./qkv-simd-threads.wasm', import.meta.url);
  }
}

export const defaultPlaces: DefaultPlaces = (variant) => [
  () => urlOf(variant),
  () => whereViteHas(`qkv/qkv-${variant}.wasm`),
];
