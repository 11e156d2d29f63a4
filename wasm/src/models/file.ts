// What readers/ find in the files of a model, before anything of the arrays is read.

import type { ByteSource } from './sources/source.js';

/** An array of a file. */
export interface StoredTensor {
  readonly name: string;
  /** One that isReadable() knows; the name of any other type for messages. */
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

/** Of each type the numbers that are together, and the bytes of so many: numbers by themselves, or blocks that share scales. */
const sizes: ReadonlyMap<string, readonly [numbers: number, bytes: number]> = new Map(
  (
    'F32 1 4,F16 1 2,BF16 1 2,I8 1 1,Q8_0 32 34,Q4_0 32 18,Q4_1 32 20,Q5_0 32 22,Q5_1 32 24,IQ4_NL 32 18,' +
    'Q2_K 256 84,Q3_K 256 110,Q4_K 256 144,Q5_K 256 176,Q6_K 256 210,IQ4_XS 256 136'
  )
    .split(',')
    .map((line) => {
      const [type = '', numbers, bytes] = line.split(' ');
      return [type, [Number(numbers), Number(bytes)]];
    }),
);

/** Whether elements of this type can be read. */
export const isReadable = (type: string): boolean => sizes.has(type);

/** Numbers of a block; 1 for types without. */
export const blockOf = (type: string): number => sizes.get(type)?.[0] ?? 1;

/** Bytes of a row of `count` elements of a type that can be read, whole blocks. */
export function rowBytes(type: string, count: number): number {
  const [numbers, bytes] = sizes.get(type) ?? [1, NaN];
  return Math.ceil(count / numbers) * bytes;
}
