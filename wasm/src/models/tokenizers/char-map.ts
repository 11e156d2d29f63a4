// The rules by which SentencePiece changes letters before it cuts a text, mostly those of NFKC: texts and what stands for them, in a trie
// of words of 32 bits (a double array, as Darts-clone writes it), and the replacements, each ended by a zero.

import { refuse } from '../errors.js';
import { textOfBytes } from './byte-letters.js';

/** What stands for a prefix of some bytes, and how many bytes that has. */
interface Replaced {
  readonly length: number;
  readonly text: string;
}

export class CharMap {
  readonly #words: DataView;
  readonly #count: number;
  readonly #texts: Uint8Array;

  /** @throws {@link QkvError} `invalid_argument` for what is no such map */
  constructor(path: string, bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const size = bytes.length < 8 ? 0 : view.getUint32(0, true);
    if (size < 4 || size % 4 !== 0 || size > bytes.length - 4)
      refuse(
        `${path} has ${bytes.length} bytes and a trie of ${size}`,
        'a trie, and texts after it',
      );
    this.#words = new DataView(bytes.buffer, bytes.byteOffset + 4, size);
    this.#count = size / 4;
    this.#texts = bytes.subarray(4 + size);
  }

  /** All prefixes of the bytes from `at` on that have a replacement, the shortest first. */
  prefixes(bytes: Uint8Array, at: number): Replaced[] {
    const found: Replaced[] = [];
    let node = offsetOf(this.#word(0));
    for (let i = at; i < bytes.length; i += 1) {
      const byte = bytes[i] ?? 0;
      node ^= byte;
      const word = this.#word(node);
      // Words of replacements have the highest bit.
      if (byte === 0 || (word & 0x800000ff) !== byte) break;
      node ^= offsetOf(word);
      if (((word >> 8) & 1) === 1)
        found.push({ length: i + 1 - at, text: this.#text(this.#word(node) & 0x7fffffff) });
    }
    return found;
  }

  /** Outside of the trie there are words that belong to nothing. */
  #word(index: number): number {
    return index >= 0 && index < this.#count ? this.#words.getUint32(4 * index, true) | 0 : -1;
  }

  #text(at: number): string {
    const end = this.#texts.indexOf(0, at);
    return textOfBytes(this.#texts.subarray(at, end < 0 ? undefined : end));
  }
}

const offsetOf = (word: number): number => (word >>> 10) << ((word & 0x200) >> 6);
