/**
 * Spectra: singular values, eigenvalues and effective ranks of the circuits of heads, and principal components of embeddings and
 * activations. {@link init} loads a .wasm file of its own, which nothing else in the package needs.
 * @module qkv/spectra
 */
import type { Spectra, SpectraInitOptions } from '../api/spectra-types.js';
import { takeOptions } from '../arguments/values.js';
import { defaultPlaces, startThreads } from '../load/files-spectra.js';
import { sharedEngine } from '../load/init.js';
import { readAbi, type WrittenAbi } from '../memory/abi.js';
import * as operators from '../spectra/operators.js';

export { QkvError, type QkvErrorCode } from '../api/errors.js';
export { array, random, toNested, zeros } from '../plain-arrays.js';
export type * from '../api/spectra-types.js';
export type * from '../api/array-types.js';
export type { EngineInfo, InitOptions, Variant } from '../api/engine-types.js';

const product = {
  name: 'qkv-spectra',
  abi: readAbi(JSON.parse(QKV_SPECTRA_ABI) as WrittenAbi),
  more: operators,
  isAlone: true,
  files: { defaultPlaces, startThreads },
} as const;

/**
 * Loads the operators of spectra, as `init` of `qkv` loads an engine: the same sharing, the same errors. A `wasm` that is
 * given must be of this entry: qkv-spectra-simd.wasm.
 *
 * @throws {@link QkvError} what `init` of `qkv` throws
 */
export async function init(options: SpectraInitOptions = {}): Promise<Spectra> {
  const { wasm, shared } = takeOptions('init', 'options', options, ['wasm', 'shared']);
  return (await sharedEngine(product, { variant: 'simd', wasm, shared })) as unknown as Spectra;
}
