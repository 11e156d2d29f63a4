// safetensors files of anybody: one, or shards. The header is read by formats/safetensors.ts, which also reads ours.

import { describe, isObject, jsonIn } from '../../arguments/values.js';
import { headerLength, readHeader } from '../../formats/safetensors.js';
import { quoted, refuse, refuseUnsupported } from '../errors.js';
import { blockOf, type ModelFile, rowBytes, type StoredTensor } from '../file.js';
import { Cursor } from '../sources/cursor.js';
import type { ByteSource } from '../sources/source.js';

/** Gives arrays of bytes the types and widths of blocks that the metadata of LanguageModel.save() has for them. */
function nameBlocks(
  metadata: ReadonlyMap<string, string>,
  tensors: Map<string, StoredTensor>,
): void {
  const text = metadata.get('format') === 'qkv' ? metadata.get('blocks') : undefined;
  if (text === undefined) return;
  const given = jsonIn(text);
  if (!isObject(given)) refuse(`the metadata has ${describe(given)} as blocks`, 'an object');
  for (const [name, value] of Object.entries(given)) {
    const tensor = tensors.get(name);
    const [type, width] = Array.isArray(value) ? (value as unknown[]) : [];
    const [rows = 0, bytes] = tensor?.shape ?? [];
    const fits =
      typeof type === 'string' &&
      blockOf(type) > 1 &&
      Number.isSafeInteger(width) &&
      Number(width) > 0 &&
      bytes === rowBytes(type, Number(width));
    if (!tensor || tensor.type !== 'U8' || tensor.shape.length !== 2 || !fits) {
      refuse(
        `the metadata has ${describe(value)} as the blocks of ${quoted(name)}`,
        'a type of blocks and the width of rows that are U8',
      );
    }
    tensors.set(name, { ...tensor, type, shape: [rows, Number(width)] });
  }
}

export async function readSafetensors(
  source: ByteSource,
  signal?: AbortSignal,
): Promise<ModelFile> {
  const of = `load: the bytes of ${source.name}`;
  const cursor = new Cursor(source, signal);
  await cursor.need(8, 'the length of a header');
  const length = headerLength(of, cursor.take(8), source.size - 8);
  await cursor.need(length, 'a header');
  const header = cursor.take(length);
  await cursor.close();
  const from = 8 + length;
  const { metadata, places } = readHeader(of, header, source.size - from);
  const tensors = new Map<string, StoredTensor>();
  for (const [name, { dtype, shape, begin, end }] of places) {
    // Names of GGUF, of whose bytes the header's reader knows nothing.
    if (blockOf(dtype) > 1) refuseUnsupported(`${quoted(name)} is ${dtype}`, 'F32, F16 or BF16');
    const place = { source, begin: from + begin, end: from + end };
    tensors.set(name, { name, type: dtype, shape, ...place });
  }
  nameBlocks(metadata, tensors);
  return { format: 'safetensors', metadata, tensors };
}
