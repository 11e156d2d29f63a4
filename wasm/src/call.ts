// One call of the module: its arrays in and out of WebAssembly memory, its numbers, its result.

import type { Input } from './check.js';
import {
  type ArrayName,
  type Numbers,
  type Operator,
  operatorIndex,
  type Placed,
  readNumber,
  writeDescriptor,
} from './descriptor.js';
import { QkvError } from './error.js';
import type { Engine } from './engine.js';
import type { Address } from './raw.js';
import { WasmTensor } from './tensor.js';
import type { NdArray } from './types.js';

/** Floats per cache line: every array starts on one. */
const unit = 16;

/** Most floats that a 32-bit memory of 4 GB can hold. */
const mostFloats = 2 ** 30;

interface Slot extends Placed {
  address: Address;
  /** Floats from the start of the call's block; unused by tensors, which are read where they are. */
  readonly offset: number;
  readonly length: number;
  readonly source: Input['source'] | undefined;
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((n, extent) => n * extent, 1);

/** Copies elements as they are; without a second view for floats, of which every small call has three. */
function copyIn(
  memory: ArrayBufferLike,
  address: Address,
  source: Float32Array | ArrayBufferView,
): void {
  if (source instanceof Float32Array) {
    new Float32Array(memory, address, source.length).set(source);
    return;
  }
  const { buffer, byteOffset, byteLength } = source;
  new Uint8Array(memory, address, byteLength).set(new Uint8Array(buffer, byteOffset, byteLength));
}

/**
 * First every array is announced (input, output), then run() finds room for all of them at once, copies
 * the inputs, writes the descriptor and calls. Nothing moves in memory between the copy and the last
 * read, because the core takes its scratch elsewhere and views are made anew for every read.
 */
export class Call {
  readonly #engine: Engine;
  readonly #fn: string;
  readonly #slots = new Map<ArrayName, Slot>();
  #floats = 0;

  constructor(engine: Engine, fn: string) {
    this.#engine = engine;
    this.#fn = fn;
  }

  /** An input, as `shape` if that is another view of the same elements. Undefined is left out. */
  input(name: ArrayName, input: Input | undefined, shape = input?.shape): void {
    if (!input || !shape) return;
    const { source } = input;
    if (source instanceof WasmTensor) {
      this.tensor(name, source, shape, input.name);
    } else {
      this.#add(name, shape, Math.ceil(source.byteLength / 4), this.#engine.owned(source));
    }
  }

  /** A tensor, used in place. */
  tensor(
    name: ArrayName,
    tensor: WasmTensor,
    shape: readonly number[],
    label: string = name,
  ): void {
    if (!tensor.isOf(this.#engine)) {
      throw new QkvError(
        'invalid_argument',
        `${this.#fn}: ${label} is a tensor of another engine, expected one of this engine`,
      );
    }
    this.#add(name, shape, 0, tensor).address = tensor.address(this.#fn, label);
  }

  /** Room for results. */
  output(name: ArrayName, shape: readonly number[]): void {
    this.#add(name, shape, sizeOf(shape), undefined);
  }

  /**
   * Calls the operator. Arrays go to the engine's staging block, or to what `room` makes.
   * @throws {@link QkvError} what the core reported
   */
  run(operator: Operator, numbers: Numbers, room?: (floats: number) => Address): void {
    const fn = this.#fn;
    const engine = this.#engine;
    if (this.#floats > mostFloats) {
      throw new QkvError(
        'out_of_memory',
        `${fn}: the arrays take ${this.#floats * 4} bytes, expected at most 4 GB`,
      );
    }
    this.#place(room);
    const raw = engine.raw(fn);
    const descriptor = raw._descriptor() >>> 0;
    writeDescriptor(engine.buffer(fn), descriptor, this.#slots.values(), numbers);
    if (raw._run(operatorIndex[operator]) !== 0) throw engine.lastError(fn);
  }

  /** Calls an operator whose only output is `out`, of this shape, and copies it. */
  result(operator: Operator, shape: readonly number[], numbers: Numbers): NdArray {
    this.output('out', shape);
    this.run(operator, numbers);
    return { data: this.read('out'), shape };
  }

  /** The handle that the operator made. */
  handle(): Address {
    const raw = this.#engine.raw(this.#fn);
    return readNumber(this.#engine.buffer(this.#fn), raw._descriptor() >>> 0, 'handle');
  }

  /** An owned copy of an array's elements. */
  read(name: ArrayName): Float32Array {
    const slot = this.#slots.get(name);
    if (!slot) throw new RangeError(`no array ${name} in this call`);
    const memory = this.#engine.buffer(this.#fn);
    // A copy of its own also where the memory is shared.
    return new Float32Array(memory, slot.address, slot.length).slice();
  }

  #place(room: ((floats: number) => Address) | undefined): void {
    const floats = Math.max(this.#floats, unit);
    const base = room ? room(floats) : this.#engine.stage(this.#fn, floats);
    const memory = this.#engine.buffer(this.#fn);
    for (const slot of this.#slots.values()) {
      if (slot.source instanceof WasmTensor) continue;
      slot.address = base + slot.offset * 4;
      if (slot.source) copyIn(memory, slot.address, slot.source);
    }
  }

  #add(name: ArrayName, shape: readonly number[], length: number, source: Slot['source']): Slot {
    const slot = { name, address: 0, shape, offset: this.#floats, length, source };
    this.#slots.set(name, slot);
    this.#floats += Math.ceil(length / unit) * unit;
    return slot;
  }
}
