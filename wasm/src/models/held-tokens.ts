// Which tokens a session holds, so that a conversation finds again where it is.

import { QkvError } from '../api/errors.js';
import { plainView } from '../arguments/views.js';

/** The first bytes of a saved session with its tokens; what the core saves begins otherwise. */
const magic = 0x316b7671; // "qvk1" in the order of its bytes
const headWords = 2;

interface Saved {
  readonly held: HeldTokens;
  /** What the core has saved. */
  readonly bytes: Uint8Array;
}

export class HeldTokens {
  /** Undefined where nobody knows: of several rows, and of bytes that the core saved alone. */
  #ids: number[] | undefined;

  constructor(ids: readonly number[] | undefined) {
    this.#ids = ids && [...ids];
  }

  /** A copy; undefined where nobody knows. */
  get ids(): readonly number[] | undefined {
    return this.#ids && [...this.#ids];
  }

  add(tokens: Int32Array): void {
    for (const id of tokens) this.#ids?.push(id);
  }

  remove(begin: number, end = Infinity): void {
    this.#ids?.splice(begin, end - begin);
  }

  copy(): HeldTokens {
    return new HeldTokens(this.#ids);
  }

  /** The bytes of a session of the core, with the tokens before them. */
  savedWith(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (!this.#ids) return bytes;
    const head = Int32Array.of(magic, this.#ids.length);
    const all = new Uint8Array(4 * (headWords + this.#ids.length) + bytes.length);
    all.set(new Uint8Array(head.buffer));
    all.set(new Uint8Array(Int32Array.from(this.#ids).buffer), 4 * headWords);
    all.set(bytes, 4 * (headWords + this.#ids.length));
    return all;
  }

  /**
   * Takes saved bytes apart.
   *
   * @throws {@link QkvError} `invalid_argument` for tokens that the vocabulary lacks, and for bytes that end within them
   */
  static of(fn: string, saved: Uint8Array, vocabulary: number): Saved {
    const bytes = plainView(saved) as Uint8Array;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const words = Math.floor(bytes.length / 4) - headWords;
    if (words < 0 || view.getInt32(0, true) !== magic)
      return { held: new HeldTokens(undefined), bytes };
    const count = view.getInt32(4, true);
    if (count < 0 || count > words) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: from has ${count} tokens, expected 0 to ${words}, as its bytes have room for`,
      );
    }
    const ids = Array.from({ length: count }, (_, i) => view.getInt32(4 * (headWords + i), true));
    const wrong = ids.find((id) => id < 0 || id >= vocabulary);
    if (wrong !== undefined) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: from has token ${wrong}, expected 0 to ${vocabulary - 1}`,
      );
    }
    return { held: new HeldTokens(ids), bytes: bytes.subarray(4 * (headWords + count)) };
  }
}
