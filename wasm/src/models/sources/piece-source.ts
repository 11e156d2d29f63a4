// Sources that can be read at any place: memory, a Blob, a file of Node's.

import { isPath } from '../../platform/addresses.js';
import { nodeModule } from '../../platform/node.js';
import { brief, unread } from '../errors.js';
import { type ByteReader, byteReader } from './byte-reader.js';
import { throwIfAborted } from '../../arguments/signal.js';
import { type ByteSource, ended, pieceSize } from './source.js';

/** The bytes [begin, end), or fewer of them. */
type ReadPiece = (begin: number, end: number) => Promise<Uint8Array> | Uint8Array;

/** A source of which `piece` reads at most `pieceSize` bytes at a time. */
export class PieceSource implements ByteSource {
  constructor(
    readonly name: string,
    readonly size: number,
    private readonly piece: ReadPiece,
    readonly close: () => void = () => undefined,
    readonly rest: () => void = () => undefined,
  ) {}

  async *read(begin: number, end: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    for (let at = begin; at < end;) {
      throwIfAborted(signal);
      if (at >= this.size && end === Infinity) return;
      if (at >= this.size) ended(this.name, this.size, end);
      const piece = await this.#take(at, Math.min(end, at + pieceSize, this.size));
      throwIfAborted(signal);
      if (piece.length === 0) ended(this.name, at, end);
      yield piece;
      at += piece.length;
    }
  }

  async #take(begin: number, end: number): Promise<Uint8Array> {
    try {
      return await this.piece(begin, end);
    } catch (error) {
      throw unreadable(this.name, error);
    }
  }
}

const unreadable = (name: string, error: unknown): Error =>
  unread(`${name} cannot be read (${brief(String(error))})`, 'a file of a model', error);

/**
 * A Blob. It is read as a stream, which goes on where the next piece is the one behind: each piece by itself took a round to
 * another process, and all of them three times as long.
 */
export function blobSource(name: string, blob: Blob): ByteSource {
  let reader: ByteReader | undefined;
  /** What has come of the stream and was not requested, and where that is. */
  let at = 0;
  let bytes: Uint8Array = new Uint8Array(0);
  const rest = (): void => {
    reader?.cancel();
    [reader, at, bytes] = [undefined, 0, new Uint8Array(0)];
  };
  const piece: ReadPiece = async (begin, end) => {
    if (!reader || begin !== at) {
      rest();
      reader = byteReader(blob.slice(begin).stream());
      at = begin;
    }
    if (bytes.length === 0) bytes = (await reader.read()) ?? bytes;
    const found = bytes.subarray(0, end - begin);
    [at, bytes] = [at + found.length, bytes.subarray(found.length)];
    return found;
  };
  return new PieceSource(name, blob.size, piece, rest, rest);
}

interface FileHandle {
  stat(): Promise<{ size: number }>;
  read(of: {
    buffer: Uint8Array;
    length: number;
    position: number;
  }): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}
interface Files {
  open(path: string | URL): Promise<FileHandle>;
}

/**
 * Two stretches of a file: one that is in use, and the one behind it, which is read meanwhile. Without that a load from a file in the
 * system's cache waited a fifth of its time.
 */
class Windows {
  readonly #file: FileHandle;
  readonly #size: number;
  #rooms: readonly [Uint8Array, Uint8Array] | undefined;
  #turn: 0 | 1 = 0;
  #begin = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #next: { begin: number; bytes: Promise<Uint8Array> } | undefined;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /** The bytes [begin, end), or fewer of them; they hold until other ones are requested. */
  async piece(begin: number, end: number): Promise<Uint8Array> {
    if (!this.#has(begin)) await this.#move(begin);
    return this.#bytes.subarray(begin - this.#begin, end - this.#begin);
  }

  /** Gives back the room. */
  rest(): void {
    this.#rooms = this.#next = undefined;
    this.#bytes = new Uint8Array(0);
  }

  #has(at: number): boolean {
    return at >= this.#begin && at < this.#begin + this.#bytes.length;
  }

  async #move(begin: number): Promise<void> {
    let window = this.#next;
    this.#next = undefined;
    if (window && window.begin !== begin) {
      // It may be at work in the room that is needed, and whether it fails is of no interest.
      await window.bytes.catch(() => undefined);
      window = undefined;
    }
    window ??= this.#start(begin);
    const bytes = await window.bytes;
    [this.#begin, this.#bytes] = [begin, bytes];
    if (bytes.length === 0 || begin + bytes.length >= this.#size) return;
    this.#next = this.#start(begin + bytes.length);
    // Thrown where it is waited for.
    this.#next.bytes.catch(() => undefined);
  }

  #start(begin: number): { begin: number; bytes: Promise<Uint8Array> } {
    const length = Math.min(this.#size, pieceSize);
    this.#rooms ??= [new Uint8Array(length), new Uint8Array(length)];
    const buffer = this.#rooms[(this.#turn ^= 1) as 0 | 1];
    const bytes = this.#file
      .read({ buffer, length: Math.min(length, this.#size - begin), position: begin })
      .then(({ bytesRead }) => buffer.subarray(0, bytesRead));
    return { begin, bytes };
  }
}

/** A file by its URL, or its path in Node; undefined for an address of another kind, or where there are no files. */
export async function openFile(address: string): Promise<ByteSource | undefined> {
  const isUrl = address.startsWith('file:');
  if (!isUrl && !isPath(address)) return undefined;
  const files = nodeModule('node:fs/promises') as Files | undefined;
  if (!files) return undefined;
  const name = brief(address);
  let handle: FileHandle | undefined;
  try {
    const file = (handle = await files.open(isUrl ? new URL(address) : address));
    const { size } = await file.stat();
    const windows = new Windows(file, size);
    return new PieceSource(
      name,
      size,
      (begin, end) => windows.piece(begin, end),
      () => void file.close(),
      () => windows.rest(),
    );
  } catch (error) {
    void handle?.close();
    throw unreadable(name, error);
  }
}
