// The sentences a caller reads when an argument does not fit. The core checks again, in its own words;
// what is checked here is what only JavaScript can get wrong.

import { QkvError } from './error.js';
import { WasmTensor } from './tensor.js';
import type { ArrayInput, NdArray, NdMask } from './types.js';

/** The shape and elements of an input, wherever they are. */
export interface Input {
  /** What the caller calls it, for messages. */
  readonly name: string;
  readonly shape: readonly number[];
  /** A tensor of the engine, or elements to copy in. */
  readonly source: WasmTensor | Float32Array | Uint8Array | Int32Array;
}

const typeNames = new Map<unknown, string>([
  [null, 'null'],
  [undefined, 'undefined'],
]);

/** What a value is, for a message. */
export function describe(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'an array';
  return typeNames.get(value) ?? (typeof value === 'object' ? tagOf(value) : `a ${typeof value}`);
}

/** 'Float32Array' for one of any realm, where instanceof would fail. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

export const isFloat32Array = (value: unknown): value is Float32Array =>
  ArrayBuffer.isView(value) && tagOf(value) === 'Float32Array';
export const isInt32Array = (value: unknown): value is Int32Array =>
  ArrayBuffer.isView(value) && tagOf(value) === 'Int32Array';
export const isUint8Array = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && tagOf(value) === 'Uint8Array';

export const shapeText = (shape: readonly (number | string)[]): string => `[${shape.join(',')}]`;

export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, e) => n * e, 1);

/** `shape` is an array of whole numbers >= 0. */
export function checkShape(
  fn: string,
  name: string,
  shape: unknown,
): asserts shape is readonly number[] {
  // A copy, because every() skips holes.
  const fits =
    Array.isArray(shape) &&
    Array.from<unknown>(shape).every((e) => Number.isSafeInteger(e) && Number(e) >= 0);
  if (!fits) {
    const was = Array.isArray(shape) ? shapeText(shape.map(String)) : describe(shape);
    throw new QkvError(
      'invalid_argument',
      `${fn}: the shape of ${name} is ${was}, expected an array of whole numbers >= 0`,
    );
  }
}

function checkElements(fn: string, name: string, length: number, shape: readonly number[]): void {
  if (length !== sizeOf(shape)) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${name} has ${length} elements, expected ${sizeOf(shape)} for shape ${shapeText(shape)}`,
    );
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** An object with named properties: no array, map, promise or the like, whose keys would all be ignored. */
const isOptions = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && tagOf(value) === 'Object';

/** An NdArray or a Tensor; with `boolean`, an NdMask too. */
function checkInput(fn: string, name: string, value: unknown, boolean: boolean): Input {
  if (value instanceof WasmTensor) {
    return { name, shape: value.shape, source: value };
  }
  const data = isRecord(value) ? value['data'] : undefined;
  if (isRecord(value) && (isFloat32Array(data) || (boolean && isUint8Array(data)))) {
    const shape = value['shape'];
    checkShape(fn, name, shape);
    checkElements(fn, name, data.length, shape);
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
  const shape = [length ?? value.length];
  checkElements(fn, name, value.length, shape);
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
  const shape = [length ?? value.length];
  checkElements(fn, name, value.length, shape);
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

/** Something with numbers to copy. */
export function checkNumbers(fn: string, name: string, value: unknown): void {
  const isView = ArrayBuffer.isView(value);
  const isBig = isView && tagOf(value).startsWith('Big');
  const length = isRecord(value) && !isBig ? value['length'] : undefined;
  if (typeof length !== 'number') {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected an array of numbers`,
    );
  }
  // Anything else would become NaN, or throw on the way into memory.
  for (let i = 0; !isView && i < length; i += 1) {
    const element = (value as ArrayLike<unknown>)[i];
    if (typeof element !== 'number') {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name}[${i}] is ${describe(element)}, expected a number`,
      );
    }
  }
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

/** An options object, with no key but these: a misspelt option would otherwise be silently ignored. */
export function checkKeys(
  fn: string,
  name: string,
  value: unknown,
  known: readonly string[],
): void {
  if (!isOptions(value)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected an object`,
    );
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      const meant = known.find((candidate) => isMisspelt(candidate, key));
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name} has the unknown key '${key}', expected ` +
          (meant === undefined ? known.join(', ') : `'${meant}' or another of ${known.join(', ')}`),
      );
    }
  }
}

/** Whether `key` is `name` but for two letters that are wrong, missing, too many or in another case. */
function isMisspelt(name: string, key: string): boolean {
  const [a, b] = [name.toLowerCase(), key.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (above[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      row[j] = Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
    }
  }
  return (row[b.length] ?? 0) <= Math.min(2, a.length / 3);
}
