// Of `qkv/train`: its .wasm files beside this module.

import { whereViteHas } from '../platform/package-files.js';
import type { DefaultPlaces } from './files.js';
import type { Variant } from '../api/types.js';

export { startThreads } from './team.js';

/** Literal URLs, so that bundlers see them and carry the files along. */
function urlOf(variant: Variant): URL {
  switch (variant) {
    case 'relaxed':
      return new URL('./qkv-train-relaxed.wasm', import.meta.url);
    case 'simd':
      return new URL('./qkv-train-simd.wasm', import.meta.url);
    case 'relaxed-threads':
      return new URL('./qkv-train-relaxed-threads.wasm', import.meta.url);
    case 'simd-threads':
      return new URL('./qkv-train-simd-threads.wasm', import.meta.url);
  }
}

export const defaultPlaces: DefaultPlaces = (variant) => [
  () => urlOf(variant),
  () => whereViteHas(`qkv/qkv-train-${variant}.wasm`),
];
