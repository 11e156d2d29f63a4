// Moves the arrays of one call in and out of WebAssembly memory.

import type { Input } from './check.js';
import { QkvError } from './error.js';
import type { Engine } from './engine.js';
import type { Address } from './raw.js';
import { WasmTensor } from './tensor.js';

/** Floats per cache line: every array starts on one. */
const unit = 16;

/** Most floats that a 32-bit memory of 4 GB can hold. */
const mostFloats = 2 ** 30;

interface Slot {
  /** Set for tensors, which are used where they are. */
  address: Address | undefined;
  offset: number;
  length: number;
  source: Float32Array | Uint8Array | undefined;
}

/**
 * First every array is announced (input, output), then begin() finds room for all of them at once and
 * copies the inputs, then addresses are asked for. Nothing moves in memory between begin() and the end
 * of the call, because the core takes its scratch elsewhere and views are made anew for every read.
 */
export class Transfer {
  readonly #engine: Engine;
  readonly #fn: string;
  readonly #slots: Slot[] = [];
  #floats = 0;
  #base: Address = 0;

  constructor(engine: Engine, fn: string) {
    this.#engine = engine;
    this.#fn = fn;
  }

  /** A slot for an input; its elements are copied by begin() unless they are a tensor of this engine. */
  input(name: string, input: Input): number {
    const { source } = input;
    if (!(source instanceof WasmTensor)) {
      return this.#add(Math.ceil(source.byteLength / 4), this.#engine.owned(source));
    }
    return this.tensor(name, source);
  }

  /** A slot that is a tensor, used in place. */
  tensor(name: string, tensor: WasmTensor): number {
    if (tensor.engine !== this.#engine) {
      throw new QkvError(
        'invalid_argument',
        `${this.#fn}: ${name} is a tensor of another engine, expected one of this engine`,
      );
    }
    const slot = this.#add(0, undefined);
    this.#slot(slot).address = tensor.address(this.#fn, name);
    return slot;
  }

  /** A slot for `length` results. */
  output(length: number): number {
    return this.#add(length, undefined);
  }

  /** Makes room, in the engine's staging block unless `room` says where, and copies the inputs. */
  begin(room?: (floats: number) => Address): void {
    if (this.#floats > mostFloats) {
      throw new QkvError(
        'out_of_memory',
        `${this.#fn}: the arrays take ${this.#floats * 4} bytes, expected at most 4 GB`,
      );
    }
    const floats = Math.max(this.#floats, unit);
    this.#base = room ? room(floats) : this.#engine.stage(this.#fn, floats);
    const memory = this.#engine.buffer(this.#fn);
    for (const slot of this.#slots) {
      if (slot.source) {
        const address = this.#base + slot.offset * 4;
        const bytes = new Uint8Array(memory, address, slot.source.byteLength);
        const { buffer, byteOffset, byteLength } = slot.source;
        bytes.set(new Uint8Array(buffer, byteOffset, byteLength));
      }
    }
  }

  /** Where a slot's elements are; 0 for no slot. */
  address(slot: number | undefined): Address {
    if (slot === undefined) return 0;
    const { address, offset } = this.#slot(slot);
    return address ?? this.#base + offset * 4;
  }

  /** An owned copy of a slot's elements. */
  read(slot: number): Float32Array {
    const { length } = this.#slot(slot);
    const memory = this.#engine.buffer(this.#fn);
    return new Float32Array(memory, this.address(slot), length).slice();
  }

  #add(length: number, source: Slot['source']): number {
    this.#slots.push({ address: undefined, offset: this.#floats, length, source });
    this.#floats += Math.ceil(length / unit) * unit;
    return this.#slots.length - 1;
  }

  #slot(index: number): Slot {
    const slot = this.#slots[index];
    if (!slot) throw new RangeError(`no slot ${index}`);
    return slot;
  }
}
