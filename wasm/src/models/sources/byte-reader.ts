// Streams of bytes that are read into one buffer, where the engine can: a stream that makes a new buffer for each piece leaves it to
// the collector, and of a file of 800 MB 300 MB were waiting for that at the end.

import { pieceSize } from './source.js';

/** A stream of bytes, whichever way it is read. */
export interface ByteReader {
  /** The next bytes, which hold until the next are requested; undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Ends the stream. */
  cancel(): void;
}

/**
 * The readers that wait for bytes. Chromium's collector takes the stream of a Blob that nothing but such a wait holds, and the wait
 * never ends: loads stopped for good after a few hundred of them.
 */
const waiting = new Set<object>();

/** Holds a reader until `bytes` are there. */
async function held<T>(reader: object, bytes: Promise<T>): Promise<T> {
  waiting.add(reader);
  try {
    return await bytes;
  } finally {
    waiting.delete(reader);
  }
}

/** The engines' reader of this kind, as far as it is used: which types of TypeScript's libraries say what a view is differs by release. */
interface BufferReader {
  read(into: Uint8Array): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** A reader that brings a buffer along; undefined where the stream has none. */
function ownBuffer(stream: ReadableStream<Uint8Array>): ByteReader | undefined {
  let reader: BufferReader;
  try {
    reader = stream.getReader({ mode: 'byob' }) as unknown as BufferReader;
  } catch {
    return undefined;
  }
  let room: ArrayBufferLike | undefined;
  return {
    async read() {
      const into = new Uint8Array(room ?? new ArrayBuffer(pieceSize));
      room = undefined; // the stream has it
      const { done, value } = await held(reader, reader.read(into));
      room = value?.buffer;
      return done ? undefined : value;
    },
    cancel: () => void reader.cancel().catch(() => undefined),
  };
}

/** Reads a stream. */
export function byteReader(stream: ReadableStream<Uint8Array>): ByteReader {
  const own = ownBuffer(stream);
  if (own) return own;
  const reader = stream.getReader();
  return {
    async read() {
      const { done, value } = await held(reader, reader.read());
      return done ? undefined : value;
    },
    cancel: () => void reader.cancel().catch(() => undefined),
  };
}
