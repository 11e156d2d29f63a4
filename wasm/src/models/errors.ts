// What is wrong with a file, or cannot be done with it. Everything of this folder speaks in the name of load().

import { QkvError, type QkvErrorCode } from '../api/errors.js';

const error = (code: QkvErrorCode, message: string, cause?: unknown): QkvError =>
  new QkvError(code, `load: ${message}`, { cause });

/** A file, config or argument that says something wrong. */
export function refuse(what: string, expected: string): never {
  throw error('invalid_argument', `${what}, expected ${expected}`);
}

/** Something that is right, and that nothing here can do. */
export function refuseUnsupported(what: string, expected: string): never {
  throw error('unsupported', `${what}, expected ${expected}`);
}

/** Room in JavaScript's memory, of which a header can ask for any amount where no server sent the size of the file. */
export function newBytes(length: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    throw error(
      'out_of_memory',
      `out of memory: ${length} bytes could not be allocated in JavaScript`,
      cause,
    );
  }
}

/** Bytes that could not be read. */
export const unread = (what: string, expected: string, cause?: unknown): QkvError =>
  error('load_failed', `${what}, expected ${expected}`, cause);

/** Of a text for a message so much that the rest can be read: a data: URL is a whole file, and an index names files as it likes. */
export const brief = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 200)}...` : text;

/** A name out of a file for a message. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);
