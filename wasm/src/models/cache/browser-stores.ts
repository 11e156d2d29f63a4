// What browsers have for files: the Cache API, and the origin private file system.

import { blobSource } from '../sources/piece-source.js';
import type { BlockStore } from './block-store.js';

/** Names of the Cache API are addresses; nobody ever asks a server for these. */
const host = 'https://qkv.invalid/';

/** The Cache API: in pages and workers of secure contexts. An entry is there as a whole or not at all. */
export async function cacheStore(name: string): Promise<BlockStore> {
  const { caches } = globalThis as { caches?: CacheStorage };
  if (!caches)
    throw new TypeError('there is no Cache API here: it needs a page of https or localhost');
  const cache = await caches.open(name);
  const blob = async (key: string): Promise<Blob | undefined> =>
    (await cache.match(host + key))?.blob();
  return {
    contents: blob,
    async get(key) {
      const found = await blob(key);
      return found && blobSource(key, found);
    },
    put: (key, bytes) => cache.put(host + key, new Response(bytes)),
    async remove(key) {
      await cache.delete(host + key);
    },
    names: async () => (await cache.keys()).map(({ url }) => url.slice(host.length)),
  };
}

/** What TypeScript's library has of it only since 5.9, or in workers. */
interface SyncHandle {
  truncate(size: number): void;
  write(bytes: Uint8Array, at: { at: number }): number;
  close(): void;
}
type Handle = FileSystemFileHandle & { createSyncAccessHandle?(): Promise<SyncHandle> };
type Folder = FileSystemDirectoryHandle & { keys(): AsyncIterable<string> };

const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.name === 'NotFoundError';

/** Writes a file: in a worker at once, which Safari has longest, else by a stream. */
async function write(handle: Handle, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if (handle.createSyncAccessHandle) {
    const file = await handle.createSyncAccessHandle();
    try {
      file.truncate(0);
      for (let at = 0; at < bytes.length;) at += file.write(bytes.subarray(at), { at });
    } finally {
      file.close();
    }
    return;
  }
  const stream = await handle.createWritable();
  await stream.write(bytes);
  await stream.close();
}

/** A folder of the origin private file system. */
export async function opfsStore(name: string): Promise<BlockStore> {
  const { storage } = globalThis.navigator as { storage?: StorageManager };
  if (!storage?.getDirectory)
    throw new TypeError(
      'there is no origin private file system here: it needs a page of https or localhost',
    );
  const root = await storage.getDirectory();
  const folder = (await root.getDirectoryHandle(name, { create: true })) as Folder;
  const blob = async (key: string): Promise<Blob | undefined> => {
    try {
      return await (await folder.getFileHandle(key)).getFile();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  return {
    contents: blob,
    async get(key) {
      const found = await blob(key);
      return found && blobSource(key, found);
    },
    async put(key, bytes) {
      const handle = await folder.getFileHandle(key, { create: true });
      try {
        await write(handle, bytes);
      } catch (error) {
        // Half a stretch is none.
        await folder.removeEntry(key).catch(() => undefined);
        throw error;
      }
    },
    async remove(key) {
      try {
        await folder.removeEntry(key);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    async names() {
      const names: string[] = [];
      for await (const key of folder.keys()) names.push(key);
      return names;
    },
  };
}
