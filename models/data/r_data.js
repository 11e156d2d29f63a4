// Data of R packages: a database of objects (`Rdata.rdx`, `Rdata.rdb`) in R's serialisation, version 2 or 3, as XDR ("R Internals",
// sections 1.8 and 1.17). Enough of it for lists and for vectors of text and numbers.
import { readFileSync } from 'node:fs';
import { gunzipSync, inflateSync } from 'node:zlib';

/** Codes of what follows. */
const [PAIRS, SYMBOL, TEXT, LOGICALS, WHOLES, REALS, TEXTS, LIST] = [2, 1, 9, 10, 13, 14, 16, 19];
const [REFERENCE, NOTHING] = [255, 254];
/** Flags above the code. */
const [HAS_ATTRIBUTES, HAS_TAG] = [1 << 9, 1 << 10];

class Reader {
  #at = 0;
  #symbols = [];

  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  whole() {
    this.#at += 4;
    return this.view.getInt32(this.#at - 4);
  }

  real() {
    this.#at += 8;
    return this.view.getFloat64(this.#at - 8);
  }

  text(length) {
    this.#at += length;
    return this.bytes.toString('utf8', this.#at - length, this.#at);
  }

  /** `X\n`, the version, and that of R that wrote it and of R that can read it; with version 3 an encoding. */
  head() {
    if (this.text(2) !== 'X\n') throw new Error('R data is not XDR');
    const [version] = [this.whole(), this.whole(), this.whole()];
    if (version === 3) this.text(this.whole());
    else if (version !== 2) throw new Error(`R data has version ${version}, expected 2 or 3`);
  }

  several(read) {
    return Array.from({ length: this.whole() }, read);
  }

  /** A list of pairs as an object. */
  pairs(flags) {
    const made = {};
    for (let next = flags; (next & 255) === PAIRS; next = this.whole()) {
      if (next & HAS_ATTRIBUTES) this.item();
      const tag = next & HAS_TAG ? this.item() : '';
      made[tag] = this.item();
    }
    return made;
  }

  /** Vectors as arrays; lists with names as objects. */
  item() {
    const flags = this.whole();
    const code = flags & 255;
    if (code === PAIRS) return this.pairs(flags);
    const made = this.plain(code, flags);
    if (!(flags & HAS_ATTRIBUTES) || code === TEXT) return made;
    const { names } = this.item();
    if (code !== LIST || !names) return made;
    return Object.fromEntries(names.map((name, i) => [name, made[i]]));
  }

  plain(code, flags) {
    switch (code) {
      case NOTHING:
        return null;
      case SYMBOL:
        this.#symbols.push(this.item());
        return this.#symbols.at(-1);
      case REFERENCE:
        return this.#symbols[(flags >>> 8 || this.whole()) - 1];
      case TEXT: {
        const length = this.whole();
        return length < 0 ? null : this.text(length);
      }
      case LOGICALS:
      case WHOLES:
        return this.several(() => this.whole());
      case REALS:
        return this.several(() => this.real());
      case TEXTS:
      case LIST:
        return this.several(() => this.item());
      default:
        throw new Error(`R data has an object of type ${code}`);
    }
  }
}

/** The object that these bytes are. */
export function readR(bytes) {
  const reader = new Reader(bytes);
  reader.head();
  return reader.item();
}

/** The objects of a database by name; `path` is without `.rdx` and `.rdb`. */
export function readRDatabase(path) {
  const { variables } = readR(gunzipSync(readFileSync(`${path}.rdx`)));
  const all = readFileSync(`${path}.rdb`);
  // Each is deflated, after four bytes with its length.
  const object = ([from, length]) => readR(inflateSync(all.subarray(from + 4, from + length)));
  return Object.fromEntries(
    Object.entries(variables).map(([name, place]) => [name, object(place)]),
  );
}
