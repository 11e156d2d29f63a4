// The argument words of a call, in the order of wasm/bindings.cpp. The module says its own order when
// it is loaded and the loader compares the two, so they cannot drift apart unseen.

import type { Address } from './raw.js';

// prettier-ignore
const fields = [
  'q', 'k', 'v', 'out', 'batch', 'numHeads', 'numKvHeads', 'tq', 'tk', 'dK', 'dV',
  'qSplit', 'kSplit', 'vSplit', 'hasScale', 'scale', 'temperature',
  'causal', 'hasCausalOffset', 'causalOffset',
  'mask', 'maskIsBoolean', 'maskRank', 'mask0', 'mask1', 'mask2', 'mask3',
  'weights', 'rowBegin', 'rowEnd', 'lse', 'entropy',
  'dModel', 'layerHeads', 'layerKvHeads', 'layerDK', 'layerDV', 'dContext', 'outIn',
  'wq', 'wk', 'wv', 'wqkv', 'wo', 'bq', 'bk', 'bv', 'bqkv', 'bo',
] as const;

export type Field = (typeof fields)[number];
export type CallWords = Partial<Record<Field, number>>;

/** What RawModule._fields() must say. */
export const fieldNames = fields.map((name) => `${name},`).join('');

/** Writes the words of one call; those not given are 0. */
export function writeDescriptor(memory: ArrayBuffer, address: Address, words: CallWords): void {
  const integers = new Int32Array(memory, address, fields.length);
  const floats = new Float32Array(memory, address, fields.length);
  for (const [index, name] of fields.entries()) {
    const value = words[name] ?? 0;
    if (name === 'scale' || name === 'temperature') {
      floats[index] = value;
    } else {
      integers[index] = value;
    }
  }
}
