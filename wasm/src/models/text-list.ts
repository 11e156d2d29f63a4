// Lists of texts in a file, each text a length of 64 bits and so many bytes of UTF-8. A vocabulary has half a million, which take most of
// the time of a header to decode, and a model that is given tokens asks for few of them: they are bytes until somebody asks. Where all
// of them are requested, they are decoded at once, and cut.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes of a length, which stand before each text. */
const prefix = 8;

/**
 * The texts that begin here, with a length before each; the last begin is where one more would. Undefined where one of them is no
 * UTF-8, so that it cannot be said where its letters end.
 */
function decodedAtOnce(bytes: Uint8Array, begins: Uint32Array): string[] | undefined {
  const packed = new Uint8Array(bytes.length);
  /** Where each text ends in the string of all of them, in UTF-16. */
  const ends: number[] = [];
  let length = 0;
  let units = 0;
  for (let i = 0; i + 1 < begins.length; i += 1) {
    const [from = 0, next = 0] = [begins[i], begins[i + 1]];
    const to = next - prefix;
    // With the bytes of one text a letter of the text before it could go on.
    if (to > from && ((bytes[from] ?? 0) & 0xc0) === 0x80) return undefined;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      packed[length++] = byte;
      if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
    }
    ends.push(units);
  }
  try {
    const all = strict.decode(packed.subarray(0, length));
    return ends.map((end, i) => all.slice(ends[i - 1] ?? 0, end));
  } catch {
    return undefined;
  }
}

/** So many texts are decoded faster with all the others: this part of a list. */
const many = 1 / 8;

/** A list of texts, to be decoded. */
export class TextList {
  readonly length: number;
  #all: readonly string[] | undefined;
  #bytes: Uint8Array;
  /** Where each text begins in them, and would after the last. */
  #begins: Uint32Array;

  constructor(bytes: Uint8Array, begins: Uint32Array) {
    this.length = begins.length - 1;
    [this.#bytes, this.#begins] = [bytes, begins];
  }

  /** Whether it is one: not by its prototype, which a proxy of a caller may refuse to tell. */
  static is(value: unknown): value is TextList {
    return typeof value === 'object' && value !== null && #begins in value;
  }

  /** One of them; undefined for an index of none. */
  text(index: number): string | undefined {
    if (this.#all) return this.#all[index];
    if (!Number.isInteger(index) || index < 0 || index >= this.length) return undefined;
    const [begin, next = 0] = this.#begins.subarray(index, index + 2);
    return lenient.decode(this.#bytes.subarray(begin, next - prefix));
  }

  /** Those of which `isWanted` is true, with their indices. */
  where(isWanted: (index: number) => boolean): [text: string, index: number][] {
    const indices: number[] = [];
    for (let index = 0; index < this.length; index += 1) if (isWanted(index)) indices.push(index);
    if (indices.length > many * this.length) this.all();
    return indices.map((index) => [this.text(index) ?? '', index]);
  }

  all(): readonly string[] {
    if (this.#all) return this.#all;
    this.#all =
      decodedAtOnce(this.#bytes, this.#begins) ??
      Array.from({ length: this.length }, (_, index) => this.text(index) ?? '');
    this.#bytes = new Uint8Array();
    this.#begins = new Uint32Array();
    return this.#all;
  }
}

/** A list of which not all has come. */
export class GrowingTextList {
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;
  #begins = Uint32Array.of(prefix);
  length = 0;

  /** Adds up to `most` texts that are whole in these bytes, with their lengths before them. Returns how many bytes they have. */
  addWhole(bytes: Uint8Array, most: number): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const last = this.length + most;
    let taken = 0;
    while (this.length < last && taken + prefix <= bytes.length) {
      const length = view.getUint32(taken, true) + 2 ** 32 * view.getUint32(taken + 4, true);
      if (taken + prefix + length > bytes.length) break;
      taken += prefix + length;
      this.#next(this.#bytes + taken);
    }
    this.#add(bytes.subarray(0, taken));
    return taken;
  }

  /** Adds a text. */
  add(text: Uint8Array): void {
    this.#add(new Uint8Array(prefix));
    this.#add(text);
    this.#next(this.#bytes);
  }

  #add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
  }

  /** The last text ends here. */
  #next(end: number): void {
    this.length += 1;
    if (this.length === this.#begins.length) {
      const more = new Uint32Array(2 * this.length);
      more.set(this.#begins);
      this.#begins = more;
    }
    this.#begins[this.length] = end + prefix;
  }

  /** The list, with bytes of its own. */
  done(): TextList {
    const all = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return new TextList(all, this.#begins.slice(0, this.length + 1));
  }
}
