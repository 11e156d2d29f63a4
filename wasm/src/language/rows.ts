// Rows of tokens that callers give, as lists of whole numbers of any kind, and numbers that calls give back.

import { QkvError } from '../api/errors.js';
import type { Integers, OwnedArray } from '../api/types.js';
import { type Input, requireIntegers } from '../arguments/arrays.js';
import { isInt32Array, isRecord, kindOf, lengthOf, reading } from '../arguments/values.js';
import type { Call, Slot } from '../memory/call.js';

/** The elements of a typed array of any width, and of what has a length and elements, as a list. */
function asList(fn: string, name: string, value: ArrayLike<number>): unknown {
  const kind = kindOf(value);
  if (isInt32Array(value) || kind?.startsWith('Big') || !isRecord(value)) return value;
  return reading(fn, name, () => {
    if (Array.isArray(value)) return value;
    const length = kind ? lengthOf(value as unknown as ArrayBufferView) : value.length;
    const isList = Number.isSafeInteger(length) && length >= 0 && length <= 2 ** 27;
    return isList ? Array.from({ length }, (_, i) => value[i]) : value;
  });
}

/** Whole numbers, `length` of them if that is known. */
export const checkWhole = (
  fn: string,
  name: string,
  given: ArrayLike<number>,
  length?: number,
): Input => requireIntegers(fn, name, asList(fn, name, given) as Integers, length);

/** Rows of whole numbers, [batch, n] with n of at least 1, in row-major order. */
export function checkRows(
  fn: string,
  name: string,
  given: ArrayLike<number>,
  batch: number,
): Input & { readonly shape: readonly [number, number] } {
  const { source, shape } = requireIntegers(fn, name, asList(fn, name, given) as Integers);
  const [count = 0] = shape;
  if (count === 0 || count % batch !== 0) {
    const expected = count === 0 ? 'at least one token' : `a multiple of batch = ${batch}`;
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} has ${count} elements, expected ${expected}`,
    );
  }
  return { name, source, shape: [batch, count / batch] };
}

/** A loss is over the tokens that another one comes before: each row has at least two. */
export function checkFollowed(fn: string, length: number): void {
  if (length >= 2) return;
  throw new QkvError('shape_mismatch', `${fn}: ids has rows of 1 token, expected at least 2`);
}

/** A result for the caller, of the shape that the call has it in or another one of as many elements; callers know its rank. */
export const take = <Shape extends readonly number[] = readonly number[]>(
  call: Call,
  slot: Slot,
  shape: readonly number[] = slot.shape,
): OwnedArray<Shape> => ({
  data: call.read(slot),
  shape: [...shape] as readonly number[] as Shape,
});

/** `length` whole numbers, if they are given. */
export const optionalWhole = (
  fn: string,
  name: string,
  given: ArrayLike<number> | undefined,
  length: number,
): Input | undefined => (given === undefined ? undefined : checkWhole(fn, name, given, length));

/** Numbers of float64 that an operator has returned. */
export const found = (call: Call, slot: Slot): Float64Array =>
  new Float64Array(call.read(slot).buffer);
