// Sources that can be read at any place: memory, a Blob, a file of Node's.

import { isPath } from '../../platform/addresses.js';
import { nodeModule } from '../../platform/node.js';
import { brief, unread } from '../errors.js';
import { throwIfAborted } from '../../arguments/signal.js';
import { type ByteSource, ended, pieceSize } from './source.js';

/** The bytes [begin, end), or fewer of them. */
export type ReadPiece = (begin: number, end: number) => Promise<Uint8Array> | Uint8Array;

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
    let room: Uint8Array | undefined;
    return new PieceSource(
      name,
      size,
      async (begin, end) => {
        const buffer = (room ??= new Uint8Array(Math.min(size, pieceSize)));
        const { bytesRead } = await file.read({ buffer, length: end - begin, position: begin });
        return buffer.subarray(0, bytesRead);
      },
      () => void file.close(),
      () => {
        room = undefined;
      },
    );
  } catch (error) {
    void handle?.close();
    throw unreadable(name, error);
  }
}
