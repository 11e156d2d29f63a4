// From what a caller gives to a source of bytes.

import { describe, isUint8Array, lengthOf, reading, tagOf } from '../../arguments/values.js';
import { plainView } from '../../arguments/views.js';
import { isPath } from '../../platform/addresses.js';
import { brief, refuse } from '../errors.js';
import { blobSource, openFile, PieceSource } from './piece-source.js';
import type { ByteSource } from './source.js';
import { WebSource } from './web.js';

/** What kind of object it is; none where it does not let itself be asked. */
function kindOf(value: unknown): string {
  try {
    return tagOf(value);
  } catch {
    return '';
  }
}
const isBlob = (value: unknown): value is Blob => /^(Blob|File)$/.test(kindOf(value));

export const isAddress = (value: unknown): value is string | URL =>
  typeof value === 'string' || kindOf(value) === 'URL';

/** The bytes of `place`, which messages call `role` where it has no name of its own. */
export async function openSource(role: string, place: unknown): Promise<ByteSource> {
  if (isAddress(place)) return (await openFile(String(place))) ?? new WebSource(String(place));
  if (isBlob(place)) {
    const { name = role } = place as Partial<File>;
    return blobSource(brief(name), place);
  }
  const isBuffer = kindOf(place) === 'ArrayBuffer';
  if (!isBuffer && !isUint8Array(place)) {
    refuse(`${role} is ${describe(place)}`, 'a URL, a Blob or an ArrayBuffer');
  }
  // What was handed to somebody else has no bytes any more.
  const bytes = reading('load', role, () =>
    isBuffer ? new Uint8Array(place as ArrayBuffer) : plainView(place as Uint8Array),
  ) as Uint8Array;
  return new PieceSource(role, lengthOf(bytes), (begin, end) => bytes.subarray(begin, end));
}

/** Where a file is that another one names, as relative to it. */
export function beside(place: string | URL, name: string): string {
  const address = String(place);
  // In a path these are letters like others.
  const bare = isPath(address) ? address : address.replace(/[?#].*$/s, '');
  return bare.replace(/[^/\\]*$/, '') + name;
}
