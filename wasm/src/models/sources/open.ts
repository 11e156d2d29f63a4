// From what a caller gives to a source of bytes.

import { describe, isUint8Array, lengthOf, tagOf } from '../../arguments/values.js';
import { plainView } from '../../arguments/views.js';
import { refuse } from '../errors.js';
import { openFile, PieceSource, type ReadPiece } from './pieces.js';
import type { ByteSource } from './source.js';
import { WebSource } from './web.js';

/** What a file can be given as. */
export type Place = string | URL | Blob | ArrayBuffer | Uint8Array;

const isBlob = (value: unknown): value is Blob => /^(Blob|File)$/.test(tagOf(value));

export const isAddress = (value: unknown): value is string | URL =>
  typeof value === 'string' || tagOf(value) === 'URL';

/** The bytes of `place`, which messages call `role` where it has no name of its own. */
export async function openSource(role: string, place: unknown): Promise<ByteSource> {
  if (isAddress(place)) return (await openFile(String(place))) ?? new WebSource(String(place));
  if (isBlob(place)) {
    const { name = role } = place as Partial<File>;
    const piece: ReadPiece = async (begin, end) =>
      new Uint8Array(await place.slice(begin, end).arrayBuffer());
    return new PieceSource(name, place.size, piece);
  }
  const isBuffer = tagOf(place) === 'ArrayBuffer';
  if (!isBuffer && !isUint8Array(place)) {
    refuse(`${role} is ${describe(place)}`, 'a URL, a Blob or an ArrayBuffer');
  }
  const bytes = (
    isBuffer ? new Uint8Array(place as ArrayBuffer) : plainView(place as Uint8Array)
  ) as Uint8Array;
  return new PieceSource(role, lengthOf(bytes), (begin, end) => bytes.subarray(begin, end));
}

/** Where a file is that another one names, as relative to it. */
export const beside = (place: string | URL, name: string): string =>
  String(place)
    .replace(/[?#].*$/, '')
    .replace(/[^/\\]*$/, '') + name;
