/** An array of a safetensors file, by its place in the file. */
interface Place {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** What the page itself reads of a file; the package reads the rest, and believes nothing of it. */
export interface Header {
  readonly metadata: Readonly<Record<string, string>>;
  readonly places: ReadonlyMap<string, Place>;
}

/** Longer headers are for the package alone. */
const LONGEST = 2 ** 24;

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function placeOf(entry: unknown, from: number): Place | null {
  const { dtype, shape, data_offsets: offsets } = recordOf(entry);
  const numbers = (list: unknown): list is number[] =>
    Array.isArray(list) && list.every((each) => Number.isSafeInteger(each) && each >= 0);
  if (typeof dtype !== 'string' || !numbers(shape) || !numbers(offsets)) return null;
  const [begin = 0, end = 0] = offsets;
  return { dtype, shape, begin: from + begin, end: from + end };
}

/** The header of a safetensors file; null for anything else. */
export async function headerOf(file: Blob): Promise<Header | null> {
  const start = new DataView(await file.slice(0, 8).arrayBuffer());
  if (start.byteLength < 8) return null;
  const length = Number(start.getBigUint64(0, true));
  if (length < 2 || length > Math.min(LONGEST, file.size - 8)) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(await file.slice(8, 8 + length).text());
  } catch {
    return null;
  }
  const { __metadata__: metadata, ...entries } = recordOf(parsed);
  const places = new Map<string, Place>();
  for (const [name, entry] of Object.entries(entries)) {
    const place = placeOf(entry, 8 + length);
    if (place) places.set(name, place);
  }
  const texts = Object.entries(recordOf(metadata)).filter(([, text]) => typeof text === 'string');
  return { metadata: Object.fromEntries(texts) as Record<string, string>, places };
}

const countOf = ({ shape }: Place) => shape.reduce((product, extent) => product * extent, 1);

/** Numbers of the files of a model by their type, those of most numbers first. */
export function typesOf(headers: readonly Header[]): [type: string, count: number][] {
  const counts = new Map<string, number>();
  for (const place of headers.flatMap(({ places }) => [...places.values()])) {
    counts.set(place.dtype, (counts.get(place.dtype) ?? 0) + countOf(place));
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** What the file of a trainer says of its tokens: each is a character, or a word or a piece of one. */
export interface OwnTokens {
  readonly type: 'characters' | 'pieces';
  readonly tokens: string[];
}

/** The tokens of a model of ours, as its file has them; null for a file without. */
export function tokensOf({ metadata }: Header): OwnTokens | null {
  try {
    const { type, tokens } = recordOf(JSON.parse(metadata['tokenizer'] ?? 'null'));
    const isText = (list: unknown): list is string[] =>
      Array.isArray(list) && list.every((each) => typeof each === 'string');
    const known = type === 'characters' || type === 'pieces';
    return known && isText(tokens) ? { type, tokens } : null;
  } catch {
    return null;
  }
}

// ---- the embeddings ----

/** What the table of embeddings is called in files of the trainers, and of the families that the package reads. */
const TABLE =
  /^(embedding|(model|transformer|gpt_neox|bert|embeddings)?\.?(embed_tokens|wte|embed_in|word_embeddings|embeddings\.word_embeddings)\.weight)$/;
/** The page takes no table larger than this: its plane would take long. */
const MOST_NUMBERS = 2 ** 22;

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const units = bits & 1023;
  if (exponent === 31) return units === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? units * 2 ** -24 : (1024 + units) * 2 ** (exponent - 25));
}

async function bytesOf(file: Blob, { begin, end }: Place): Promise<DataView> {
  return new DataView(await file.slice(begin, end).arrayBuffer());
}

/** int8 in blocks of 32 along the row, with a float16 scale each. */
async function int8Rows(
  file: Blob,
  [place, scale]: readonly [Place, Place],
  [rows, width]: readonly [number, number],
): Promise<Float32Array | null> {
  const blocks = Math.ceil(width / 32);
  if (scale.dtype !== 'F16' || scale.shape.join() !== [rows, blocks].join()) return null;
  const [bytes, scales] = await Promise.all([bytesOf(file, place), bytesOf(file, scale)]);
  if (bytes.byteLength !== rows * width || scales.byteLength !== 2 * rows * blocks) return null;
  return Float32Array.from({ length: rows * width }, (_, i) => {
    const block = Math.floor(i / width) * blocks + Math.floor((i % width) / 32);
    return bytes.getInt8(i) * half(scales.getUint16(2 * block, true));
  });
}

type Reader = readonly [size: number, read: (view: DataView, at: number) => number];

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['F32', [4, (view, at) => view.getFloat32(at, true)]],
  ['F16', [2, (view, at) => half(view.getUint16(at, true))]],
  ['BF16', [2, (view, at) => bf16(view.getUint16(at, true))]],
]);

const word = new DataView(new ArrayBuffer(4));
function bf16(bits: number): number {
  word.setUint32(0, bits << 16);
  return word.getFloat32(0);
}

/** The learned embeddings, [vocabulary, dModel]; null where the page cannot read them, or will not. */
export async function embeddingOf(
  file: Blob,
  { places }: Header,
  [rows, width]: readonly [number, number],
): Promise<Float32Array | null> {
  const found = [...places].find(([each]) => TABLE.test(each));
  if (!found) return null;
  const [name, place] = found;
  if (place.shape.join() !== [rows, width].join()) return null;
  if (rows * width > MOST_NUMBERS) return null;
  const scale = places.get(`${name}.scale`);
  if (place.dtype === 'I8') return scale ? int8Rows(file, [place, scale], [rows, width]) : null;
  const reader = READERS.get(place.dtype);
  if (!reader) return null;
  const [size, read] = reader;
  const view = await bytesOf(file, place);
  if (view.byteLength !== size * rows * width) return null;
  return Float32Array.from({ length: rows * width }, (_, i) => read(view, size * i));
}
