import { takeNumbers } from '../arguments/check.js';
import type { Operator } from './abi.js';
import { QkvError } from '../api/errors.js';
import type { Engine } from '../engine.js';
import { isRecord } from '../arguments/values.js';
import type { Address } from './raw.js';
import type { NdArray, Tensor } from '../api/types.js';

/** Symbol.dispose, also where the engine does not have it yet. */
export const disposeSymbol: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for('Symbol.dispose') as typeof Symbol.dispose);

/** What frees a handle: a block's own function, or an operator. */
export type Destroyer = 'block' | Extract<Operator, `destroy${string}`>;

/**
 * Something in WebAssembly memory that must be given back: counted while it lives, freed once, and
 * caught by a FinalizationRegistry if its owner forgets it.
 */
export class Handle {
  readonly #engine: Engine;
  readonly #destroy: Destroyer;
  #address: Address;

  /** `destroy` is a name, not a function: the module must be free to go once the engine is disposed. */
  constructor(engine: Engine, address: Address, destroy: Destroyer) {
    this.#engine = engine;
    this.#address = address;
    this.#destroy = destroy;
    engine.handles += 1;
  }

  /** Undefined once disposed, or once the engine is. */
  get address(): Address | undefined {
    return this.#address !== 0 && this.#engine.alive ? this.#address : undefined;
  }

  dispose(): void {
    const address = this.address;
    this.#address = 0;
    if (address !== undefined) {
      this.#engine.handles -= 1;
      this.#engine.destroy(this.#destroy, address);
    }
  }
}

/** The net, not the plan: frees what was dropped without dispose(), when the collector notices. */
export const forgotten = new FinalizationRegistry<Handle>((handle) => handle.dispose());

export class WasmTensor implements Tensor {
  declare readonly shape: readonly number[];
  readonly #engine: Engine;
  readonly #handle: Handle;
  readonly #length: number;

  /** Whether it is one itself: a proxy or an heir of one has no memory. */
  static is(value: unknown): value is WasmTensor {
    return isRecord(value) && #handle in value;
  }

  constructor(engine: Engine, shape: readonly number[], length: number, handle: Handle) {
    this.#engine = engine;
    // The core reads as much memory as it says, so nobody may say anything else.
    Object.defineProperty(this, 'shape', { value: Object.freeze([...shape]), enumerable: true });
    this.#length = length;
    this.#handle = handle;
    forgotten.register(this, handle, this);
  }

  isOf(engine: Engine): boolean {
    return engine === this.#engine;
  }

  /** What messages and consoles call it. */
  get [Symbol.toStringTag](): string {
    return 'Tensor';
  }

  /** For JSON, which is for logs too: what NdArray holds, or that there is nothing any more. */
  toJSON(): object {
    const { shape } = this;
    if (this.#handle.address === undefined) return { shape, disposed: true };
    return { data: Array.from(this.#elements('Tensor.toJSON')), shape };
  }

  /** Where the elements are. */
  address(fn: string, name: string): Address {
    const handle = this.#handle.address;
    if (handle === undefined) {
      throw new QkvError('disposed', `${fn}: ${name} is a disposed tensor, expected a live one`);
    }
    return this.#engine.raw(fn)._bufferData(handle);
  }

  view(): Float32Array {
    return this.#elements('Tensor.view');
  }

  toNdArray(): NdArray {
    return { data: this.#elements('Tensor.toNdArray').slice(), shape: this.shape };
  }

  set(data: ArrayLike<number>): void {
    const fn = 'Tensor.set';
    this.address(fn, 'this');
    const numbers = takeNumbers(fn, 'data', data, [this.#length, String(this.#length)]);
    // An array without elements may be detached, which set() would refuse.
    if (this.#length > 0) this.#elements(fn).set(numbers);
  }

  dispose(): void {
    forgotten.unregister(this);
    this.#handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  #elements(fn: string): Float32Array {
    const address = this.address(fn, 'this');
    return new Float32Array(this.#engine.raw(fn).wasmMemory.buffer, address, this.#length);
  }
}

export const isTensor = (value: unknown): value is WasmTensor => WasmTensor.is(value);
