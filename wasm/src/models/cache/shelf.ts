// The files of a cache: which there are, what is known of each, and which go when there is no room. What fails here is no error of a
// load: `problem` says it, and nothing is kept.

import { brief } from '../errors.js';
import { sha256 } from '../sources/sha256.js';
import { readAll } from '../sources/source.js';
import { type BlockStore, usualBlock } from './block-store.js';
import { tryLock } from './locks.js';

/** What is known of a file. */
export interface About {
  readonly address: string;
  /** Bytes; null until it is known. */
  readonly size: number | null;
  /** Its ETag and date, as the server sent them. */
  readonly tag: string | null;
  readonly modified: string | null;
  /** When it was last loaded, in milliseconds of 1970. */
  readonly used: number;
  /** The SHA-256 that it was found to have. */
  readonly checked: string | null;
}

/** What a cache has of a file: what is known of it, and which stretches, by their numbers from the front. */
export interface ShelvedFile {
  readonly key: string;
  readonly about: About | undefined;
  readonly blocks: Set<number>;
}

const aboutName = (key: string): string => `${key}-about`;
const blockName = (key: string, index: number): string => `${key}-${index}`;

/** A name for an address that any store takes. */
function keyOf(address: string): string {
  const digest = sha256();
  digest.update(new TextEncoder().encode(address));
  return digest.hex().slice(0, 32);
}

const isAbout = (value: unknown): value is About => {
  const { address, size, used } = (value ?? {}) as Partial<About>;
  const isSize = size === null || (Number.isSafeInteger(size) && Number(size) >= 0);
  return typeof address === 'string' && isSize && typeof used === 'number';
};

export class Shelf {
  /** Why the latest file was not kept. */
  problem: string | undefined;
  readonly blockBytes: number;
  readonly #name: string;
  readonly #maxBytes: number;
  readonly #open: () => Promise<BlockStore>;
  #store: Promise<BlockStore> | undefined;
  /** Keys of files that are read here, which are not to go. */
  readonly #inUse = new Map<string, number>();

