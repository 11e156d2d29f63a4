// Reads a header from front to back, whose length nobody knows before.

import { refuse } from '../errors.js';
import { type ByteSource, ended } from './source.js';

/** Most bytes of a header: the one of a model of ten thousand arrays and a vocabulary of a quarter of a million has 20 MB. */
const longestHeader = 100_000_000;

export class Cursor {
  readonly #source: ByteSource;
  readonly #pieces: AsyncIterator<Uint8Array, unknown>;
  /** What has come, of which the first bytes were taken, and where in the file it begins. */
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #taken = 0;
  #begin = 0;

  constructor(source: ByteSource, signal?: AbortSignal) {
    this.#source = source;
    this.#pieces = source.read(0, Infinity, signal)[Symbol.asyncIterator]();
  }

  /** Where in the file the next byte is. */
  get position(): number {
    return this.#begin + this.#taken;
  }

  /** Bytes that a header can still have. */
  get room(): number {
    return Math.min(longestHeader, this.#source.size) - this.position;
  }

  /** The bytes that have come and were not taken. */
  get there(): Uint8Array {
    return this.#bytes.subarray(this.#taken);
  }

  /** Whether so many bytes have come that were not taken: then nobody needs to wait for them. */
  has(count: number): boolean {
    return count <= this.#bytes.length - this.#taken;
  }

  /** Waits until `count` bytes have come, so that they can be taken. `what` they are, for messages. */
  async need(count: number, what: string): Promise<void> {
    if (this.has(count)) return;
    const { position } = this;
    if (!(count <= this.room)) {
      const { name } = this.#source;
      if (count <= longestHeader - position) ended(name, this.#source.size, position + count);
      refuse(`${name} has ${what} of ${count} bytes at ${position}`, `at most ${this.room}`);
    }
    const parts = [this.#bytes.subarray(this.#taken)];
    let length = this.#bytes.length - this.#taken;
    while (length < count) {
      const { done, value } = await this.#pieces.next();
      if (done) return ended(this.#source.name, position + length, position + count);
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
    [this.#bytes, this.#taken, this.#begin] = [all, 0, position];
    this.#view = new DataView(all.buffer);
  }

  /** The next bytes, which must have come. */
  take(count: number): Uint8Array {
    const begin = this.#taken;
    this.#taken += count;
    return this.#bytes.subarray(begin, this.#taken);
  }

  /** The next number, which must have come, and is not taken; one of 64 bits that no number holds is near it. */
  peek(get: 'getUint32' | 'getBigUint64'): number {
    return Number(this.#view[get](this.#taken, true));
  }

  /** A number of `size` bytes, which must have come, as peek() reads it. */
  number(size: number, get: 'getUint32' | 'getBigUint64'): number {
    const value = this.peek(get);
    this.#taken += size;
    return value;
  }

  /** Ends the reading; the source can be read on. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
