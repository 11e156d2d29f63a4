// Checkpoints of llama2.c (Karpathy 2023, its first layout, as run.c reads it): seven int32, then float32, each kind of array
// of all layers in turn. Linear maps are [out, in]; tables of rotations, which run.c skips, stand before the head.

import type { ModelFile, StoredTensor } from '../file.js';
import { refuse } from '../errors.js';
import { Cursor } from '../sources/cursor.js';
import type { ByteSource } from '../sources/source.js';

const fields = [
  'dModel',
  'dFeedForward',
  'numLayers',
  'numHeads',
  'numKvHeads',
  'vocabulary',
  'maxLength',
] as const;
type Field = (typeof fields)[number];
export const headerSize = 4 * fields.length;

/** The numbers of the header; undefined for bytes that are none. The vocabulary is below 0 where the head is not tied. */
export function readNumbers(bytes: Uint8Array): Record<Field, number> | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < headerSize) return undefined;
  const numbers = Object.fromEntries(
    fields.map((field, i) => [field, view.getInt32(4 * i, true)]),
  ) as Record<Field, number>;
  const { vocabulary, dModel, numHeads, numKvHeads } = numbers;
  const all = Object.values({ ...numbers, vocabulary: Math.abs(vocabulary) });
  const isHeader = all.every((number) => number > 0 && number < 2 ** 24);
  const divides = dModel % numHeads === 0 && numHeads % numKvHeads === 0;
  return isHeader && divides ? numbers : undefined;
}

/** The arrays in their order, as [name, ...shape]; those of all layers are one array. */
function arraysOf(numbers: Record<Field, number>): [string, ...number[]][] {
  const { dModel: d, dFeedForward: f, numLayers: n, numHeads, numKvHeads, maxLength } = numbers;
  const v = Math.abs(numbers.vocabulary);
  const kv = (d / numHeads) * numKvHeads;
  const pairs = Math.floor(d / numHeads / 2);
  return [
    ['token_embedding_table', v, d],
    ...([['rms_att_weight', n * d], ['wq', n * d, d], ['wk', n * kv, d], ['wv', n * kv, d], ['wo', n * d, d]] as [string, ...number[]][]),
    ...([['rms_ffn_weight', n * d], ['w1', n * f, d], ['w2', n * d, f], ['w3', n * f, d]] as [string, ...number[]][]),
    ['rms_final_weight', d],
    ['freq_cis_real', maxLength, pairs],
    ['freq_cis_imag', maxLength, pairs],
    ...(numbers.vocabulary < 0 ? ([['wcls', v, d]] as [string, ...number[]][]) : []),
  ]; // oxfmt-ignore
}

export async function readLlama2c(source: ByteSource, signal?: AbortSignal): Promise<ModelFile> {
  const cursor = new Cursor(source, signal);
  await cursor.need(headerSize, 'a header');
  const numbers = readNumbers(cursor.take(headerSize));
  await cursor.close();
  const { name } = source;
  if (!numbers) refuse(`${name} does not start with valid sizes`, 'a llama2.c checkpoint');
  const tensors = new Map<string, StoredTensor>();
  let at = headerSize;
  for (const [array, ...shape] of arraysOf(numbers)) {
    const begin = at;
    at += 4 * shape.reduce((n, extent) => n * extent, 1);
    tensors.set(array, { name: array, type: 'F32', shape, source, begin, end: at });
  }
  const isWhole = source.size === at || source.size === Infinity;
  if (!isWhole || !Number.isSafeInteger(at))
    refuse(`${name} has ${source.size} bytes`, `${at} as its header says`);
  return { format: 'llama2.c', metadata: new Map(Object.entries(numbers)), tensors };
}
