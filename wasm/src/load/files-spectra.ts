// Of `qkv/spectra`: its .wasm file beside this module.

import { whereViteHas } from '../platform/package-files.js';
import type { DefaultPlaces, StartThreads } from './files.js';

/** A literal URL, so that bundlers see it and carry the file along. */
const url = (): URL => new URL('./qkv-spectra-simd.wasm', import.meta.url);

export const defaultPlaces: DefaultPlaces = () => [
  url,
  () => whereViteHas('qkv/qkv-spectra-simd.wasm'),
];

export const startThreads: StartThreads = undefined;
