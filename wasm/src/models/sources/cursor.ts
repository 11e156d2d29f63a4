// Reads a header from front to back, whose length nobody knows before.

import { refuse } from '../errors.js';
import { type ByteSource, ended } from './source.js';

/** Most bytes of a header: the one of a model of ten thousand arrays and a vocabulary of a quarter of a million has 20 MB. */
const longestHeader = 100_000_000;

export class Cursor {
  /** Where in the file the next byte is. */
  position = 0;
  readonly #source: ByteSource;
  readonly #pieces: AsyncIterator<Uint8Array, unknown>;
  /** What has come and was not taken. */
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);

  constructor(source: ByteSource, signal?: AbortSignal) {
    this.#source = source;
    this.#pieces = source.read(0, Infinity, signal)[Symbol.asyncIterator]();
  }

  /** Bytes that a header can still have. */
  get room(): number {
    return Math.min(longestHeader, this.#source.size) - this.position;
  }

  /** Waits until `count` bytes have come, so that they can be taken. `what` they are, for messages. */
  async need(count: number, what: string): Promise<void> {
    if (count <= this.#bytes.length) return;
    if (!(count <= this.room)) {
      const { name } = this.#source;
      if (count <= longestHeader - this.position)
        ended(name, this.#source.size, this.position + count);
      refuse(`${name} has ${what} of ${count} bytes at ${this.position}`, `at most ${this.room}`);
    }
    const parts = [this.#bytes];
    let length = this.#bytes.length;
    while (length < count) {
      const { done, value } = await this.#pieces.next();
      if (done) return ended(this.#source.name, this.position + length, this.position + count);
      // A copy, because the next piece may come where this one is.
      parts.push(value.slice());
      length += value.length;
    }
    const all = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    this.#bytes = all;
    this.#view = new DataView(all.buffer);
  }

  /** The next bytes, which must have come. */
  take(count: number): Uint8Array {
    const bytes = this.#bytes.subarray(0, count);
    this.#skip(count);
    return bytes;
  }

  /** A number of `size` bytes, which must have come; one of 64 bits that no number holds is near it. */
  number(size: number, get: 'getUint32' | 'getBigUint64'): number {
    const value = Number(this.#view[get](this.#bytes.byteOffset, true));
    this.#skip(size);
    return value;
  }

  #skip(count: number): void {
    this.#bytes = this.#bytes.subarray(count);
    this.position += count;
  }

  /** Ends the reading; the source can be read on. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
