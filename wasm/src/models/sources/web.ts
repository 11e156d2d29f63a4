// Files of a server. Each request asks for all bytes from a place on, and what comes is read as long as it is of use: the
// header of a file and all of its arrays are one request. A server that does not honour Range sends all of the file, and
// what was skipped, or lies further back, it sends again. Where a connection breaks, the rest is asked for from a server that
// honours Range, as long as the file is the same by its size and ETag. If-Range would say no more, and a server of another
// origin would have to allow it first.

import { brief, unread } from '../errors.js';
import { type ByteReader, byteReader } from './byte-reader.js';
import { throwIfAborted } from '../../arguments/signal.js';
import { type ByteSource, ended, pieceSize } from './source.js';

/** Bytes that are rather read than skipped by another request. */
const gap = 2 ** 20;
const expected = 'a file of a model';
/** Milliseconds before the first request for the rest, twice as many before each further one, and how many there are. */
const [firstPause, mostTries] = [250, 5];

/** Waits, unless that is ended. */
const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });

const why = (error: unknown): string =>
  brief(
    error instanceof Error && error.cause instanceof Error
      ? `${error.message}: ${error.cause.message}`
      : String(error),
  );

export class WebSource implements ByteSource {
  readonly name: string;
  size = Infinity;
  readonly #address: string;
  #request = new AbortController();
  #reader: ByteReader | undefined;
  /** Whether the server sends from any place. */
  #hasRanges = false;
  /** The bytes that came last, and where in the file they begin. */
  #last: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** What the server calls this version of the file. */
  #tag: string | null = null;
  /** Of the last request; 0 where there was no answer. */
  #status = 0;
  /** Requests for the rest since bytes came. */
  #tries = 0;

  constructor(address: string) {
    this.name = brief(address);
    this.#address = address;
  }

  async *read(begin: number, end: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    for (let at = begin; at < end;) {
      const bytes = await this.#piece(at, end, signal);
      if (!bytes) return;
      const piece = bytes.subarray(0, Math.min(pieceSize, end - at));
      yield piece;
      at += piece.length;
    }
  }

  /** A browser has six connections for a server, of which a response that nobody reads on would keep one. */
  rest(): void {
    this.close();
  }

  close(): void {
    this.#request.abort();
    this.#reader = undefined;
  }

  /** What has come and begins at `at`; undefined where the file ends and may. */
  async #piece(
    at: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array | undefined> {
    throwIfAborted(signal);
    const stop = (): void => this.close();
    signal?.addEventListener('abort', stop);
    try {
      for (;;) {
        const next = this.#at + this.#last.length;
        if (at >= this.#at && at < next) return this.#last.subarray(at - this.#at);
        const isFar = this.#hasRanges && at - next > gap;
        if (!this.#reader || at < this.#at || isFar) await this.#ask(at);
        else if (await this.#isOver(this.#reader, signal)) {
          if (end === Infinity) return undefined;
          ended(this.name, next, end);
        }
      }
    } catch (error) {
      throwIfAborted(signal);
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Reads on, and tells whether there was nothing more. */
  async #isOver(reader: ByteReader, signal: AbortSignal | undefined): Promise<boolean> {
    const next = this.#at + this.#last.length;
    const { signal: own } = this.#request;
    let bytes: Uint8Array | undefined;
    try {
      bytes = await reader.read();
    } catch (error) {
      // What was closed here did not break.
      if (!this.#hasRanges || own.aborted || signal?.aborted) throw this.#broken(error);
      await this.#resume(next, error, signal);
      return false;
    }
    const isShort = this.#hasRanges && this.size !== Infinity && next < this.size;
    if (!bytes && !isShort) return true;
    if (bytes) [this.#at, this.#last, this.#tries] = [next, bytes, 0];
    else await this.#resume(next, 'it ended early', signal);
    return false;
  }

  #broken(cause: unknown, more = ''): Error {
    return unread(`${this.name} broke off (${why(cause)})${more}`, expected, cause);
  }

  /** Asks for the rest of what broke, some times. */
  async #resume(at: number, cause: unknown, signal: AbortSignal | undefined): Promise<void> {
    let last = cause;
    while (this.#tries < mostTries) {
      await pause(firstPause * 2 ** this.#tries, signal);
      throwIfAborted(signal);
      this.#tries += 1;
      try {
        await this.#ask(at);
        return;
      } catch (error) {
        // Another answer, or another file, would come again.
        const isPassing = this.#status === 0 || this.#status === 429 || this.#status >= 500;
        if (!isPassing) throw error;
        last = error;
      }
    }
    throw this.#broken(last, ` at byte ${at}, and ${mostTries} more requests for the rest failed`);
  }

  /** A request for what begins at `at`; what comes may begin before. */
  async #ask(at: number): Promise<void> {
    this.close();
    this.#request = new AbortController();
    const { signal } = this.#request;
    // Of what the engine has itself, Node 20 drops the last byte when asked for a range.
    const headers: HeadersInit = /^(blob|data):/.test(this.#address)
      ? {}
      : { Range: `bytes=${at}-` };
    let response;
    this.#status = 0;
    try {
      response = await fetch(this.#address, { headers, signal });
    } catch (error) {
      throw unread(`${this.name} cannot be read (${why(error)})`, expected, error);
    }
    const { status, body } = response;
    this.#status = status;
    if (!response.ok || !body) {
      const type = response.headers.get('content-type') ?? 'no content type';
      throw unread(`${this.name} answered ${status} (${brief(type)})`, expected);
    }
    this.#hasRanges = status === 206;
    this.#at = this.#hasRanges ? at : 0;
    this.#last = new Uint8Array(0);
    this.#reader = byteReader(body);
    this.#learn(response.headers, at);
  }

  /** The size of the file, which must not change on the way. */
  #learn(headers: Headers, at: number): void {
    const range = headers.get('content-range');
    const [, from = String(at), total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range ?? '') ?? [];
    const isWhole = !this.#hasRanges && headers.get('content-encoding') === null;
    const told = Number((isWhole ? headers.get('content-length') : total) ?? Infinity);
    const size = Number.isNaN(told) ? Infinity : told;
    const tag = headers.get('etag')?.replace(/^W\//, '') ?? this.#tag;
    const isOther = this.#tag !== null && tag !== this.#tag;
    const hasChanged = this.size !== Infinity && size !== this.size;
    if (isOther || hasChanged || (this.#hasRanges && Number(from) !== at)) {
      this.close();
      const sizes = `first a file of ${this.size} bytes and now one of ${size}`;
      const tags = `first the ETag ${this.#tag ?? ''} and now ${tag ?? 'none'}`;
      const sent = hasChanged ? sizes : isOther ? tags : `the bytes from ${from} on`;
      throw unread(
        `${this.name}: the server sent ${sent}`,
        `the rest of the same file from byte ${at} on`,
      );
    }
    [this.size, this.#tag] = [size, tag];
  }
}
