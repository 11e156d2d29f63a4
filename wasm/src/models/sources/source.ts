// What a source of bytes is. open.ts makes one of what a caller gives; cursor.ts and stream.ts read it.
//
// A file is read once from front to back, and no more of it than a piece is kept. Only who reads something that lies
// further back, or skips much, makes a server send from another place.

import { newBytes, refuse } from '../errors.js';

/** Most bytes of a piece. */
export const pieceSize = 2 ** 20;

/** The bytes of a file. */
export interface ByteSource {
  /** For messages. */
  readonly name: string;
  /** Infinity as long as nobody has said: before the first read, or where a server does not tell. */
  readonly size: number;
  /**
   * The bytes [begin, end), to the last with Infinity, in pieces of at most `pieceSize`; a piece holds until the next is requested. Whoever ends the
   * iteration early may read on from there, and nothing is sent twice. One read at a time.
   *
   * @throws {@link QkvError} `invalid_argument` when the file ends before, `load_failed` when it cannot be read; the
   * reason of the signal
   */
  read(begin: number, end: number, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Reads what must be read although nobody requested it: the rest of a file whose SHA-256 is known, which is compared then, or of a
   * stretch that is kept.
   *
   * @throws {@link QkvError} `load_failed` for another SHA-256, and what read() throws
   */
  check?(signal?: AbortSignal): Promise<void>;
  /** Gives back what only reading needs, and whoever reads on asks for again: a response, room for pieces. Idempotent. */
  rest(): void;
  /** Gives back what is open. Idempotent. */
  close(): void;
}

/** A file that ends too early. */
export const ended = (name: string, at: number, end: number): never =>
  refuse(`${name} ends at byte ${at}`, `${end} bytes`);

/** The bytes [begin, end), of which there are few. */
export async function readAll(
  source: ByteSource,
  begin: number,
  end: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = newBytes(end - begin);
  let at = 0;
  for await (const piece of source.read(begin, end, signal)) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
