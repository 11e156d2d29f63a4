// The sentences a caller reads when an argument does not fit. The core checks again, in its own words;
// what is checked here is what only JavaScript can get wrong.

import { QkvError } from '../api/errors.js';
import {
  describe,
  isFloat32Array,
  isInt32Array,
  isRecord,
  isUint8Array,
  kindOf,
  lengthOf,
  listOf,
  listText,
  newFloats,
  type Numbers32,
  reading,
} from './values.js';
import { isTensor, type WasmTensor } from '../memory/tensor.js';
import type { ArrayInput, NdArray, NdMask } from '../api/types.js';

/** The shape and elements of an input, wherever they are. */
export interface Input {
  /** What the caller calls it, for messages. */
  readonly name: string;
  readonly shape: readonly number[];
  /** A tensor of the engine, or elements to copy in. */
  readonly source: WasmTensor | Numbers32;
}

export const shapeText = (shape: readonly (number | string)[]): string => `[${shape.join(',')}]`;

export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, e) => n * e, 1);

/** More axes than anybody has. */
const mostAxes = 64;
/** What an integer of the core holds. */
export const mostInt = 2 ** 31 - 1;

/** A copy of `shape`, an array of whole numbers >= 0. */
export function takeShape(fn: string, name: string, shape: unknown): readonly number[] {
  const extents = listOf(fn, `the shape of ${name}`, shape, mostAxes);
  if (!extents?.every((e) => Number.isSafeInteger(e) && Number(e) >= 0)) {
    const was = extents ? listText(extents) : describe(shape);
    throw new QkvError(
      'invalid_argument',
      `${fn}: the shape of ${name} is ${was}, expected an array of whole numbers >= 0`,
    );
  }
  return extents as number[];
}

/** Whether the core can count the places that extents span: an empty array may have large ones all the same. */
export const isCountable = (shape: readonly number[]): boolean =>
  shape.reduce((n, e) => n * Math.max(e, 1), 1) <= mostInt;

function checkElements(fn: string, name: string, length: number, shape: readonly number[]): void {
  if (length !== sizeOf(shape)) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} has ${length} elements, expected ${sizeOf(shape)} for shape ${shapeText(shape)}`,
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
    if (!isCountable(shape)) {
      throw new QkvError(
        'out_of_range',
        `${fn}: ${name} is ${shapeText(shape)}, expected extents whose product is at most ${mostInt} ` +
          'but for those that are 0',
      );
    }
    return { name, shape, source: data };
  }
  const was =
    isRecord(value) && data !== undefined ? `{ data: ${describe(data)} }` : describe(value);
  const expected = boolean
    ? '{ data: Uint8Array or Float32Array, shape } or a Tensor'
    : '{ data: Float32Array, shape } or a Tensor';
  throw new QkvError('invalid_argument', `${fn}: ${name} is ${was}, expected ${expected}`);
}

export function checkArray(fn: string, name: string, value: ArrayInput): Input {
  return checkInput(fn, name, value, false);
}

/** A mask or bias that broadcasts right-aligned to `scores`, [B, Hq, Tq, Tk]; undefined stays undefined. */
export function checkMask(
  fn: string,
  name: 'mask' | 'bias',
  value: NdMask | NdArray | undefined,
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
  if (input.shape.length !== 2 || input.shape.some((extent, axis) => extent !== shape[axis])) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} is ${shapeText(input.shape)}, expected ${shapeText(shape)}`,
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

/** The same for an Int32Array. */
export function checkIntegers(
  fn: string,
  name: string,
  value: Int32Array | undefined,
  length?: number,
): Input | undefined {
  return value === undefined ? undefined : requireIntegers(fn, name, value, length);
}

/** An Int32Array that may not be left out. */
export function requireIntegers(
  fn: string,
  name: string,
  value: Int32Array,
  length?: number,
): Input {
  if (!isInt32Array(value)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected an Int32Array${length === undefined ? '' : ` of ${length}`}`,
    );
  }
  const shape = [length ?? lengthOf(value)];
  checkElements(fn, name, lengthOf(value), shape);
  return { name, shape, source: value };
}

/** A whole number within [least, most]. */
export function checkInteger(
  fn: string,
  name: string,
  value: unknown,
  least: number,
  most: number,
): asserts value is number {
  if (!Number.isSafeInteger(value)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected a whole number`,
    );
  }
  if (Number(value) < least || Number(value) > most) {
    throw new QkvError(
      'out_of_range',
      `${fn}: ${name} is ${describe(value)}, expected ${least} to ${most}`,
    );
  }
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

/** An option that is left out, true or false. */
export function checkBoolean(fn: string, name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected a boolean`,
    );
  }
}

/** A number that is finite as a float32, too. What range it may take the core knows. */
export function checkNumber(fn: string, name: string, value: unknown): void {
  if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected a number that is finite as a float32`,
    );
  }
}

/** checkNumber() for an option, which may be left out. */
export function checkOption(fn: string, name: string, value: unknown): void {
  if (value !== undefined) checkNumber(fn, name, value);
}

/** One of these words. */
export function checkChoice(
  fn: string,
  name: string,
  value: string,
  choices: readonly string[],
): void {
  if (!choices.includes(value)) {
    const expected = choices.map((choice) => `'${choice}'`).join(' or ');
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected ${expected}`,
    );
  }
}
