// The caches that callers make, and what a load sees of them.

import type { BlobOptions, KeptFile, ModelCache, ModelCacheOptions } from '../../api/load-types.js';
import { QkvError } from '../../api/errors.js';
import { checkChoice } from '../../arguments/numbers.js';
import { checkSignal } from '../../arguments/signal.js';
import { describe, reading, tagOf, takeOptions } from '../../arguments/values.js';
import { wholeAddress } from '../../platform/addresses.js';
import { nodeModule } from '../../platform/node.js';
import { checkProgress } from '../../arguments/progress.js';
import { Rate } from '../rate.js';
import { fileName, isAddress, type FileCache, Opener } from '../sources/opener.js';
import { readAll } from '../sources/source.js';
import { type RequestOptions, Requests } from '../sources/requests.js';
import type { WebSource } from '../sources/web.js';
import type { BlockStore } from './block-store.js';
import { cacheStore, opfsStore } from './browser-stores.js';
import { folderStore } from './folder-store.js';
import { KeptSource } from './kept-source.js';
import { Shelf } from './shelf.js';

const kinds = ['cache', 'opfs', 'folder'] as const;
type Kind = (typeof kinds)[number];

const refuserOf =
  (fn: string) =>
  (what: string, expected: string): never => {
    throw new QkvError('invalid_argument', `${fn}: ${what}, expected ${expected}`);
  };

/** What a load does with a shelf. */
class Files implements FileCache {
  constructor(readonly shelf: Shelf) {}

  get problem(): string | undefined {
    return this.shelf.problem;
  }

  async source(
    address: string,
    web: WebSource,
    signal?: AbortSignal,
  ): Promise<KeptSource | undefined> {
    this.shelf.problem = undefined;
    const found = await this.shelf.find(address);
    if (!found) return undefined;
    const source = new KeptSource(web, this.shelf, address, found);
    try {
      await source.begin(signal);
      return source;
    } catch (error) {
      source.close();
      throw error;
    }
  }

  async remember(address: string, text: string): Promise<void> {
    const found = await this.shelf.find(address);
    const bytes = new TextEncoder().encode(text);
    const { length: size } = bytes;
    if (!found || size > this.shelf.blockBytes || !(await this.shelf.makeRoom(found.key, size)))
      return;
    const about = { address, size, tag: null, modified: null, used: Date.now(), checked: null };
    if (await this.shelf.putAbout(found.key, about)) await this.shelf.put(found.key, 0, bytes);
  }

  async recall(address: string): Promise<string | undefined> {
    const found = await this.shelf.find(address);
    const source = found && (await this.shelf.block(found.key, 0, found.about?.size ?? undefined));
    if (!source) return undefined;
    try {
      return new TextDecoder().decode(await readAll(source, 0, source.size));
    } catch {
      return undefined;
    } finally {
      source.close();
    }
  }
}

class OwnModelCache implements ModelCache {
  declare readonly name: string;
  declare readonly kind: Kind;
  declare readonly folder: string | undefined;
  declare readonly maxBytes: number;
  readonly #shelf: Shelf;
  readonly #files: Files;

