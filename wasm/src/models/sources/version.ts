// Which version of a file a server sends: by its size, its ETag and its date. A file that is read in several requests must stay the same.

import { originOf } from './requests.js';
import { nodeModule } from '../../platform/node.js';

export interface Version {
  /** Bytes; Infinity where nobody has said. */
  readonly size: number;
  /** The ETag, as it came. */
  readonly tag: string | null;
  /** Last-Modified, as it came. */
  readonly modified: string | null;
}

export const unknown: Version = { size: Infinity, tag: null, modified: null };

/** Whether anything is known by which another answer can be compared with it. */
export const isKnown = ({ size, tag, modified }: Version): boolean =>
  size !== Infinity || tag !== null || modified !== null;

/** Without the mark of a weak one: the same bytes, but for what a server does on the way. */
const opaque = (tag: string): string => tag.replace(/^W\//, '');

/** In what two versions differ, for a message; undefined where nothing tells. */
export function difference(before: Version, now: Version): string | undefined {
  if (before.size !== Infinity && now.size !== Infinity && before.size !== now.size)
    return `first a file of ${before.size} bytes and now one of ${now.size}`;
  if (before.tag !== null && now.tag !== null) {
    const isSame = opaque(before.tag) === opaque(now.tag);
    return isSame ? undefined : `first the ETag ${before.tag} and now ${now.tag}`;
  }
  const { modified } = before;
  if (modified === null || now.modified === null || modified === now.modified) return undefined;
  return `first a file of ${modified} and now one of ${now.modified}`;
}

/** All that two answers for the same version say of it. */
export const joined = (before: Version, now: Version): Version => ({
  size: now.size === Infinity ? before.size : now.size,
  tag: now.tag ?? before.tag,
  modified: now.modified ?? before.modified,
});

/**
 * The value of If-Range: the server sends the rest only if it has this version, and else the whole file. A date has whole seconds, in
 * which a file may change twice. A page may send the header only to its own server: another one would have to allow it first, and
 * what is compared with difference() says no less where that is not done.
 */
export function ifRange(address: string, { tag, modified }: Version): string | undefined {
  const { location } = globalThis as { location?: Location };
  const isOwn = location === undefined || originOf(address) === location.origin;
  if (!isOwn && nodeModule('node:fs') === undefined) return undefined;
  return tag !== null && tag.startsWith('"') ? tag : (modified ?? undefined);
}
