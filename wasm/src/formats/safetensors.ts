// The safetensors format (Hugging Face 2022): eight bytes with the length of a header, the header as JSON, and the elements
// of all arrays side by side. The reader believes nothing that a file says of itself.

import { QkvError } from '../api/errors.js';
import { describe, isObject, isRecord, isUint8Array, lengthOf } from '../arguments/values.js';
import { plainView } from '../arguments/views.js';

/** Bytes of an element by its type. */
const elementBytes = new Map<string, number>([
  ...([['F64', 8], ['I64', 8], ['U64', 8], ['F32', 4], ['I32', 4], ['U32', 4]] as const),
  ...([['F16', 2], ['BF16', 2], ['I16', 2], ['U16', 2], ['I8', 1], ['U8', 1], ['BOOL', 1]] as const),
]); // oxfmt-ignore

/** An array of a file. */
export interface StoredArray {
  /** 'F32' and so on. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Its elements, little-endian. */
  readonly bytes: Uint8Array;
}

/** What is in a file. */
export interface StoredArrays {
  readonly metadata: ReadonlyMap<string, string>;
  readonly arrays: ReadonlyMap<string, StoredArray>;
}

/** Where an array is among the elements. */
interface StoredPlace {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** What a header says. */
interface Header {
  readonly metadata: ReadonlyMap<string, string>;
  readonly places: ReadonlyMap<string, StoredPlace>;
}

/** The header may be so long: a model of ten thousand arrays has one of 1 MB. */
const longestHeader = 100_000_000;
/** Every array begins at a multiple of this, so that it can be read where it is. */
const alignment = 8;

/** An array of a file that is to be written, which takes so many bytes. */
export interface PlannedArray {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly size: number;
}

/** A file for these arrays, in their order, and by their names the bytes that are each of them. */
export function layOut(
  metadata: ReadonlyMap<string, string>,
  arrays: ReadonlyMap<string, PlannedArray>,
): { file: Uint8Array<ArrayBuffer>; elements: ReadonlyMap<string, Uint8Array> } {
  const header: Record<string, unknown> = { __metadata__: Object.fromEntries(metadata) };
  let end = 0;
  for (const [name, { dtype, shape, size }] of arrays) {
    header[name] = { dtype, shape, data_offsets: [end, end + size] };
    end += size;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const begin = 8 + Math.ceil(text.length / alignment) * alignment;
  const file = new Uint8Array(begin + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(begin - 8), true);
  file.set(text, 8);
  file.fill(32, 8 + text.length, begin); // spaces, which JSON may end with
  let at = begin;
  const elements = new Map<string, Uint8Array>();
  for (const [name, { size }] of arrays) {
    elements.set(name, file.subarray(at, at + size));
    at += size;
  }
  return { file, elements };
}

/** The bytes of a file with these arrays, in their order. */
export function writeSafetensors({ metadata, arrays }: StoredArrays): Uint8Array<ArrayBuffer> {
  const planned = Array.from(
    arrays,
    ([name, { bytes, ...array }]) => [name, { ...array, size: bytes.length }] as const,
  );
  const { file, elements } = layOut(metadata, new Map(planned));
  for (const [name, { bytes }] of arrays) elements.get(name)?.set(bytes);
  return file;
}

/** What is wrong with a file, which messages call `of`: "Trainer.load: bytes". */
function refuse(of: string, what: string, expected: string): never {
  throw new QkvError('invalid_argument', `${of} ${what}, expected ${expected}`);
}

/** Bytes of the header, as the first eight say it; `room` are those that follow them, Infinity if nobody knows. */
export function headerLength(of: string, first: Uint8Array, room: number): number {
  const view = new DataView(first.buffer, first.byteOffset, 8);
  const length = Number(view.getBigUint64(0, true));
  const most = Math.min(room, longestHeader);
  if (length > most) refuse(of, `say a header of ${length} bytes`, `at most ${most}`);
  return length;
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** Where an array is, from its entry in the header. */
function placeOf(of: string, name: string, entry: unknown, room: number): StoredPlace {
  const at = JSON.stringify(name.slice(0, 60));
  if (!isRecord(entry)) refuse(of, `have ${describe(entry)} for ${at}`, 'an object');
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== 'string') {
    refuse(of, `have the type ${describe(dtype)} for ${at}`, 'a text');
  }
  if (!Array.isArray(shape) || shape.length > 8 || !shape.every(isCount)) {
    refuse(of, `have no shape for ${at}`, 'at most 8 whole numbers of at least 0');
  }
  const [begin, end] = Array.isArray(offsets) ? (offsets as unknown[]) : [];
  if (!isCount(begin) || !isCount(end) || begin > end || end > room) {
    refuse(
      of,
      `have the offsets ${describe(begin)} and ${describe(end)} for ${at}`,
      `0 to ${room}`,
    );
  }
  // Of a type that is not known nobody can tell; whoever wants its numbers refuses it.
  const size = elementBytes.get(dtype) ?? 0;
  const needed = shape.reduce((product, extent) => product * extent, size);
  if (size > 0 && needed !== end - begin) {
    refuse(
      of,
      `have ${end - begin} bytes for ${at}`,
      `${needed} for [${shape.join(',')}] of ${dtype}`,
    );
  }
  return { dtype, shape, begin, end };
}

/** The metadata: texts by name. */
function readMetadata(of: string, entry: unknown): Map<string, string> {
  if (entry === undefined || entry === null) return new Map();
  const pairs = isObject(entry) ? Object.entries(entry) : undefined;
  if (!pairs?.every((pair): pair is [string, string] => typeof pair[1] === 'string')) {
    refuse(of, 'have metadata of another kind', 'an object with texts');
  }
  return new Map(pairs);
}

/** The elements of all arrays fill what follows the header, without an overlap and without a hole. */
function checkLayout(of: string, places: Iterable<StoredPlace>, room: number): void {
  let at = 0;
  for (const { begin, end } of [...places].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== at) {
      refuse(
        of,
        `have ${begin < at ? 'arrays that overlap' : 'a hole'} at offset ${begin}`,
        `${at}`,
      );
    }
    at = end;
  }
  if (room !== Infinity && at !== room) {
    refuse(of, `have ${room} bytes of elements`, `${at} as the header says`);
  }
}

/** What a header says of the `room` bytes that follow it, Infinity if nobody knows how many. */
export function readHeader(of: string, bytes: Uint8Array, room: number): Header {
  let header: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    header = JSON.parse(text.decode(bytes));
  } catch (error) {
    refuse(of, `have a header that cannot be read (${String(error).slice(0, 80)})`, 'JSON');
  }
  if (!isObject(header)) {
    refuse(of, `have ${describe(header)} as header`, 'an object');
  }
  const { __metadata__: metadata, ...entries } = header;
  const places = new Map(
    Object.entries(entries).map(([name, entry]) => [name, placeOf(of, name, entry, room)]),
  );
  checkLayout(of, places.values(), room);
  return { metadata: readMetadata(of, metadata), places };
}

/** What is in a file. @throws {@link QkvError} `invalid_argument` for what is no such file */
export function readSafetensors(fn: string, given: Uint8Array): StoredArrays {
  const of = `${fn}: bytes`;
  if (!isUint8Array(given)) {
    throw new QkvError('invalid_argument', `${of} is ${describe(given)}, expected a Uint8Array`);
  }
  const size = lengthOf(given);
  if (size < 8) refuse(of, `are ${size}`, 'at least 8 with the length of a header');
  const file = plainView(given) as Uint8Array;
  const from = 8 + headerLength(of, file, file.length - 8);
  const { metadata, places } = readHeader(of, file.subarray(8, from), file.length - from);
  const arrays = new Map(
    Array.from(places, ([name, { dtype, shape, begin, end }]) => [
      name,
      { dtype, shape, bytes: file.subarray(from + begin, from + end) },
    ]),
  );
  return { metadata, arrays };
}
