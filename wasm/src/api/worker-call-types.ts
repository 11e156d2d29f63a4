/// <reference lib="esnext.disposable" preserve="true" />
// What all calls to a worker, and all that lives in one, have in common.

// As in types.ts: the options leave out a type of the web that a program lacks.
type Web = typeof globalThis;
/** `AbortSignal`, in programs that have it. */
export type WebSignal = Web extends { AbortSignal: { prototype: infer T } } ? T : never;

/** Options every call accepts. */
export interface CallOptions {
  /**
   * Cancels the call: it is rejected at once with the signal's reason. A call that has not begun never begins.
   * The worker finishes a running call and drops its result, but tokens appended to a cache and numbers
   * written to `out` stay. A load ends in the worker, too. A generation ends with the next token, or the next 240 tokens of its
   * prompt: a token that came before the abort is still yielded, because the session holds it.
   */
  signal?: WebSignal | undefined;
  /**
   * Moves the arrays of this call into the worker instead of copying them, which leaves them empty (detached).
   * Views of a part of their buffer are still copied, because the rest of the buffer may be in use, and so are
   * arrays that cannot be moved, such as views of WebAssembly memory. Default false.
   */
  transfer?: boolean | undefined;
}

/** Options of calls that make a tensor, cache, layer, block or trainer. */
export interface PlaceOptions extends CallOptions {
  /**
   * The number of the worker, from 0 to `info.workers` - 1. Tensors, caches, layers and blocks of one call must
   * be in the same worker. Default 0.
   */
  worker?: number | undefined;
}

/** What lives in a worker, until it is disposed. */
export interface InWorkerHandle {
  /** The number of its worker. */
  readonly worker: number;
  /** Releases the memory after the calls made so far. Calling it again does nothing. */
  dispose(): Promise<void>;
  /** `dispose()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
