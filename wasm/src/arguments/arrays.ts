// Checks of arrays: their types, their shapes and how many elements they have.

import { QkvError } from '../api/errors.js';
import type { ArrayInput, Integers, NdArray, NdMask, Tensor } from '../api/types.js';
import { checkInteger, mostInt } from './numbers.js';
import { isTensor } from './genuine.js';
import { checkCountable, isSameShape, shapeText, sizeOf, takeShape } from './shapes.js';
import {
  describe,
  inRoom,
  isFloat32Array,
  isInt32Array,
  isRecord,
  isUint8Array,
  kindOf,
  lengthOf,
  listOf,
  newFloats,
  type Numbers32,
  reading,
} from './values.js';

/** The shape and elements of an input, wherever they are. */
export interface Input {
  /** What the caller calls it, for messages. */
  readonly name: string;
  readonly shape: readonly number[];
  /** A tensor of the engine, or elements to copy in. */
  readonly source: Tensor | Numbers32;
}

function checkElements(fn: string, name: string, length: number, shape: readonly number[]): void {
  if (length !== sizeOf(shape)) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} has ${length} elements, expected ${sizeOf(shape)} for shape ${shapeText(shape)}`,
    );
  }
}

/** An array has its elements still, which was checked before the caller's code was last run: by a getter, say. */
export function checkStill(fn: string, name: string, source: Numbers32, elements: number): void {
  if (lengthOf(source) !== elements) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} has ${lengthOf(source)} elements now and had ${elements} before, expected an array ` +
        'that is not detached or resized during the call',
    );
  }
}

/** An NdArray or a Tensor; with `boolean`, an NdMask too. */
function checkInput(fn: string, name: string, value: unknown, boolean: boolean): Input {
  if (isTensor(value)) return { name, shape: value.shape, source: value };
  const data = isRecord(value) ? reading(fn, name, () => value['data']) : undefined;
  if (isRecord(value) && (isFloat32Array(data) || (boolean && isUint8Array(data)))) {
    const shape = takeShape(
      fn,
      name,
      reading(fn, name, () => value['shape']),
    );
    checkElements(fn, name, lengthOf(data), shape);
    checkCountable(fn, `${name} is`, shape);
    return { name, shape, source: data };
  }
  const was =
    isRecord(value) && data !== undefined ? `{ data: ${describe(data)} }` : describe(value);
  const expected = boolean
    ? '{ data: Uint8Array or Float32Array, shape } or a Tensor'
    : '{ data: Float32Array, shape } or a Tensor';
  throw new QkvError(
    'invalid_argument',
    `${fn}: ${name} is ${was}, expected ${expected}${reading(fn, name, () => way(value, data))}`,
  );
}

/** How to make an input of other numbers, and of a tensor that is none here: engines of two copies share no memory. */
function way(value: unknown, data: unknown): string {
  if (isRecord(value) && typeof value['toNdArray'] === 'function') {
    return ' of this copy of the package (tensor.toNdArray() is the same for all)';
  }
  const isList = (of: unknown): boolean => Array.isArray(of) || ArrayBuffer.isView(of);
  if (data === undefined) return isList(value) ? '; array([[1, 2]]) makes one' : '';
  return isList(data) ? '; Float32Array.from(data) makes the elements' : '';
}

export function checkArray(fn: string, name: string, value: ArrayInput): Input {
  return checkInput(fn, name, value, false);
}

/** An array of exactly this shape. */
export function checkShaped(
  fn: string,
  name: string,
  value: ArrayInput,
  shape: readonly number[],
): Input {
  const input = checkArray(fn, name, value);
  if (isSameShape(input.shape, shape)) return input;
  throw new QkvError(
    'shape_mismatch',
    `${fn}: ${name} is ${shapeText(input.shape)}, expected ${shapeText(shape)}`,
  );
}

/** A mask or bias that broadcasts right-aligned to `scores`, [B, Hq, Tq, Tk]; undefined stays undefined. */
export function checkMask(
  fn: string,
  name: 'mask' | 'bias',
  value: NdMask | ArrayInput | undefined,
  scores: readonly number[],
): Input | undefined {
  if (value === undefined) return undefined;
  const mask = checkInput(fn, name, value, name === 'mask');
  if (mask.shape.length < 1 || mask.shape.length > 4) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(mask.shape)}, expected a shape of rank 1 to 4`,
    );
  }
  const target = scores.slice(-mask.shape.length);
  if (mask.shape.some((extent, axis) => extent !== 1 && extent !== target[axis])) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(mask.shape)}, expected a shape that broadcasts to ${shapeText(scores)}`,
    );
  }
  return mask;
}

