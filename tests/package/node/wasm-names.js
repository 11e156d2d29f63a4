// The names of the .wasm files that ship.
const variants = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads'];
/** The .wasm files of each entry that has some, less their ends. */
export const modules = { index: 'qkv', train: 'qkv-train', spectra: 'qkv-spectra' };
/** The builds of each: spectra have no kernels, and one build. */
export const buildsOf = (module) => (module === 'qkv-spectra' ? ['simd'] : variants);
export const moduleNames = Object.values(modules).flatMap((of) =>
  buildsOf(of).map((variant) => `${of}-${variant}`),
);

/** Those without threads: the others have the same code, byte for byte. */
export const single = moduleNames.filter((name) => !name.endsWith('-threads'));
