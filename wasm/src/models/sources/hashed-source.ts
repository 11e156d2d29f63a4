// A file whose SHA-256 is known. Its bytes are digested as they are read, each once and in their order, so that what is skipped is read
// too; check() reads the rest and compares.

import { unread } from '../errors.js';
import { type Digest, sha256 } from './sha256.js';
import type { ByteSource } from './source.js';

export class HashedSource implements ByteSource {
  readonly #inner: ByteSource;
  readonly #expected: string;
  readonly #isOver: (isRight: boolean) => Promise<void>;
  readonly #digest: Digest = sha256();
  /** Where the bytes end that were digested. */
  #end = 0;
  #isChecked = false;

  /** `isOver` is called once, with whether the file was the right one. */
  constructor(
    inner: ByteSource,
    expected: string,
    isOver: (isRight: boolean) => Promise<void> = () => Promise.resolve(),
  ) {
    [this.#inner, this.#expected, this.#isOver] = [inner, expected.toLowerCase(), isOver];
  }

  get name(): string {
    return this.#inner.name;
  }

  get size(): number {
    return this.#inner.size;
  }

  async *read(begin: number, end: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    if (begin > this.#end)
      for await (const piece of this.#inner.read(this.#end, begin, signal))
        this.#take(this.#end, piece);
    let at = begin;
    for await (const piece of this.#inner.read(begin, end, signal)) {
      this.#take(at, piece);
      at += piece.length;
      yield piece;
    }
  }

  #take(at: number, piece: Uint8Array): void {
    const news = piece.subarray(Math.min(piece.length, this.#end - at));
    this.#digest.update(news);
    this.#end += news.length;
  }

  async check(signal?: AbortSignal): Promise<void> {
    if (this.#isChecked) return;
    for await (const piece of this.#inner.read(this.#end, Infinity, signal))
      this.#take(this.#end, piece);
    this.#isChecked = true;
    const found = this.#digest.hex();
    const isRight = found === this.#expected;
    await this.#isOver(isRight);
    if (!isRight) {
      throw unread(
        `${this.name} has the SHA-256 ${found}`,
        `${this.#expected}: it is another file, or damaged`,
      );
    }
  }

  rest(): void {
    this.#inner.rest();
  }

  close(): void {
    this.#inner.close();
  }
}