  constructor(given: Required<Pick<ModelCache, 'name' | 'kind' | 'folder' | 'maxBytes'>>) {
    const { name, kind, folder, maxBytes } = given;
    for (const [key, value] of Object.entries({ name, kind, folder, maxBytes }))
      Object.defineProperty(this, key, { value, enumerable: true });
    const open: Record<Kind, () => Promise<BlockStore>> = {
      cache: () => cacheStore(name),
      opfs: () => opfsStore(name),
      folder: () => Promise.resolve(folderStore(folder ?? '')),
    };
    this.#shelf = new Shelf(
      kind === 'folder' ? `folder ${String(folder)}` : `${kind} ${name}`,
      open[kind],
      maxBytes,
    );
    this.#files = new Files(this.#shelf);
  }

  /** What a load sees of a cache; undefined for what is none of this copy of the package. */
  static filesOf(value: object): FileCache | undefined {
    return #files in value ? value.#files : undefined;
  }

  get problem(): string | undefined {
    return this.#shelf.problem;
  }

  get [Symbol.toStringTag](): string {
    return 'ModelCache';
  }

  async list(): Promise<KeptFile[]> {
    const files = (await this.#shelf.list()).filter(({ about }) => about !== undefined);
    return files
      .map((file) => ({
        address: file.about?.address ?? '',
        size: file.about?.size ?? undefined,
        kept: this.#shelf.bytesOf(file),
        used: new Date(file.about?.used ?? 0),
      }))
      .sort((a, b) => Number(b.used) - Number(a.used));
  }

  async size(): Promise<number> {
    return (await this.#shelf.list()).reduce((sum, file) => sum + this.#shelf.bytesOf(file), 0);
  }

  async remove(address: string | URL): Promise<boolean> {
    if (!isAddress(address))
      refuserOf('remove')(`address is ${describe(address)}`, 'the address of a file');
    const found = await this.#shelf.find(wholeAddress(String(address)));
    return found !== undefined && this.#shelf.remove(found.key);
  }

  clear(): Promise<void> {
    return this.#shelf.clear();
  }

  async blob(address: string | URL, given: BlobOptions = {}): Promise<Blob> {
    const names = ['signal', 'onProgress', 'headers', 'hub', 'fetch', 'tries'] as const;
    const options = takeOptions('blob', 'options', given, names);
    const { signal, onProgress } = options;
    checkSignal('blob', signal);
    checkProgress('blob', onProgress);
    if (!isAddress(address))
      refuserOf('blob')(`address is ${describe(address)}`, 'the address of a file');
    const opener = new Opener(
      new Requests({ ...(options as RequestOptions), isKept: true }),
      this.#files,
    );
    const at = opener.resolved('address', String(address));
    const source = await opener.open('address', at, signal);
    const rate = new Rate(performance.now());
    let loaded = 0;
    const parts: Blob[] = [];
    try {
      for await (const piece of source.read(0, Infinity, signal)) {
        loaded += piece.length;
        // Copies, which the engine may put on the disk.
        parts.push(new Blob([piece.slice()]));
        const total = Math.max(loaded, source.size === Infinity ? 0 : source.size);
        const { problem } = this;
        onProgress?.({
          ...{ loaded, total, rate: rate.add(piece.length, performance.now()), file: fileName(at) },
          ...(problem !== undefined && { cacheProblem: problem }),
        });
      }
      await source.check?.(signal);
    } finally {
      source.close();
    }
    return new Blob((await this.#blobs(wholeAddress(at))) ?? parts);
  }

  /** A file from the cache, if all of it is there. */
  async #blobs(address: string): Promise<Blob[] | undefined> {
    const found = await this.#shelf.find(address);
    if (!found || !this.#shelf.isWhole(found)) return undefined;
    const blobs: Blob[] = [];
    for (let i = 0; i < found.blocks.size; i += 1) {
      const blob = await this.#shelf.blob(found.key, i);
      if (!blob) return undefined;
      blobs.push(blob);
    }
    return blobs;
  }
}

/** What was given to `fn`, where the options are called `path`. */
function checkOptions(fn: string, path: string, given: ModelCacheOptions) {
  const options = takeOptions(fn, path || 'options', given, ['name', 'folder', 'kind', 'maxBytes']);
  const { folder, kind = folder === undefined ? 'cache' : 'folder' } = options;
  const { name = 'qkv-models', maxBytes = Infinity } = options;
  const at = (field: string): string => (path ? `${path}.${field}` : field);
  checkChoice(fn, at('kind'), kind, kinds);
  const refuse = refuserOf(fn);
  if (typeof name !== 'string' || !/^[\w.-]{1,100}$/.test(name) || /^\.+$/.test(name))
    refuse(`${at('name')} is ${describe(name)}`, 'a text of letters, digits, "_", "-" and "."');
  if (!(typeof maxBytes === 'number' && maxBytes > 0))
    refuse(`${at('maxBytes')} is ${describe(maxBytes)}`, 'a number of bytes above 0');
  if (folder !== undefined && (typeof folder !== 'string' || folder === ''))
    refuse(`${at('folder')} is ${describe(folder)}`, 'the path of a folder');
  if (folder !== undefined && kind !== 'folder')
    refuse(`${at('kind')} is '${kind}'`, "'folder', as folder is given");
  if (kind === 'folder' && folder === undefined)
    refuse(`${at('kind')} is 'folder'`, 'folder: its path');
  if (kind === 'folder' && nodeModule('node:fs/promises') === undefined)
    refuse(`${at('folder')} is given, and there are none here`, "kind 'cache' or 'opfs'");
  return { name, kind, folder, maxBytes };
}

/** Makes a cache, of which nothing is opened yet. */
export const modelCache = (given: ModelCacheOptions = {}): ModelCache =>
  new OwnModelCache(checkOptions('modelCache', '', given));

/** The cache of a load, as it was given: one, one of another copy of the package, or its options. */
export function fileCacheOf(given: unknown): FileCache | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'object' || given === null)
    refuserOf('load')(`cache is ${describe(given)}`, 'a cache of modelCache(), or its options');
  const cache: object = given as object;
  const own = OwnModelCache.filesOf(cache);
  if (own) return own;
  const options = reading('load', 'cache', () => {
    if (tagOf(cache) !== 'ModelCache') return cache;
    const { name, folder, kind, maxBytes } = cache as ModelCacheOptions;
    return { name, folder, kind, maxBytes };
  });
  return OwnModelCache.filesOf(new OwnModelCache(checkOptions('load', 'cache', options)));
}
