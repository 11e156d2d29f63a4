// Which build of the module to load.

import { QkvError } from '../api/errors.js';
import { relaxedProbe, simdProbe, threadsProbe } from './probes.js';
import { canShareMemory, cores } from './team.js';
import type { InitOptions, Variant } from '../api/types.js';

type Isa = 'wasm-relaxed-simd' | 'wasm-simd128';
export const isaOf = (variant: Variant): Isa =>
  variant.startsWith('relaxed') ? 'wasm-relaxed-simd' : 'wasm-simd128';
export const isThreaded = (variant: Variant): boolean => variant.endsWith('-threads');
/** The same without threads. */
export const singleOf = (variant: Variant): 'relaxed' | 'simd' =>
  variant.startsWith('relaxed') ? 'relaxed' : 'simd';

export const hasOpcodes = (probe: string): boolean => {
  const bytes = probe.match(/../g) ?? [];
  return WebAssembly.validate(Uint8Array.from(bytes, (byte) => parseInt(byte, 16)));
};

/** The variant to load when no file was given: the best one this engine validates. */
export function chooseVariant(options: InitOptions): Variant {
  if (typeof WebAssembly !== 'object' || !hasOpcodes(simdProbe)) {
    throw new QkvError(
      'unsupported',
      'init: this engine has no WebAssembly SIMD (Chrome 91, Firefox 89, Safari 16.4 and Node 16.4 ' +
        'have it), expected an engine with WebAssembly SIMD',
    );
  }
  const { variant = 'auto', deterministic = false } = options;
  const relaxed = hasOpcodes(relaxedProbe);
  if (variant.startsWith('relaxed') && !relaxed) {
    const other = variant.replace('relaxed', 'simd');
    throw new QkvError(
      'unsupported',
      `init: variant is '${variant}' and this engine has no relaxed SIMD, expected 'auto' or '${other}'`,
    );
  }
  const wide = variant === 'auto' ? relaxed && !deterministic : variant.startsWith('relaxed');
  const threaded = variant === 'auto' ? threadsOf(options) > 1 : isThreaded(variant);
  const single: Variant = wide ? 'relaxed' : 'simd';
  return threaded && canShareMemory() && hasOpcodes(threadsProbe) ? `${single}-threads` : single;
}

/** How many threads were requested. */
export function threadsOf({ threads = 1 }: InitOptions): number {
  return threads === 'auto' ? cores() : threads;
}
