// Files of a server. Each request asks for all bytes from a place on, and what comes is read as long as it is of use: the
// header of a file and all of its arrays are one request. A server that does not honour Range sends all of the file, and
// what was skipped, or lies further back, it sends again. Where a connection breaks, the rest is requested, as long as the file is
// the same by what the server tells of it.

import { QkvError } from '../../api/errors.js';
import { throwIfAborted } from '../../arguments/signal.js';
import { brief, unread } from '../errors.js';
import { pause, pauseBefore } from './backoff.js';
import { type ByteReader, byteReader } from './byte-reader.js';
import { Requests } from './requests.js';
import { type ByteSource, ended, pieceSize } from './source.js';
import { difference, ifRange, isKnown, joined, unknown, type Version } from './version.js';

/** Bytes that are rather read than skipped by another request. */
const gap = 2 ** 20;
const expected = 'a file of a model';
const why = (error: unknown): string =>
  brief(
    error instanceof Error && error.cause instanceof Error
      ? `${error.message}: ${error.cause.message}`
      : String(error),
  );

export class WebSource implements ByteSource {
  readonly name: string;
  /** What the servers have sent of the file. */
  version: Version = unknown;
  /** The SHA-256 that a hub sent of it. */
  sha256: string | undefined;
  /** Whether an answer was of another version than the ones before. */
  hasChanged = false;
  readonly #address: string;
  readonly #requests: Requests;
  #request = new AbortController();
  #reader: ByteReader | undefined;
  /** Whether the server sends from any place; undefined before the first answer. */
  #hasRanges: boolean | undefined;
  /** The bytes that came last, and where in the file they begin. */
  #last: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** The HTTP status of the last request; 0 where there was no answer. */
  status = 0;
  /** Where the bytes end that ever came, and how many requests for the rest were sent since. */
  #furthest = 0;
  #tries = 0;

  constructor(address: string, requests: Requests = new Requests()) {
    this.name = brief(address);
    this.#address = address;
    this.#requests = requests;
  }

  get size(): number {
    return this.version.size;
  }

  /** Sends the request for what begins at `at`, and learns what the answer tells. What comes is read later. */
  async start(at: number, signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    const stop = (): void => this.close();
    signal?.addEventListener('abort', stop);
    try {
      await this.#ask(at);
    } catch (error) {
      throwIfAborted(signal);
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Forgets the version of the file, so that whatever the server sends next is taken for it. */
  forget(): void {
    this.close();
    [this.version, this.hasChanged, this.#hasRanges] = [unknown, false, undefined];
    [this.#at, this.#last, this.#furthest, this.#tries] = [0, new Uint8Array(0), 0, 0];
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
    // A fetch of the caller's need not heed the signal.
    this.#reader?.cancel();
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
        if (at >= this.size && end === Infinity) return undefined;
        const isFar = this.#hasRanges === true && at - next > gap;
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
      // What was closed here did not break; and what cannot be compared may be another file the next time.
      if (!isKnown(this.version) || own.aborted || signal?.aborted) throw this.#broken(error);
      await this.#resume(next, error, signal);
      return false;
    }
    if (own.aborted) throw this.#broken('it was closed');
    const isShort = this.size !== Infinity && next < this.size;
    if (!bytes && !isShort) return true;
    if (!bytes) await this.#resume(next, 'it ended early', signal);
    else [this.#at, this.#last] = [next, bytes];
    const end = this.#at + this.#last.length;
    if (end > this.#furthest) [this.#furthest, this.#tries] = [end, 0];
    return false;
  }

  #broken(cause: unknown, more = ''): Error {
    return unread(`${this.name} broke off (${why(cause)})${more}`, expected, cause);
  }

  /** Asks for the rest of what broke, some times. */
  async #resume(at: number, cause: unknown, signal: AbortSignal | undefined): Promise<void> {
    const { tries } = this.#requests;
    let last = cause;
    while (this.#tries < tries) {
      await pause(pauseBefore(this.#tries), signal);
      throwIfAborted(signal);
      this.#tries += 1;
      try {
        await this.#ask(at);
        return;
      } catch (error) {
        // Another answer, or another file, would come again.
        const isPassing = this.status === 0 || this.status === 429 || this.status >= 500;
        if (!isPassing) throw error;
        last = error;
      }
    }
    throw this.#broken(last, ` at byte ${at}, and ${tries} more requests for the rest failed`);
  }

  /** A request for what begins at `at`; what comes may begin before. */
  async #ask(at: number): Promise<void> {
    this.close();
    this.#request = new AbortController();
    const { signal } = this.#request;
    // Of what the engine has itself, Node 20 drops the last byte when a range is requested.
    const isWhole = this.#hasRanges === false || /^(blob|data):/.test(this.#address);
    const headers: Record<string, string> = isWhole ? {} : { Range: `bytes=${at}-` };
    const validator = isWhole || at === 0 ? undefined : ifRange(this.#address, this.version);
    if (validator !== undefined) headers['If-Range'] = validator;
    this.status = 0;
    let response;
    try {
      const answer = await this.#requests.get(this.#address, headers, signal);
      this.sha256 ??= answer.sha256;
      ({ response } = answer);
    } catch (error) {
      if (error instanceof QkvError) throw error;
      throw unread(`${this.name} cannot be read (${why(error)})`, expected, error);
    }
    const { status, body } = response;
    this.status = status;
    if (!response.ok || !body) {
      const type = response.headers.get('content-type') ?? 'no content type';
      void body?.cancel().catch(() => undefined);
      throw unread(`${this.name} answered ${status} (${brief(type)})`, expected);
    }
    this.#hasRanges = status === 206;
    this.#at = this.#hasRanges ? at : 0;
    this.#last = new Uint8Array(0);
    this.#reader = byteReader(body);
    this.#learn(response.headers, at);
  }

  /** What an answer tells of the file, which must not change on the way. */
  #learn(headers: Headers, at: number): void {
    const range = headers.get('content-range');
    const [, from = String(at), total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range ?? '') ?? [];
    const isWhole = !this.#hasRanges && headers.get('content-encoding') === null;
    const bytes = Number((isWhole ? headers.get('content-length') : total) ?? Infinity);
    const size = Number.isNaN(bytes) ? Infinity : bytes;
    const now = { size, tag: headers.get('etag'), modified: headers.get('last-modified') };
    const changed = difference(this.version, now);
    const isElsewhere = this.#hasRanges && Number(from) !== at;
    this.hasChanged = changed !== undefined;
    if (this.hasChanged || isElsewhere) {
      this.close();
      const what = this.hasChanged ? ' changed while it was read' : '';
      throw unread(
        `${this.name}${what}: the server sent ${changed ?? `the bytes from ${from} on`}`,
        `the rest of the same file from byte ${at} on`,
      );
    }
    this.version = joined(this.version, now);
  }
}
