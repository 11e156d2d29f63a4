// GGUF, versions 2 and 3 (ggml's specification, docs/gguf.md): metadata by name, the places of all arrays, and their
// elements. Everything is little-endian.

import { blockOf, isReadable, type ModelFile, rowBytes, type StoredTensor } from '../file.js';
import { quoted, refuse, refuseUnsupported } from '../errors.js';
import { GrowingTextList, type TextList } from '../text-list.js';
import { Cursor } from '../sources/cursor.js';
import type { ByteSource } from '../sources/source.js';

/** What files of any size have less of. */
const most = { tensors: 2 ** 17, metadata: 2 ** 16, elements: 2 ** 23, name: 2 ** 16, depth: 3 };
const axes = 4;

/** Types of arrays by their numbers; of those that cannot be read the names, for messages. */
const typeNames = (
  'F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S ' +
  'IQ4_NL IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 ' +
  'IQ4_NL_4_4 IQ4_NL_4_8 IQ4_NL_8_8 MXFP4'
).split(' ');
/** What can be done where a file has others. */
const remedy =
  'F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K to Q6_K, IQ4_NL or IQ4_XS: take the Q4_K_M or Q8_0 file of the same ' +
  'model, or make one with llama-quantize --allow-requantize in.gguf out.gguf Q4_K_M';

const [text, list] = [8, 9];
/** Values of fixed size by the numbers of their types: the bytes of each, and how a DataView reads it. */
type Scalar = readonly [size: number, get: 'getUint32' | 'getBigUint64'];
const scalars: ReadonlyMap<number, Scalar> = new Map(
  'Uint8 Int8 Uint16 Int16 Uint32 Int32 Float32 Uint8 - - BigUint64 BigInt64 Float64'
    .split(' ')
    .map(
      (name, type) =>
        [type, [parseInt(name.replace(/\D+(?=\d+$)/, '')) / 8, `get${name}` as Scalar[1]]] as const,
    )
    .filter(([type]) => type !== text && type !== list),
);
const bool = 7;
/** Lists of them, as engines have them: they are little-endian too. */
const arrays = [
  ...[Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array, Float32Array],
  ...[Uint8Array, undefined, undefined, BigUint64Array, BigInt64Array, Float64Array],
];

class Reader {
  readonly cursor: Cursor;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Elements of lists so far. */
  #elements = 0;

  constructor(
    readonly name: string,
    source: ByteSource,
    signal: AbortSignal | undefined,
  ) {
    this.cursor = new Cursor(source, signal);
  }

  async scalar(type: number, what: string): Promise<number | boolean> {
    const scalar =
      scalars.get(type) ?? refuse(`${this.name} has ${what} of type ${type}`, '0 to 12');
    await this.cursor.need(scalar[0], what);
    const value = this.cursor.number(...scalar);
    return type === bool ? value !== 0 : value;
  }

  u32 = async (what: string): Promise<number> => Number(await this.scalar(4, what));

  async count(what: string, limit: number): Promise<number> {
    const count = Number(await this.scalar(10, what));
    if (count > limit) refuse(`${this.name} has ${what} ${count}`, `at most ${limit}`);
    return count;
  }

