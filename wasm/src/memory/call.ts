// One call of the module: its arrays in and out of WebAssembly memory, its numbers, its result.

import { checkStill, type Input } from '../arguments/arrays.js';
import { checkCountable, sizeOf } from '../arguments/shapes.js';
import type { Arguments, Operator, Placed } from './abi.js';
import { QkvError } from '../api/errors.js';
import { isTensor } from '../arguments/genuine.js';
import { isFloat32Array, isInt32Array, newFloats, type Numbers32 } from '../arguments/values.js';
import type { Instance } from './instance.js';
import type { Address } from './raw.js';
import { tensorAddress } from './tensor.js';
import type { OwnedArray, OwnedNumbers, Tensor } from '../api/types.js';

/** Operators with one result, `out`. */
type OneResult = {
  [Name in Operator]: 'out' extends keyof Arguments<Name> ? Name : never;
}[Operator];

/** Floats per cache line: every array starts on one. */
const unit = 16;

/** Most floats that a 32-bit memory of 4 GB can hold. */
const mostFloats = 2 ** 30;

/** An array of a call. */
export interface Slot extends Placed {
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
 * the inputs, writes the arguments, calls and copies the results. Nothing moves in memory between the copies,
 * because the core takes its scratch elsewhere.
 */
export class Call {
  readonly #instance: Instance;
  readonly #fn: string;
  readonly #slots: Slot[] = [];
  #floats = 0;

  constructor(instance: Instance, fn: string) {
    this.#instance = instance;
    this.#fn = fn;
  }

  /** An input, as `shape` if that is another view of the same elements. Undefined is left out. */
  input(input: Input | undefined, shape = input?.shape): Slot | undefined {
    if (!input || !shape) return undefined;
    const { name, source } = input;
    if (isTensor(source)) return this.#tensor(name, source, shape);
    const elements = sizeOf(shape);
    const bytes = isFloat32Array(source) || isInt32Array(source) ? 4 : 1;
    const own = this.#instance.owned(this.#fn, source);
    return this.#add(name, shape, Math.ceil((elements * bytes) / 4), own);
  }

  /** Room for a result, or the tensor that it goes to. */
  output(name: string, shape: readonly number[], to?: Tensor): Slot {
    return to ? this.#tensor(name, to, shape) : this.#add(name, shape, sizeOf(shape), undefined);
  }

  /**
   * Calls the operator. Arrays go to the staging block of the instance, or to what `room` makes.
   * @throws {@link QkvError} what the core reported
   */
  run<Name extends Operator>(
    operator: Name,
    values: Arguments<Name>,
    room?: (floats: number) => Address,
  ): void {
    const fn = this.#fn;
    if (this.#floats > mostFloats) {
      throw new QkvError(
        'out_of_memory',
        `${fn}: the arrays take ${this.#floats * 4} bytes, expected at most 4 GB`,
      );
    }
    const results = this.#slots.filter(({ source }) => source === undefined);
    try {
      this.#place(room);
      // Before the call, so that nothing has happened if there is no room for them.
      for (const slot of results) slot.result = newFloats(fn, slot.length);
      this.#instance.run(fn, operator, values);
      const memory = this.#instance.buffer(fn);
      for (const { address, length, result } of results) {
        result?.set(new Float32Array(memory, address, length));
      }
    } finally {
      if (!room) this.#instance.unstage(this.#floats);
    }
  }

  /**
   * Calls an operator whose only output is `out`, of this shape. Copies it, and says that it has the shape
   * `as`, which may be that of a tensor and is copied too, unless it goes to a tensor.
   */
  result<Name extends OneResult>(
    operator: Name,
    shape: readonly number[],
    values: Omit<Arguments<Name>, 'out'>,
    { as = shape, out }: { as?: readonly number[]; out?: Tensor | undefined } = {},
  ): OwnedArray {
    const slot = this.output('out', shape, out);
    this.run(operator, { ...values, out: slot } as unknown as Arguments<Name>);
    // With `out` there is nothing to return; the overloads of Qkv say so to the caller.
    return out ? (undefined as unknown as OwnedArray) : { data: this.read(slot), shape: [...as] };
  }

  /** Where the object is that the operator made. */
  made(): Address {
    return this.#instance.raw(this.#fn)._made();
  }

  /** The elements of a result, which belong to the caller. */
  read({ result }: Slot): OwnedNumbers {
    if (!result) throw new RangeError('no result of this call');
    return result;
  }

  /** A tensor, used in place. It is refused here, in its turn, if it is of no use. */
  #tensor(name: string, tensor: Tensor, shape: readonly number[]): Slot {
    tensorAddress(this.#instance, this.#fn, name, tensor);
    return this.#add(name, shape, 0, tensor);
  }

  #place(room: ((floats: number) => Address) | undefined): void {
    const floats = Math.max(this.#floats, unit);
    const base = room ? room(floats) : this.#instance.stage(this.#fn, floats);
    const memory = this.#instance.buffer(this.#fn);
    for (const slot of this.#slots) {
      const { source } = slot;
      if (isTensor(source)) {
        // Once more: a getter may have disposed it since.
        slot.address = tensorAddress(this.#instance, this.#fn, slot.label, source);
        continue;
      }
      slot.address = base + slot.offset * 4;
      if (!source) continue;
      const elements = sizeOf(slot.shape);
      checkStill(this.#fn, slot.label, source, elements);
      // One without any may be detached by now, and set() would refuse it.
      if (elements > 0) copyIn(memory, slot.address, source, elements);
    }
  }

  #add(label: string, shape: readonly number[], length: number, source: Slot['source']): Slot {
    if (sizeOf(shape) === 0) checkCountable(this.#fn, `${label} would be`, shape);
    // Written out: spreading one object into another took a quarter of a small call.
    const slot: Slot = {
      address: 0,
      shape,
      offset: this.#floats,
      length,
      source,
      label,
      result: undefined,
    };
    this.#slots.push(slot);
    this.#floats += Math.ceil(length / unit) * unit;
    return slot;
  }
}
