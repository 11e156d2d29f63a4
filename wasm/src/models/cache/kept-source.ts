// A file of a server that is kept in a cache as it is read: stretches that are there come from the cache, others from the server, and
// each is kept once it has come as a whole. Which ones are there does not matter: what nobody requested is not loaded.

import { throwIfAborted } from '../../arguments/signal.js';
import { newBytes } from '../errors.js';
import { pause } from '../sources/backoff.js';
import type { CachedSource } from '../sources/opener.js';
import { type ByteSource, ended } from '../sources/source.js';
import type { WebSource } from '../sources/web.js';
import type { About, Shelf, ShelvedFile } from './shelf.js';

/** Milliseconds between looks at what somebody else writes, and how long nothing may come of it. */
const [look, patience] = [100, 30_000];
const smallest = 2 ** 16;

export class KeptSource implements CachedSource {
  readonly name: string;
  readonly #web: WebSource;
  readonly #shelf: Shelf;
  readonly #key: string;
  readonly #address: string;
  #about: About | undefined;
  /** Stretches that the cache was seen to have. */
  readonly #blocks: Set<number>;
  /** The one that is read from the cache. */
  #read: { readonly index: number; readonly source: ByteSource } | undefined;
  /** The one that comes from the server, and how much of it has come. */
  #filling: { readonly index: number; count: number } | undefined;
  #buffer = newBytes(0);
  /** Gives back the right to write. */
  #unlock: (() => void) | undefined;
  #unuse: (() => void) | undefined;
  /** Nothing more of it is kept. */
  #isOff = false;

