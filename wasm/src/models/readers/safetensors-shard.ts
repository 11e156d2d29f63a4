// safetensors files of anybody: one, or shards. The header is read by formats/safetensors.ts, which also reads ours.

import { headerLength, readHeader } from '../../formats/safetensors.js';
import type { ModelFile, StoredTensor } from '../file.js';
import { Cursor } from '../sources/cursor.js';
import type { ByteSource } from '../sources/source.js';

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
    const place = { source, begin: from + begin, end: from + end };
    tensors.set(name, { name, type: dtype, shape, ...place });
  }
  return { format: 'safetensors', metadata, tensors };
}
