/** Words and their vectors, the commonest first. */
export interface WordTable {
  readonly words: readonly string[];
  readonly width: number;
  /** The row of a word. */
  readonly rowOf: ReadonlyMap<string, number>;
  /** [words, width]: the numbers of the file, and what those of each row are multiplied by. */
  readonly numbers: Int8Array;
  readonly scales: Float32Array;
  /** The same rows with length 1, whose products are cosines. */
  readonly units: Float32Array;
}

interface Place {
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}
interface Header {
  readonly __metadata__: { readonly words: string };
  readonly scales: Place;
  readonly vectors: Place;
}

/** What models/words/words.safetensors has: rows in int8, a scale for each. Whoever calls has checked its hash. */
export function readWords(bytes: Uint8Array): WordTable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begin = 8 + Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, begin))) as Header;
  const words = header.__metadata__.words.split(' ');
  const width = header.vectors.shape[1] ?? 0;
  const numbers = new Int8Array(
    bytes.buffer,
    bytes.byteOffset + begin + header.vectors.data_offsets[0],
    words.length * width,
  );
  const scales = Float32Array.from(words, (_, row) =>
    view.getFloat32(begin + header.scales.data_offsets[0] + 4 * row, true),
  );
  const rowOf = new Map(words.map((word, row) => [word, row]));
  return { words, width, rowOf, numbers, scales, units: unitsOf(numbers, width) };
}

function unitsOf(numbers: Int8Array, width: number): Float32Array {
  const units = new Float32Array(numbers.length);
  for (let from = 0; from < numbers.length; from += width) {
    let squares = 0;
    for (let at = from; at < from + width; at++) squares += numbers[at]! ** 2;
    const factor = 1 / (Math.sqrt(squares) || 1);
    for (let at = from; at < from + width; at++) units[at] = numbers[at]! * factor;
  }
  return units;
}

/** How a reader's word is looked up: GloVe has small letters alone. */
export const plainWord = (typed: string): string => typed.trim().toLowerCase();

/** The row of length 1 of a word; undefined: it has none. */
export function unitOf({ rowOf, units, width }: WordTable, word: string): Float32Array | undefined {
  const row = rowOf.get(word);
  return row === undefined ? undefined : units.subarray(row * width, (row + 1) * width);
}

/** The vector of a word as GloVe has it, but for what int8 rounds. */
export function vectorOf({ rowOf, numbers, scales, width }: WordTable, word: string): number[] {
  const row = rowOf.get(word);
  if (row === undefined) return [];
  const scale = scales[row]!;
  return Array.from(numbers.subarray(row * width, (row + 1) * width), (number) => number * scale);
}