  constructor(web: WebSource, shelf: Shelf, address: string, { key, about, blocks }: ShelvedFile) {
    [this.name, this.#web, this.#shelf, this.#address] = [web.name, web, shelf, address];
    [this.#key, this.#about, this.#blocks] = [key, about, blocks];
    if (about) this.#expect(about);
    this.#unuse = shelf.use(key);
  }

  get size(): number {
    return this.#about?.size ?? this.#web.size;
  }

  get checked(): string | undefined {
    return this.#about?.checked ?? undefined;
  }

  get isWhole(): boolean {
    return this.#shelf.isWhole({ key: this.#key, about: this.#about, blocks: this.#blocks });
  }

  /** Notes the use, and sees whether a part that is there is of the file that the server has now. */
  async begin(signal?: AbortSignal): Promise<void> {
    if (!this.#about) return;
    if (!this.isWhole && this.#blocks.size > 0) await this.#compare(signal);
    if (this.#about) await this.#note({ used: Date.now() });
  }

  async *read(begin: number, end: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    for (let at = begin; at < end;) {
      throwIfAborted(signal);
      if (at >= this.size && end === Infinity) return;
      if (at >= this.size) ended(this.name, this.size, end);
      const { blockBytes } = this.#shelf;
      const index = Math.floor(at / blockBytes);
      const until = Math.min(end, (index + 1) * blockBytes, this.size);
      // It may give less, and then what is next is found anew: a stretch that has come meanwhile, or is gone.
      for await (const piece of this.#stretch(index, at, until, signal)) {
        yield piece;
        at += piece.length;
      }
    }
  }

  async markChecked(sha256: string): Promise<void> {
    await this.#note({ checked: sha256 });
  }

  async forget(): Promise<void> {
    this.#about = undefined;
    this.#blocks.clear();
    this.#drop();
    await this.#shelf.remove(this.#key);
  }

  /** The stretch under way comes as a whole, so that it can be kept. */
  async check(signal?: AbortSignal): Promise<void> {
    await this.#finish(signal);
    this.#give();
  }

  rest(): void {
    this.#web.rest();
    this.#drop();
    this.#give();
  }

  close(): void {
    this.rest();
    this.#unuse?.();
    this.#unuse = undefined;
  }

  /** Forgets what is open, and the stretch under way. */
  #drop(): void {
    this.#read?.source.close();
    this.#read = this.#filling = undefined;
    this.#buffer = newBytes(0);
  }

  #give(): void {
    this.#unlock?.();
    this.#unlock = undefined;
  }

  #expect({ size, tag, modified }: About): void {
    this.#web.version = { size: size ?? Infinity, tag, modified };
  }

  /** Requests what is missing first, which also shows whether the server has another file now. */
  async #compare(signal?: AbortSignal): Promise<void> {
    // Whoever is writing it has compared.
    this.#unlock = await this.#shelf.lock(this.#key);
    if (!this.#unlock) return;
    let first = 0;
    while (this.#blocks.has(first)) first += 1;
    try {
      await this.#web.start(first * this.#shelf.blockBytes, signal);
    } catch {
      throwIfAborted(signal);
      // Where there is no server, what is there may be enough.
      if (!this.#web.hasChanged) return;
      await this.forget();
      this.#web.forget();
    }
  }

  /** Bytes from `at`, to `until` at most, of one stretch. */
  async *#stretch(
    index: number,
    at: number,
    until: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const kept = this.#filling?.index === index ? undefined : await this.#kept(index);
    if (kept) {
      const start = index * this.#shelf.blockBytes;
      try {
        yield* kept.read(at - start, Math.min(until - start, kept.size), signal);
      } catch {
        throwIfAborted(signal);
        // Removed, or damaged: the server has it.
        this.#lose(index);
      }
    } else if (await this.#mayWrite(index, signal)) yield* this.#download(index, at, until, signal);
    else if (this.#isOff) yield* this.#pass(at, until, signal);
  }

  #lose(index: number): void {
    this.#read?.source.close();
    this.#read = undefined;
    this.#blocks.delete(index);
  }

  /** A stretch from the cache, if it is there. */
  async #kept(index: number): Promise<ByteSource | undefined> {
    if (this.#read?.index === index) return this.#read.source;
    if (!this.#blocks.has(index)) return undefined;
    this.#read?.source.close();
    this.#read = undefined;
    const source = await this.#block(index);
    if (source) this.#read = { index, source };
    else this.#blocks.delete(index);
    return source;
  }

  #block(index: number): Promise<ByteSource | undefined> {
    const { blockBytes } = this.#shelf;
    const left = this.size - index * blockBytes;
    return this.#shelf.block(
      this.#key,
      index,
      left === Infinity ? undefined : Math.min(left, blockBytes),
    );
  }

  /**
   * Waits for the right to write, or until somebody who has it has written this stretch, which is then in #blocks, or until that
   * takes too long, and nothing is kept.
   */
  async #mayWrite(index: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#isOff || this.#unlock) return !this.#isOff;
    for (let waited = 0; waited < patience; waited += look) {
      this.#unlock = await this.#shelf.lock(this.#key);
      await this.#follow();
      // One that cannot be read, though it is there, is missing.
      if (await this.#kept(index)) return false;
      if (this.#unlock) return true;
      await pause(look, signal);
      throwIfAborted(signal);
    }
    this.#shelf.problem = `somebody else has been writing ${this.name} for long`;
    this.#isOff = true;
    return false;
  }

  /** Learns what somebody else has learned of the file and has written of it. */
  async #follow(): Promise<void> {
    const found = await this.#shelf.find(this.#address);
    if (!found?.about) return;
    if (this.size === Infinity) this.#expect((this.#about = found.about));
    for (const each of found.blocks) this.#blocks.add(each);
  }

  /** From the server, where nothing is kept. */
  async *#pass(at: number, until: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    let from = at;
    for await (const piece of this.#web.read(at, Infinity, signal)) {
      const part = piece.subarray(0, until - from);
      yield part;
      from += part.length;
      if (from >= until) return;
    }
    this.#learnEnd(from);
  }

  /** The end of a file whose size the server did not send. */
  #learnEnd(end: number): void {
    if (this.size === Infinity) this.#web.version = { ...this.#web.version, size: end };
    else if (end < this.size) ended(this.name, end, this.size);
  }

  /** A stretch from the server, or what of it has come already; it is kept when all of it has come. */
  async *#download(
    index: number,
    at: number,
    until: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const start = index * this.#shelf.blockBytes;
    if (this.#filling?.index !== index) {
      await this.#finish(signal);
      this.#filling = { index, count: 0 };
    }
    const filling = this.#filling;
    const there = start + filling.count;
    if (at < there) {
      yield this.#buffer.subarray(at - start, Math.min(until, there) - start);
      return;
    }
    for await (const count of this.#fill(filling, signal)) {
      const [from, to] = [Math.max(at, start + count.from), Math.min(until, start + count.to)];
      if (to > from) yield this.#buffer.subarray(from - start, to - start);
      if (start + count.to >= until) return;
    }
  }

