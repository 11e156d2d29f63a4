// One user's part of a WebAssembly instance: its memory, what the user made in it, and its errors.

import { QkvError, type QkvErrorCode } from '../api/errors.js';
import { bufferOf, inRoom, isInt32Array, isUint8Array, kindOf } from '../arguments/values.js';
import { plainView } from '../arguments/views.js';
import { type Abi, type Arguments, type Operator, Writer } from './abi.js';
import { type Address, type RawModule, textAt } from './raw.js';

/** What frees a handle: a block's own function, or an operator. */
export type Destroyer = 'block' | Extract<Operator, `destroy${string}`>;

/** What lives in the memory and is given back by dispose(). */
interface Disposable {
  dispose(): void;
}

/** Several may have one module: calls of init() with the same options do. Each ends by itself. */
export class Instance {
  /** Live tensors, caches, layers and blocks that were made here. */
  readonly handles = new Set<Disposable>();
  /** The operators of the module. */
  readonly abi: Abi;
  #raw: RawModule | undefined;
  /** Kept, because two views of the memory for each call took 3 % of a small one. */
  #writer: Writer | undefined;

  constructor(raw: RawModule, abi: Abi) {
    this.#raw = raw;
    this.abi = abi;
  }

  get alive(): boolean {
    return this.#raw !== undefined;
  }

  /** Gives back what was made here and forgets the module, which others may go on with. */
  end(): void {
    for (const handle of [...this.handles]) handle.dispose();
    this.#raw = undefined;
    this.#writer = undefined;
  }

  /** Whether what was made there lives in the memory of this module. */
  sharesMemoryWith(other: Instance): boolean {
    return this.#raw !== undefined && this.#raw === other.#raw;
  }

  /** The module, for the function named in the error if the engine is disposed. */
  raw(fn: string): RawModule {
    if (!this.#raw) {
      throw new QkvError('disposed', `${fn}: the engine is disposed, expected a live one`);
    }
    return this.#raw;
  }

  /** The memory as it is now; it is another object after every growth. */
  buffer(fn: string): ArrayBufferLike {
    return this.raw(fn).wasmMemory.buffer;
  }

  /** Room for the arrays of one call, kept for the next. */
  stage(fn: string, floats: number): Address {
    return this.room(fn, this.raw(fn)._stage(floats));
  }

  /** Gives that room back if it is too large to keep for the next call, of so many floats. */
  unstage(floats: number): void {
    // Nothing that small is given back, and a small call need not ask.
    if (floats > 2 ** 20) this.#raw?._unstage();
  }

  /** An address that the module made, or the error that kept it from it. */
  room(fn: string, address: Address): Address {
    if (address === 0) throw this.lastError(fn);
    return address;
  }

  /** The elements, copied if they are in the memory of this instance, which growth would take away. */
  owned<T extends ArrayLike<number>>(fn: string, data: T): T {
    if (kindOf(data) === undefined) return data;
    const view = data as unknown as ArrayBufferView;
    if (bufferOf(view) !== this.#raw?.wasmMemory.buffer) return data;
    const { byteLength } = plainView(view);
    // Not by slice(), which a subclass may have its own of.
    const copy = inRoom(fn, byteLength, () =>
      isInt32Array(data)
        ? new Int32Array(data)
        : isUint8Array(data)
          ? new Uint8Array(data)
          : new Float32Array(data),
    );
    return copy as ArrayLike<number> as T;
  }

  /**
   * Lets `work` make one block of its own, by one call of `room`, and gives it back at once: the staging block would keep the
   * size of the largest weights for good.
   */
  withRoom(fn: string, work: (room: (floats: number) => Address) => void): void {
    const raw = this.raw(fn);
    let block: Address = 0;
    try {
      work((floats) => {
        block = this.room(fn, raw._createBuffer(floats));
        return raw._bufferData(block);
      });
    } finally {
      if (block !== 0) raw._destroyBuffer(block);
    }
  }

  /** Runs an operator, whose arrays are in their places. @throws {@link QkvError} what the core reported */
  run<Name extends Operator>(fn: string, operator: Name, values: Arguments<Name>): void {
    if (this.#start(this.raw(fn), operator, values) !== 0) throw this.lastError(fn);
  }

  /** Frees what a handle refers to; there is nothing to free once the instance has ended. */
  destroy(destroyer: Destroyer, handle: Address): void {
    if (!this.#raw) return;
    if (destroyer === 'block') {
      this.#raw._destroyBuffer(handle);
      return;
    }
    this.#start(this.#raw, destroyer, { object: handle });
  }

  #start<Name extends Operator>(raw: RawModule, operator: Name, values: Arguments<Name>): number {
    const memory = raw.wasmMemory.buffer;
    if (this.#writer?.memory !== memory) {
      this.#writer = new Writer(this.abi, memory, raw._arguments());
    }
    return raw._run(this.#writer.call(operator, values));
  }

  /** The core's last failure, in the name of `fn`. The core itself has the caller's names of arguments. */
  lastError(fn: string): QkvError {
    const raw = this.raw(fn);
    const code = textAt(raw, raw._statusName(raw._lastCode())) as QkvErrorCode;
    return new QkvError(code, `${fn}: ${textAt(raw, raw._lastDetail())}`);
  }
}
