// Where a cache puts bytes: stretches of files, by names. What browsers have of this cannot be written piece by piece everywhere, or not by two
// at once, so that a file is many of them, each written at once: a download that ends in the middle has whole ones, and two that
// write the same one write the same.

import type { ByteSource } from '../sources/source.js';

export interface BlockStore {
  /** What has this name; undefined for nothing. */
  get(name: string): Promise<ByteSource | undefined>;
  /** The same as a Blob, which need not be in memory. */
  contents(name: string): Promise<Blob | undefined>;
  put(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Removes what has this name, if anything has. */
  remove(name: string): Promise<void>;
  /** All names. */
  names(): Promise<string[]>;
  /** The right to write what belongs to a name, where others than the tabs or threads of this one may have it. */
  lock?(name: string): Promise<(() => void) | undefined>;
}

/** Bytes of a stretch: an entry of the Cache API takes a millisecond or two besides its bytes. */
export const usualBlock = 2 ** 23;