  /** Fills the stretch under way, and keeps it at its end. Tells what of it came. */
  async *#fill(
    filling: { readonly index: number; count: number },
    signal?: AbortSignal,
  ): AsyncGenerator<{ from: number; to: number }> {
    const { blockBytes } = this.#shelf;
    const start = filling.index * blockBytes;
    try {
      for await (const piece of this.#web.read(start + filling.count, Infinity, signal)) {
        await this.#learn();
        const from = filling.count;
        const taken = piece.subarray(0, blockBytes - from);
        this.#grow(from + taken.length);
        this.#buffer.set(taken, from);
        filling.count += taken.length;
        const isOver = filling.count === blockBytes || start + filling.count === this.size;
        if (isOver) await this.#keep(filling);
        yield { from, to: filling.count };
        if (isOver) return;
      }
    } catch (error) {
      if (this.#web.hasChanged) await this.forget();
      throw error;
    }
    this.#learnEnd(start + filling.count);
    await this.#learn();
    await this.#keep(filling);
  }

  /** Notes what the server has sent of the file, and whether there is room for it. */
  async #learn(): Promise<void> {
    const { size, tag, modified } = this.#web.version;
    const isNews = !this.#about || (this.#about.size === null && size !== Infinity);
    if (this.#isOff || !isNews) return;
    if (size !== Infinity && !(await this.#shelf.makeRoom(this.#key, size))) this.#isOff = true;
    else await this.#note({ size: size === Infinity ? null : size, tag, modified });
  }

  async #note(news: Partial<About>): Promise<void> {
    const first = { address: this.#address, size: null, tag: null, modified: null, checked: null };
    const about: About = { ...first, used: Date.now(), ...this.#about, ...news };
    if (this.#isOff) return;
    if (await this.#shelf.putAbout(this.#key, about)) this.#about = about;
    else this.#isOff = true;
  }

  #grow(length: number): void {
    if (this.#buffer.length >= length) return;
    const most = Math.min(this.#shelf.blockBytes, this.size);
    const larger = newBytes(Math.max(length, Math.min(most, Math.max(smallest, 4 * length))));
    larger.set(this.#buffer);
    this.#buffer = larger;
  }

  async #keep({ index, count }: { readonly index: number; readonly count: number }): Promise<void> {
    this.#filling = undefined;
    if (this.#isOff || count === 0) return;
    // What has no end that is known takes its room as it comes.
    const end = index * this.#shelf.blockBytes + count;
    const hasRoom = this.#about?.size !== null || (await this.#shelf.makeRoom(this.#key, end));
    if (hasRoom && (await this.#shelf.put(this.#key, index, this.#buffer.subarray(0, count))))
      this.#blocks.add(index);
    else this.#isOff = true;
  }

  /** Reads the rest of the stretch under way. */
  async #finish(signal?: AbortSignal): Promise<void> {
    const filling = this.#filling;
    if (!filling || this.#isOff) return;
    try {
      for await (const _ of this.#fill(filling, signal));
    } catch {
      throwIfAborted(signal);
      // Nobody needs it.
    }
    this.#filling = undefined;
  }
}