  constructor(
    name: string,
    open: () => Promise<BlockStore>,
    maxBytes = Infinity,
    blockBytes = usualBlock,
  ) {
    [this.#name, this.#open, this.#maxBytes, this.blockBytes] = [name, open, maxBytes, blockBytes];
  }

  /** What `act` makes of the store; undefined, and a problem, where it fails. */
  async #try<T>(what: string, act: (store: BlockStore) => Promise<T>): Promise<T | undefined> {
    try {
      this.#store ??= this.#open();
      return await act(await this.#store);
    } catch (error) {
      this.#store = undefined;
      this.problem = `the cache ${what} (${brief(String(error))})`;
      return undefined;
    }
  }

  /** What is kept of an address; undefined where the cache cannot be read. */
  async find(address: string): Promise<ShelvedFile | undefined> {
    const key = keyOf(address);
    return this.#try('cannot be read', async (store) => {
      const all = await this.#blocks(store);
      const about = await this.#about(store, key);
      // What nothing is known of, or of another address with the same key, is nothing.
      const isOurs = about?.address === address;
      if (!isOurs)
        for (const index of all.get(key) ?? []) await store.remove(blockName(key, index));
      return {
        key,
        about: isOurs ? about : undefined,
        blocks: isOurs ? (all.get(key) ?? new Set<number>()) : new Set<number>(),
      };
    });
  }

  /** All files. */
  async list(): Promise<ShelvedFile[]> {
    const kept = await this.#try('cannot be read', async (store) => {
      const all: ShelvedFile[] = [];
      for (const [key, blocks] of await this.#blocks(store))
        all.push({ key, blocks, about: await this.#about(store, key) });
      return all;
    });
    return kept ?? [];
  }

  /** Bytes of what is kept of a file. */
  bytesOf({ about, blocks }: ShelvedFile): number {
    const size = about?.size ?? Infinity;
    const of = (index: number): number =>
      Math.max(0, Math.min(this.blockBytes, size - index * this.blockBytes));
    return [...blocks].reduce((sum, index) => sum + of(index), 0);
  }

  /** Whether all of a file is there. */
  isWhole({ about, blocks }: ShelvedFile): boolean {
    const size = about?.size ?? null;
    return size !== null && blocks.size === Math.ceil(size / this.blockBytes);
  }

  /** A stretch of a file, of so many bytes; undefined where it is not there, or not whole. */
  async block(key: string, index: number, size: number | undefined) {
    return this.#try('cannot be read', async (store) => {
      const found = await store.get(blockName(key, index));
      if (!found || size === undefined || found.size === size) return found;
      found.close();
      return undefined;
    });
  }

  /** The same as a Blob. */
  async blob(key: string, index: number): Promise<Blob | undefined> {
    return this.#try('cannot be read', (store) => store.contents(blockName(key, index)));
  }

  /** Keeps a stretch, and tells whether that could be. */
  async put(key: string, index: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const done = await this.#try('takes no more', async (store) => {
      await store.put(blockName(key, index), bytes);
      return true;
    });
    return done === true;
  }

  /** Keeps what is known of a file, and tells whether that could be. */
  async putAbout(key: string, about: About): Promise<boolean> {
    const done = await this.#try('takes no more', async (store) => {
      await store.put(aboutName(key), new TextEncoder().encode(JSON.stringify(about)));
      return true;
    });
    return done === true;
  }

  /** Removes a file. */
  async remove(key: string): Promise<boolean> {
    const done = await this.#try('cannot be changed', async (store) => {
      const names = (await store.names()).filter((name) => name.startsWith(`${key}-`));
      // First what says that there is something.
      for (const name of names.sort().reverse()) await store.remove(name);
      return names.length > 0;
    });
    return done === true;
  }

  /** Removes all files, and what is left of writing that was ended. */
  async clear(): Promise<void> {
    await this.#try('cannot be changed', async (store) => {
      for (const name of await store.names())
        if (/^[0-9a-f]{32}-/.test(name)) await store.remove(name);
    });
  }

  /** Makes room for a file of so many bytes, and tells whether there is. */
  async makeRoom(key: string, size: number): Promise<boolean> {
    if (this.#maxBytes === Infinity) return true;
    if (size > this.#maxBytes) {
      this.problem = `the file has ${size} bytes, and the cache keeps at most ${this.#maxBytes} (maxBytes)`;
      return false;
    }
    const others = (await this.list()).filter((each) => each.key !== key);
    let bytes = others.reduce((sum, each) => sum + this.bytesOf(each), 0);
    const usedOf = ({ about }: ShelvedFile): number => about?.used ?? 0;
    for (const each of others.sort((a, b) => usedOf(a) - usedOf(b))) {
      if (bytes + size <= this.#maxBytes) break;
      if (this.#inUse.has(each.key)) continue;
      const unlock = await this.lock(each.key);
      if (!unlock) continue;
      if (await this.remove(each.key)) bytes -= this.bytesOf(each);
      unlock();
    }
    if (bytes + size <= this.#maxBytes) return true;
    this.problem = `the cache has ${bytes} bytes of files that are in use, and keeps at most ${this.#maxBytes} (maxBytes)`;
    return false;
  }

  /** The right to write a file, if nobody has it, here or in another process. */
  async lock(key: string): Promise<(() => void) | undefined> {
    const unlock = await tryLock(`qkv:${this.#name}:${key}`);
    if (!unlock) return undefined;
    const store = await this.#try('cannot be read', (found) => Promise.resolve(found));
    if (!store?.lock) return unlock;
    const unlockStore = await store.lock(key);
    if (!unlockStore) {
      unlock();
      return undefined;
    }
    return () => {
      unlockStore();
      unlock();
    };
  }

  /** Says that a file is read, until the returned function is called. */
  use(key: string): () => void {
    this.#inUse.set(key, (this.#inUse.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#inUse.get(key) ?? 1) - 1;
      if (left > 0) this.#inUse.set(key, left);
      else this.#inUse.delete(key);
    };
  }

  async #blocks(store: BlockStore): Promise<Map<string, Set<number>>> {
    const all = new Map<string, Set<number>>();
    for (const name of await store.names()) {
      const [, key, index] = /^([0-9a-f]{32})-(\d+|about)$/.exec(name) ?? [];
      if (key === undefined) continue;
      const blocks = all.get(key) ?? new Set<number>();
      if (index !== 'about') blocks.add(Number(index));
      all.set(key, blocks);
    }
    return all;
  }

  async #about(store: BlockStore, key: string): Promise<About | undefined> {
    const source = await store.get(aboutName(key));
    if (!source) return undefined;
    try {
      const bytes = await readAll(source, 0, Math.min(source.size, 2 ** 16));
      const about: unknown = JSON.parse(new TextDecoder().decode(bytes));
      return isAbout(about) ? about : undefined;
    } catch {
      return undefined;
    } finally {
      source.close();
    }
  }
}
