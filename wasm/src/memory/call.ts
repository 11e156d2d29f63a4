// One call of the module: its arrays in and out of WebAssembly memory, its numbers, its result.

import { type Input } from '../arguments/arrays.js';
import { mostInt } from '../arguments/numbers.js';
import { isCountable, shapeText, sizeOf } from '../arguments/shapes.js';
import {
  type ArrayName,
  type Numbers,
  type Operator,
  operatorIndex,
  type Placed,
  readNumber,
  writeDescriptor,
} from './abi.js';
import { QkvError } from '../api/errors.js';
import { isTensor } from '../arguments/own.js';
import {
  isFloat32Array,
  isInt32Array,
  lengthOf,
  newFloats,
  type Numbers32,
} from '../arguments/values.js';
import type { Instance } from './instance.js';
import type { Address } from './raw.js';
import { tensorAddress } from './tensor.js';
import type { OwnedArray, OwnedNumbers, Tensor } from '../api/types.js';

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
  /** What the caller calls it. */
  readonly label: string;
  /** Where a result goes. */
  result: Float32Array<ArrayBuffer> | undefined;
}

/** Copies elements as they are: between arrays of one kind nothing is converted. */
function copyIn(
  memory: ArrayBufferLike,
  address: Address,
  source: Numbers32,
  elements: number,
): void {
  if (isFloat32Array(source)) new Float32Array(memory, address, elements).set(source);
  else if (isInt32Array(source)) new Int32Array(memory, address, elements).set(source);
  else new Uint8Array(memory, address, elements).set(source);
}

/**
 * First every array is announced (input, output), then run() finds room for all of them at once, copies
 * the inputs, writes the descriptor and calls. Nothing moves in memory between the copy and the last
 * read, because the core takes its scratch elsewhere and views are made anew for every read.
 */
export class Call {
  readonly #instance: Instance;
  readonly #fn: string;
  readonly #slots = new Map<ArrayName, Slot>();
  #floats = 0;

  constructor(instance: Instance, fn: string) {
    this.#instance = instance;
    this.#fn = fn;
  }

  /** An input, as `shape` if that is another view of the same elements. Undefined is left out. */
  input(name: ArrayName, input: Input | undefined, shape = input?.shape): void {
    if (!input || !shape) return;
    const { source } = input;
    if (isTensor(source)) {
      this.tensor(name, source, shape, input.name);
    } else {
      const elements = sizeOf(shape);
      const bytes = isFloat32Array(source) || isInt32Array(source) ? 4 : 1;
      const own = this.#instance.owned(source);
      this.#add(name, shape, Math.ceil((elements * bytes) / 4), own, input.name);
    }
  }

  /** A tensor, used in place. */
  tensor(name: ArrayName, tensor: Tensor, shape: readonly number[], label: string = name): void {
    const address = tensorAddress(this.#instance, this.#fn, label, tensor);
    this.#add(name, shape, 0, tensor, label).address = address;
  }

  /** Room for results, or the tensor that they go to. */
  output(name: ArrayName, shape: readonly number[], to?: Tensor): void {
    if (to) this.tensor(name, to, shape);
    else this.#add(name, shape, sizeOf(shape), undefined, name);
  }

  /**
   * Calls the operator. Arrays go to the engine's staging block, or to what `room` makes.
   * @throws {@link QkvError} what the core reported
   */
  run(operator: Operator, numbers: Numbers, room?: (floats: number) => Address): void {
    const fn = this.#fn;
    const instance = this.#instance;
    if (this.#floats > mostFloats) {
      throw new QkvError(
        'out_of_memory',
        `${fn}: the arrays take ${this.#floats * 4} bytes, expected at most 4 GB`,
      );
    }
    this.#place(room);
    for (const slot of this.#slots.values()) {
      if (slot.source === undefined) slot.result = newFloats(fn, slot.length);
    }
    const raw = instance.raw(fn);
    const descriptor = raw._descriptor() >>> 0;
    writeDescriptor(instance.buffer(fn), descriptor, this.#slots.values(), numbers);
    if (raw._run(operatorIndex[operator]) !== 0) throw instance.lastError(fn);
  }

  /**
   * Calls an operator whose only output is `out`, of this shape. Copies it, and says that it has the shape
   * `as`, which may be that of a tensor and is copied too, unless it goes to a tensor.
   */
  result(
    operator: Operator,
    shape: readonly number[],
    numbers: Numbers,
    { as = shape, out }: { as?: readonly number[]; out?: Tensor | undefined } = {},
  ): OwnedArray {
    this.output('out', shape, out);
    this.run(operator, numbers);
    // With `out` there is nothing to return; the overloads of Qkv say so to the caller.
    return out ? (undefined as unknown as OwnedArray) : { data: this.read('out'), shape: [...as] };
  }

  /** The handle that the operator made. */
  handle(): Address {
    const raw = this.#instance.raw(this.#fn);
    return readNumber(this.#instance.buffer(this.#fn), raw._descriptor() >>> 0, 'handle');
  }

  /** An owned copy of an array's elements. */
  read(name: ArrayName): OwnedNumbers {
    const slot = this.#slots.get(name);
    if (!slot?.result) throw new RangeError(`no result ${name} in this call`);
    const memory = this.#instance.buffer(this.#fn);
    // Its room was made before the call, so that nothing has happened if there is none.
    slot.result.set(new Float32Array(memory, slot.address, slot.length));
    return slot.result;
  }

  #place(room: ((floats: number) => Address) | undefined): void {
    const floats = Math.max(this.#floats, unit);
    const base = room ? room(floats) : this.#instance.stage(this.#fn, floats);
    const memory = this.#instance.buffer(this.#fn);
    for (const slot of this.#slots.values()) {
      const { source } = slot;
      if (isTensor(source)) continue;
      slot.address = base + slot.offset * 4;
      if (!source) continue;
      const elements = this.#stillThere(slot, source);
      // One without any may be detached by now, and set() would refuse it.
      if (elements > 0) copyIn(memory, slot.address, source, elements);
    }
  }

  /** The elements of a source, which was checked before the caller's code was last run: by a getter, say. */
  #stillThere({ label, shape }: Slot, source: Numbers32): number {
    const elements = sizeOf(shape);
    if (lengthOf(source) !== elements) {
      throw new QkvError(
        'invalid_argument',
        `${this.#fn}: ${label} has ${lengthOf(source)} elements now and had ${elements}, expected an array ` +
          'that nobody detaches or resizes meanwhile',
      );
    }
    return elements;
  }

  #add(
    name: ArrayName,
    shape: readonly number[],
    length: number,
    source: Slot['source'],
    label: string,
  ): Slot {
    if (sizeOf(shape) === 0 && !isCountable(shape)) {
      throw new QkvError(
        'out_of_range',
        `${this.#fn}: ${label} would be ${shapeText(shape)}, expected extents whose product is at most ` +
          `${mostInt} but for those that are 0`,
      );
    }
    // Written out: spreading one object into another took a quarter of a small call.
    const slot: Slot = {
      name,
      address: 0,
      shape,
      offset: this.#floats,
      length,
      source,
      label,
      result: undefined,
    };
    this.#slots.set(name, slot);
    this.#floats += Math.ceil(length / unit) * unit;
    return slot;
  }
}
