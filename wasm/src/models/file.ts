// What a reader of formats/ finds in the files of a model, before anything of the arrays is read.

import type { ByteSource } from './sources/source.js';

/** An array of a file. */
export interface StoredTensor {
  readonly name: string;
  /** 'F32', 'F16', 'BF16', 'Q8_0', 'I8' are read; the name of any other type for messages. */
  readonly type: string;
  /** Outermost axis first. */
  readonly shape: readonly number[];
  /** Its bytes: of which source, and where there. */
  readonly source: ByteSource;
  readonly begin: number;
  readonly end: number;
}

/** A file, or several that make one model. */
export interface ModelFile {
  readonly format: 'safetensors' | 'gguf' | 'llama2.c';
  /** What the file says besides: of safetensors texts, of GGUF the metadata, of llama2.c the numbers of its header. */
  readonly metadata: ReadonlyMap<string, unknown>;
  readonly tensors: ReadonlyMap<string, StoredTensor>;
}

/** Bytes of `count` elements in a row: numbers by themselves, or blocks of 32 that share a scale. */
const rowBytesOf: ReadonlyMap<string, (count: number) => number> = new Map([
  ['F32', (count: number) => 4 * count],
  ['F16', (count: number) => 2 * count],
  ['BF16', (count: number) => 2 * count],
  ['I8', (count: number) => count],
  // A scale in float16, and 32 numbers in int8.
  ['Q8_0', (count: number) => (count / 32) * 34],
]);

/** Whether elements of this type can be read. */
export const isReadable = (type: string): boolean => rowBytesOf.has(type);

/** Bytes of a row of `count` elements of a type that can be read. */
export const rowBytes = (type: string, count: number): number =>
  rowBytesOf.get(type)?.(count) ?? NaN;
