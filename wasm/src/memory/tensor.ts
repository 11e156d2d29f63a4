import { QkvError } from '../api/errors.js';
import type { OwnedArray, Tensor } from '../api/types.js';
import { takeNumbers } from '../arguments/arrays.js';
import { checkInteger } from '../arguments/numbers.js';
import { register } from '../arguments/genuine.js';
import { checkCountable, shapeText, sizeOf, takeShape } from '../arguments/shapes.js';
import { inRoom, newFloats } from '../arguments/values.js';
import { disposeSymbol, Handle } from './handle.js';
import type { Instance } from './instance.js';
import type { Address } from './raw.js';

/** Not a private field that others ask for: what older engines need for that is larger. */
const handles = new WeakMap<Tensor, Handle>();

class WasmTensor implements Tensor {
  declare readonly shape: readonly number[];
  readonly #handle: Handle;
  readonly #length: number;

  constructor(instance: Instance, shape: readonly number[], block: Address) {
    // The core reads as much memory as the shape says, so nobody may change it.
    Object.defineProperty(this, 'shape', { value: Object.freeze([...shape]), enumerable: true });
    this.#length = sizeOf(shape);
    this.#handle = new Handle(this, instance, block, 'block');
    handles.set(this, this.#handle);
    register(this, 'tensor');
  }

  /** What messages and consoles call it. */
  get [Symbol.toStringTag](): string {
    return 'Tensor';
  }

  /** For JSON, which is for logs too: what NdArray holds, or that there is nothing any more. */
  toJSON(): object {
    const { shape } = this;
    if (this.#handle.address === undefined) return { shape, disposed: true };
    const fn = 'Tensor.toJSON';
    const elements = this.#elements(fn);
    return { data: inRoom(fn, 8 * elements.length, () => Array.from(elements)), shape };
  }

  view(): Float32Array {
    return this.#elements('Tensor.view');
  }

  toNdArray(): OwnedArray {
    const fn = 'Tensor.toNdArray';
    const elements = this.#elements(fn);
    const data = newFloats(fn, elements.length);
    data.set(elements);
    return { data, shape: this.shape };
  }

  set(data: ArrayLike<number>): void {
    const fn = 'Tensor.set';
    dataOf(this.#handle, fn, 'this');
    const numbers = takeNumbers(fn, 'data', data, [this.#length, String(this.#length)]);
    // An array without elements may be detached, which set() would refuse.
    if (this.#length > 0) this.#elements(fn).set(numbers);
  }

  dispose(): void {
    this.#handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  #elements(fn: string): Float32Array {
    const address = dataOf(this.#handle, fn, 'this');
    return new Float32Array(this.#handle.instance.buffer(fn), address, this.#length);
  }
}

/** Where the elements are; `name` is what the caller calls the tensor. */
function dataOf({ address, instance }: Handle, fn: string, name: string): Address {
  if (address === undefined) {
    throw new QkvError('disposed', `${fn}: ${name} is a disposed tensor, expected a live one`);
  }
  return instance.raw(fn)._bufferData(address);
}

/** Where the elements of a tensor of this instance are. */
export function tensorAddress(
  instance: Instance,
  fn: string,
  name: string,
  tensor: Tensor,
): Address {
  const handle = handles.get(tensor);
  if (!handle) throw new TypeError('not a tensor');
  if (handle.address !== undefined && !instance.sharesMemoryWith(handle.instance)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is a tensor of another engine, expected one of this engine`,
    );
  }
  return dataOf(handle, fn, name);
}

export function tensor(
  instance: Instance,
  givenShape: readonly number[],
  data?: ArrayLike<number>,
): Tensor {
  const fn = 'tensor';
  const shape = takeShape(fn, 'the tensor', givenShape);
  const length = sizeOf(shape);
  checkInteger(fn, 'the number of elements', length, 0, 2 ** 30);
  checkCountable(fn, 'the shape is', shape);
  const own =
    data === undefined
      ? undefined
      : instance.owned(
          fn,
          takeNumbers(fn, 'data', data, [length, `${length} for shape ${shapeText(shape)}`]),
        );
  const block = instance.room(fn, instance.raw(fn)._createBuffer(Math.max(length, 1)));
  const made = new WasmTensor(instance, shape, block);
  if (own) made.set(own);
  else made.view().fill(0);
  return made;
}