  /** The bytes of a text. */
  async #bytes(what: string, limit = this.cursor.room): Promise<Uint8Array> {
    const length = await this.count(`the length of ${what}`, limit);
    await this.cursor.need(length, what);
    return this.cursor.take(length);
  }

  async text(what: string, limit?: number): Promise<string> {
    return this.#decoder.decode(await this.#bytes(what, limit));
  }

  async value(type: number, what: string, depth = 0): Promise<unknown> {
    if (type === text) return this.text(what);
    if (type !== list) return this.scalar(type, what);
    if (depth >= most.depth)
      refuse(`${this.name} has ${what} in lists nested deeper than ${most.depth}`, 'fewer levels');
    const inner = await this.u32(what);
    const count = await this.count(`the length of ${what}`, most.elements - this.#elements);
    this.#elements += count;
    const scalar = scalars.get(inner);
    if (scalar) return this.#numbers(count, inner, what);
    if (inner === text) return this.#texts(count, what);
    const values: unknown[] = [];
    while (values.length < count) values.push(await this.value(inner, what, depth + 1));
    return values;
  }

  async #texts(count: number, what: string): Promise<TextList> {
    const texts = new GrowingTextList();
    for (;;) {
      // What has come, without waiting for each.
      this.cursor.take(texts.addWhole(this.cursor.there, count - texts.length));
      if (texts.length >= count) return texts.done();
      texts.add(await this.#bytes(what));
    }
  }

  /** Numbers of a list, all of it at once, which also fails at once if it is not there. */
  async #numbers(count: number, type: number, what: string): Promise<unknown[]> {
    const Numbers = arrays[type] ?? Uint8Array;
    await this.cursor.need(count * Numbers.BYTES_PER_ELEMENT, what);
    // A copy, which begins where such an array may.
    const bytes = this.cursor.take(count * Numbers.BYTES_PER_ELEMENT).slice();
    const numbers = new Numbers(bytes.buffer);
    const isBig = numbers instanceof BigUint64Array || numbers instanceof BigInt64Array;
    return isBig ? Array.from(numbers, Number) : Array.from(numbers);
  }

  async metadata(count: number): Promise<Map<string, unknown>> {
    const metadata = new Map<string, unknown>();
    for (let i = 0; i < count; i += 1) {
      const key = await this.text('a name of metadata', most.name);
      if (metadata.has(key)) refuse(`${this.name} has ${quoted(key)} twice`, 'it once');
      metadata.set(key, await this.value(await this.u32(quoted(key)), quoted(key)));
    }
    return metadata;
  }

  /** An array with `begin` and `end` as offsets from where elements begin. */
  async tensor(source: ByteSource): Promise<StoredTensor> {
    const name = await this.text('the name of an array', most.name);
    const rank = await this.u32(quoted(name));
    if (rank < 1 || rank > axes)
      refuse(`${this.name} has ${rank} axes for ${quoted(name)}`, `1 to ${axes}`);
    const shape: number[] = [];
    for (let axis = 0; axis < rank; axis += 1) {
      shape.unshift(await this.count(`an extent of ${quoted(name)}`, Number.MAX_SAFE_INTEGER));
    }
    const number = await this.u32(quoted(name));
    const type = typeNames[number] ?? `of type ${number}`;
    const begin = await this.count(`the offset of ${quoted(name)}`, Number.MAX_SAFE_INTEGER);
    if (!isReadable(type)) refuseUnsupported(`${quoted(name)} is ${type}`, remedy);
    const columns = shape[rank - 1] ?? 0;
    if (columns % blockOf(type) !== 0) {
      const expected = `a multiple of ${blockOf(type)}`;
      refuse(`${this.name} has rows of ${columns} for ${quoted(name)} as ${type}`, expected);
    }
    const bytes = shape.slice(0, -1).reduce((n, extent) => n * extent, rowBytes(type, columns));
    if (!Number.isSafeInteger(begin + bytes)) {
      refuse(
        `${this.name} has [${shape.join(',')}] at ${begin} for ${quoted(name)}`,
        'less than 2^53 bytes',
      );
    }
    return { name, type, shape, source, begin, end: begin + bytes };
  }
}

/** Where elements begin is a multiple of this. */
function alignmentOf(name: string, metadata: ReadonlyMap<string, unknown>): number {
  const value = metadata.get('general.alignment') ?? 32;
  const isPower =
    typeof value === 'number' &&
    value >= 1 &&
    value <= 2 ** 20 &&
    Number.isInteger(Math.log2(value));
  return isPower
    ? value
    : refuse(`${name} has an invalid general.alignment`, 'a power of two up to 2^20');
}

/** Every array begins where it may, and none reaches into another or past the end. */
function checkLayout(
  name: string,
  all: readonly StoredTensor[],
  alignment: number,
  room: number,
): void {
  let last = 0;
  for (const { name: own, begin, end } of [...all].sort(
    (a, b) => a.begin - b.begin || a.end - b.end,
  )) {
    const at = `${name} has ${quoted(own)} at ${begin} to ${end}`;
    if (begin % alignment !== 0) refuse(at, `a multiple of ${alignment}`);
    if (end > room) refuse(at, `at most ${room}`);
    if (begin < last) refuse(`${at}, which overlaps with another`, `at least ${last}`);
    last = end;
  }
}

export async function readGguf(source: ByteSource, signal?: AbortSignal): Promise<ModelFile> {
  const { name } = source;
  const reader = new Reader(name, source, signal);
  await reader.u32('a mark');
  const version = await reader.u32('a version');
  if (version !== 2 && version !== 3) {
    const isSwapped = version > 0 && version % 2 ** 24 === 0;
    refuseUnsupported(
      `${name} is ${isSwapped ? 'big-endian GGUF' : `GGUF of version ${version}`}`,
      'little-endian GGUF of version 2 or 3',
    );
  }
  const count = await reader.count('the number of arrays', most.tensors);
  const metadata = await reader.metadata(
    await reader.count('the number of metadata', most.metadata),
  );
  const found: StoredTensor[] = [];
  for (let i = 0; i < count; i += 1) found.push(await reader.tensor(source));
  const { position } = reader.cursor;
  await reader.cursor.close();
  const alignment = alignmentOf(name, metadata);
  const from = Math.ceil(position / alignment) * alignment;
  checkLayout(name, found, alignment, Math.max(0, source.size - from));
  const tensors = new Map<string, StoredTensor>();
  for (const tensor of found) {
    if (tensors.has(tensor.name)) refuse(`${name} has ${quoted(tensor.name)} twice`, 'it once');
    tensors.set(tensor.name, { ...tensor, begin: from + tensor.begin, end: from + tensor.end });
  }
  return { format: 'gguf', metadata, tensors };
}
