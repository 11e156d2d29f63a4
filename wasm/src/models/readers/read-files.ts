// Which format a file has, and several files as one.

import { describe, isObject, isRecord } from '../../arguments/values.js';
import { Fields } from '../fields.js';
import type { ModelFile, StoredTensor } from '../file.js';
import { some } from '../../arguments/name-list.js';
import { quoted, refuse, refuseUnsupported } from '../errors.js';
import { Cursor } from '../sources/cursor.js';
import { beside, isAddress, Opener } from '../sources/opener.js';
import type { ByteSource } from '../sources/source.js';
import { readGguf } from './gguf.js';
import { readJson } from './read-text.js';
import { headerSize, readLlama2c, readNumbers } from './llama2c.js';
import { readSafetensors } from './safetensors-shard.js';

/** Most files of a model. */
const mostFiles = 1000;
const brace = 0x7b;

/** The first bytes, of which every format has as many. */
async function startOf(source: ByteSource, signal?: AbortSignal): Promise<Uint8Array> {
  const cursor = new Cursor(source, signal);
  await cursor.need(9, 'a start');
  const length = Math.min(headerSize, source.size);
  await cursor.need(length, 'a start');
  const start = cursor.take(length).slice();
  await cursor.close();
  return start;
}

/** The one file of a source; undefined for JSON. */
async function readFile(source: ByteSource, signal?: AbortSignal): Promise<ModelFile | undefined> {
  const start = await startOf(source, signal);
  // A header of safetensors is shorter than 2^40 bytes, and JSON is text.
  if (start[0] === brace && start.subarray(5, 8).some((byte) => byte !== 0)) return undefined;
  const text = String.fromCharCode(...start.subarray(0, 9));
  if (text.startsWith('GGUF')) return readGguf(source, signal);
  if (start[8] === brace) return readSafetensors(source, signal);
  // Before the next, as a width of 384 begins like a pickle.
  if (readNumbers(start)) return readLlama2c(source, signal);
  // PyTorch writes its files as ZIP, and before as a pickle.
  if (text.startsWith('PK\x03\x04') || (start[0] === 0x80 && (start[1] ?? 9) <= 5)) {
    refuseUnsupported(
      `${source.name} is a file of PyTorch (pytorch_model.bin or the like)`,
      'safetensors: take model.safetensors of the same model, or write it with save_pretrained() of transformers',
    );
  }
  return refuse(
    `${source.name} starts with ${JSON.stringify(text.replace(/[^ -~]/g, '.'))}`,
    'safetensors, GGUF or a llama2.c checkpoint',
  );
}

/** The name of a file, without a folder. */
const plainName = /^\w[\w-]*(\.[\w-]+)*$/;

/** The names of files in an index of shards, and the names of arrays by file. */
function shardsOf({ name }: ByteSource, index: unknown): Map<string, string[]> {
  const map = isRecord(index) ? new Map(Object.entries(index)).get('weight_map') : undefined;
  if (!isObject(map)) refuse(`${name} has no weight_map`, 'an index of safetensors');
  const shards = new Map<string, string[]>();
  for (const [tensor, file] of Object.entries(map)) {
    // A stranger's index names files beside it, and no other place.
    const isBeside = typeof file === 'string' && file.length < 256 && plainName.test(file);
    if (!isBeside)
      refuse(
        `${name} has ${describe(file)} for ${quoted(tensor)}`,
        'the name of a file in the same folder',
      );
    const tensors = shards.get(file);
    if (tensors) tensors.push(tensor);
    else shards.set(file, [tensor]);
  }
  if (shards.size > mostFiles) refuse(`${name} names ${shards.size} files`, `at most ${mostFiles}`);
  return shards;
}

/** The number of a part of a GGUF file that was split, and how many there are. */
function partOf({ metadata }: ModelFile): { no: number; count: number } | undefined {
  const fields = new Fields('metadata', metadata);
  if (!fields.has('split.count')) return undefined;
  return { no: fields.count('split.no', undefined, 0), count: fields.count('split.count', 1, 0) };
}

/** The parts of a GGUF file in their order: the first has the metadata. All of them are there. */
function inOrder(files: readonly ModelFile[]): readonly ModelFile[] {
  const parts = files.map((file) => ({ file, ...partOf(file) }));
  const part = parts.find(({ count = 0 }) => count > 1);
  if (!part) {
    const isFirst = ({ metadata }: ModelFile): boolean => metadata.has('general.architecture');
    return [...files].sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
  }
  const { count = 0 } = part;
  const missing = Array.from({ length: Math.min(count, mostFiles) }, (_, i) => i).filter(
    (i) => !parts.some(({ no }) => no === i),
  );
  if (missing.length > 0 || files.length !== count) {
    const lacks = missing.length > 0 ? ` without ${some(missing.map((i) => `${i + 1}`))}` : '';
    const what = `weights are ${files.length} of the ${count} parts of a GGUF file${lacks}`;
    refuse(what, 'all of them in one array, in any order');
  }
  return [...parts].sort((a, b) => (a.no ?? 0) - (b.no ?? 0)).map(({ file }) => file);
}

/** Several files as one. */
function join(given: readonly ModelFile[]): ModelFile {
  const files = given[0]?.format === 'gguf' ? inOrder(given) : given;
  const [first] = files;
  if (!first) return refuse('weights is an empty list', 'at least one file');
  const tensors = new Map<string, StoredTensor>();
  for (const file of files) {
    if (file.format !== first.format || (file !== first && file.format === 'llama2.c')) {
      refuse(
        `weights have files of the formats ${first.format} and ${file.format}`,
        'shards of one model in safetensors or GGUF',
      );
    }
    for (const [name, tensor] of file.tensors) {
      if (tensors.has(name)) refuse(`weights have ${quoted(name)} in two files`, 'it once');
      tensors.set(name, tensor);
    }
  }
  return { ...first, tensors };
}

/**
 * The files of a model: one, the shards of one, or an index that names them. Every source that is opened is added to
 * `sources`, also when that fails, and is the caller's to close.
 */
export async function readFiles(
  places: readonly unknown[],
  sources: ByteSource[],
  signal?: AbortSignal,
  opener = new Opener(),
): Promise<ModelFile> {
  if (places.length > mostFiles)
    refuse(`weights are ${places.length} files`, `at most ${mostFiles}`);
  const open = async (role: string, place: unknown): Promise<ByteSource> => {
    const source = await opener.open(role, place, signal, true);
    sources.push(source);
    return source;
  };
  // Of several files one is read at a time.
  const header = async (source: ByteSource, isOnly: boolean): Promise<ModelFile | undefined> => {
    const file = await readFile(source, signal);
    if (file && !isOnly) source.rest();
    return file;
  };
  const files: ModelFile[] = [];
  for (const [i, place] of places.entries()) {
    const source = await open(places.length > 1 ? `weights[${i}]` : 'weights', place);
    const file = await header(source, places.length === 1);
    if (file) {
      files.push(file);
      continue;
    }
    if (places.length > 1)
      refuse(`${source.name} is JSON`, 'either the shards or their index, not both');
    if (!isAddress(place))
      refuse(`${source.name} is JSON`, 'the shards themselves, or the URL or path of their index');
    const shards = shardsOf(source, await readJson(source, signal));
    for (const [name, tensors] of shards) {
      const shard = await header(await open(name, beside(place, name)), shards.size === 1);
      const missing = tensors.filter((tensor) => !shard?.tensors.has(tensor));
      if (!shard || missing.length > 0)
        refuse(`${name} has no ${some(missing, quoted)}`, 'every array that the index lists');
      files.push(shard);
    }
  }
  return join(files);
}