/** A matrix or bias of a layer, of exactly this shape; undefined stays undefined. */
export function checkWeight(
  fn: string,
  name: string,
  value: NdArray | Float32Array | undefined,
  shape: readonly number[],
): Input | undefined {
  if (value === undefined) return undefined;
  if (shape.length === 1) return checkVector(fn, name, value as Float32Array, shape[0]);
  const input = checkInput(fn, name, value, false);
  if (!isSameShape(input.shape, shape)) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(input.shape)}, expected ${shapeText(shape)}` +
        (isSameShape([...input.shape].reverse(), shape)
          ? "; set weightLayout to 'out_in' for matrices stored as in PyTorch, else to 'in_out'"
          : ''),
    );
  }
  return input;
}

/** A Float32Array, with exactly `length` elements if that is known; undefined stays undefined. */
export function checkVector(
  fn: string,
  name: string,
  value: Float32Array | undefined,
  length?: number,
): Input | undefined {
  if (value === undefined) return undefined;
  if (!isFloat32Array(value)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected a Float32Array${length === undefined ? '' : ` of ${length}`}`,
    );
  }
  const shape = [length ?? lengthOf(value)];
  checkElements(fn, name, lengthOf(value), shape);
  return { name, shape, source: value };
}

/** Most numbers that are read out of a plain array. */
const mostNumbers = 2 ** 27;

/** An Int32Array as it is, or a copy of the whole numbers in an array; `length` is for the message. */
export function takeIntegers(
  fn: string,
  name: string,
  value: unknown,
  length?: number,
): Int32Array {
  if (isInt32Array(value)) return value;
  const list = listOf(fn, name, value, mostNumbers);
  if (!list) {
    const of = length === undefined ? '' : ` of ${length}`;
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected an Int32Array${of} or an array of whole numbers`,
    );
  }
  const wrong = list.findIndex((e) => !Number.isSafeInteger(e) || Number(e) !== (Number(e) | 0));
  if (wrong >= 0) checkInteger(fn, `${name}[${wrong}]`, list[wrong], -mostInt - 1, mostInt);
  return inRoom(fn, 4 * list.length, () => Int32Array.from(list as number[]));
}

/** Whole numbers, exactly `length` of them if that is known; undefined stays undefined. */
export function checkIntegers(
  fn: string,
  name: string,
  value: Integers | undefined,
  length?: number,
): Input | undefined {
  return value === undefined ? undefined : requireIntegers(fn, name, value, length);
}

/** Whole numbers that may not be left out. */
export function requireIntegers(fn: string, name: string, value: Integers, length?: number): Input {
  const source = takeIntegers(fn, name, value, length);
  const shape = [length ?? lengthOf(source)];
  checkElements(fn, name, lengthOf(source), shape);
  return { name, shape, source };
}

/** `length` numbers to copy, out of an array of any kind: a typed one as it is, a copy of others. */
export function takeNumbers(
  fn: string,
  name: string,
  value: unknown,
  [length, expected]: readonly [length: number, expected: string],
): ArrayLike<number> {
  const kind = kindOf(value);
  const isList = isRecord(value) && !ArrayBuffer.isView(value);
  const given =
    kind !== undefined && !kind.startsWith('Big')
      ? lengthOf(value as Numbers32)
      : isList
        ? reading(fn, name, () => value['length'])
        : undefined;
  if (typeof given !== 'number') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected an array of numbers`,
    );
  }
  if (given !== length) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} has ${given} elements, expected ${expected}`,
    );
  }
  if (!isList) return value as Numbers32;
  const numbers = newFloats(fn, length);
  for (let i = 0; i < length; i += 1) {
    const element = reading(fn, name, () => value[i]);
    // Anything else would become NaN, or throw on the way into memory.
    if (typeof element !== 'number') {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name}[${i}] is ${describe(element)}, expected a number`,
      );
    }
    numbers[i] = element;
  }
  return numbers;
}
