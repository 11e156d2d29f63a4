// A folder of Node, Deno or Bun.

import { nodeModule } from '../../platform/node.js';
import { openFile } from '../sources/piece-source.js';
import type { BlockStore } from './block-store.js';
import { lockFile } from './folder-lock.js';

interface Files {
  mkdir(path: string, options: { recursive: boolean }): Promise<unknown>;
  writeFile(path: string, bytes: Uint8Array): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: boolean }): Promise<void>;
  readdir(path: string): Promise<string[]>;
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
  access(path: string): Promise<void>;
}
interface Paths {
  resolve(path: string): string;
  join(folder: string, name: string): string;
}
interface Blobs {
  openAsBlob?(path: string): Promise<Blob>;
}

const isMissing = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'ENOENT';

export function folderStore(given: string): BlockStore {
  const files = nodeModule('node:fs/promises') as Files | undefined;
  const paths = nodeModule('node:path') as Paths | undefined;
  if (!files || !paths) throw new TypeError('there are no folders here');
  const folder = paths.resolve(given);
  const at = (name: string): string => paths.join(folder, name);
  const isThere = (name: string): Promise<boolean> =>
    files.access(at(name)).then(
      () => true,
      (error: unknown) => {
        if (isMissing(error)) return false;
        throw error;
      },
    );
  let written = 0;
  return {
    get: async (name) => ((await isThere(name)) ? openFile(at(name)) : undefined),
    async contents(name) {
      if (!(await isThere(name))) return undefined;
      const blobs = nodeModule('node:fs') as Blobs;
      return blobs.openAsBlob
        ? blobs.openAsBlob(at(name))
        : new Response(await files.readFile(at(name))).blob();
    },
    async put(name, bytes) {
      await files.mkdir(folder, { recursive: true });
      // By another name first: whoever reads meanwhile, here or in another process, finds all of it or nothing.
      const part = at(`${name}.${Math.random().toString(36).slice(2)}${written++}.part`);
      try {
        await files.writeFile(part, bytes);
        await files.rename(part, at(name));
      } catch (error) {
        await files.rm(part, { force: true }).catch(() => undefined);
        throw error;
      }
    },
    remove: (name) => files.rm(at(name), { force: true }),
    lock: (name) => lockFile(at(`${name}.lock`)),
    async names() {
      try {
        return await files.readdir(folder);
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    },
  };
}
