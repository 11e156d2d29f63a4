// Plain arrays of JavaScript's own memory, made and read without an engine.

import { QkvError } from './api/errors.js';
import type { NdArray, NdMask, Nested, NestedOf, OwnedArray, ShapeOf } from './api/types.js';
import { checkInteger } from './arguments/numbers.js';
import { checkCountable, mostAxes, shapeText, sizeOf, takeShape } from './arguments/shapes.js';
import {
  describe,
  isFloat32Array,
  isRecord,
  isUint8Array,
  lengthOf,
  listOf,
  newFloats,
  reading,
} from './arguments/values.js';

/** Most numbers and arrays in a nested array: V8 holds fewer than 2^27 of them in one. */
const mostNested = 2 ** 27;

/** A copy of the shape, whose elements the core can count. */
function countableShape(fn: string, given: unknown): readonly number[] {
  const shape = takeShape(fn, 'the array', given);
  checkCountable(fn, 'the shape is', shape);
  return shape;
}

/** Collects the numbers of a nested array in row-major order, and its shape. */
class Reader {
  readonly shape: number[] = [];
  /** Made for the first number: by then all extents are known. V8 ends the program when a list of numbers becomes too long. */
  #numbers: Float32Array<ArrayBuffer> | undefined;
  #count = 0;
  /** Indices of the element that is read. */
  readonly #path: number[] = [];

  read(value: unknown): void {
    const axis = this.#path.length;
    if (typeof value === 'number') {
      const row = this.shape[axis];
      if (row !== undefined)
        this.#refuse('shape_mismatch', value, `an array of ${row} like those before it`);
      this.#add(value);
      return;
    }
    const list = listOf('array', this.#name(), value, mostNested);
    if (!list) this.#refuse('invalid_argument', value, 'a number or an array of numbers');
    this.#checkExtent(list.length, axis);
    if (axis + 1 === this.shape.length && list.every((element) => typeof element === 'number')) {
      for (const element of list) this.#add(element);
      return;
    }
    for (const [i, element] of list.entries()) {
      this.#path.push(i);
      this.read(element);
      this.#path.pop();
    }
  }

  get numbers(): Float32Array<ArrayBuffer> {
    return (this.#numbers ??= newFloats('array', sizeOf(countableShape('array', this.shape))));
  }

  #add(value: number): void {
    this.numbers[this.#count] = value;
    this.#count += 1;
  }

  #checkExtent(extent: number, axis: number): void {
    const known = this.shape[axis];
    if (known === undefined) {
      if (this.#numbers) this.#refuse('shape_mismatch', [], 'a number like those before');
      if (axis === mostAxes) this.#refuse('out_of_range', [], `at most ${mostAxes} axes`);
      this.shape.push(extent);
    } else if (extent !== known) {
      throw new QkvError(
        'shape_mismatch',
        `array: ${this.#name()} has ${extent} element${extent === 1 ? '' : 's'}, expected ${known} as the array before it has`,
      );
    }
  }

  #name(): string {
    return `nested${this.#path.map((i) => `[${i}]`).join('')}`;
  }

  #refuse(
    code: 'invalid_argument' | 'shape_mismatch' | 'out_of_range',
    was: unknown,
    expected: string,
  ): never {
    throw new QkvError(code, `array: ${this.#name()} is ${describe(was)}, expected ${expected}`);
  }
}

/**
 * The array of nested rows: `array([[1, 2], [3, 4]])` has the shape [2, 2], and a number by itself the shape
 * []. Each number is rounded to float32.
 *
 * @throws {@link QkvError} `shape_mismatch` for arrays of different lengths side by side, `invalid_argument`
 * for what is neither a number nor an array, `out_of_range` for more than 64 axes and from 2^31 elements on,
 * `out_of_memory`
 */
export function array<Rows extends Nested>(nested: Rows): OwnedArray<ShapeOf<Rows>>;
export function array(nested: Nested): OwnedArray {
  const reader = new Reader();
  reader.read(nested);
  return { data: reader.numbers, shape: reader.shape };
}

/**
 * An array of zeros.
 *
 * @throws {@link QkvError} `invalid_argument` for a shape that is no array of whole numbers >= 0,
 * `out_of_range` from 2^31 elements on, `out_of_memory`
 */
export function zeros(shape: readonly number[]): OwnedArray {
  const own = countableShape('zeros', shape);
  return { data: newFloats('zeros', sizeOf(own)), shape: own };
}

/** The finaliser of MurmurHash3 (Appleby 2011), a permutation of the 32-bit numbers. */
function mix(bits: number): number {
  let h = bits;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/**
 * Random numbers, uniform in [-1, 1): mean 0, variance 1/3, multiples of 2^-23. The same shape and seed give the
 * same numbers on every engine. With h the finaliser of MurmurHash3 and seed = 2^32 s1 + s0, element i is
 *
 *     floor(h(h(i) ^ key) / 2^8) / 2^23 - 1,      key = h(h(s1 + 0x9e3779b9) ^ s0)
 *
 * For weights that keep the variance of what they multiply, scale the numbers by sqrt(3 / rows). They are not for
 * secrets.
 *
 * @param seed a whole number from 0 to 2^53 - 1
 * @throws {@link QkvError} what {@link zeros} throws, `invalid_argument` and `out_of_range` for the seed
 */
export function random(shape: readonly number[], seed: number): OwnedArray {
  const own = countableShape('random', shape);
  checkInteger('random', 'seed', seed, 0, Number.MAX_SAFE_INTEGER);
  const key = mix(mix(Math.floor(seed / 2 ** 32) + 0x9e3779b9) ^ (seed % 2 ** 32));
  const data = newFloats('random', sizeOf(own));
  for (let i = 0; i < data.length; i += 1) data[i] = (mix(mix(i) ^ key) >>> 8) / 2 ** 23 - 1;
  return { data, shape: own };
}

/**
 * The elements as nested arrays, one level for each axis; the number itself for the shape [].
 *
 * @throws {@link QkvError} `invalid_argument` for what is no `{ data, shape }`, `shape_mismatch` unless `data`
 * has as many elements as the shape says, `out_of_range` for more than 2^27 rows and elements
 */
export function toNested<Shape extends readonly number[]>(
  array: NdArray<Shape> | (NdMask & { readonly shape: Shape }),
): NestedOf<Shape>;
export function toNested(array: NdArray | NdMask): Nested {
  const fn = 'toNested';
  const data = isRecord(array) ? reading(fn, 'array', () => array.data) : undefined;
  if (!isFloat32Array(data) && !isUint8Array(data)) {
    const was =
      isRecord(array) && data !== undefined ? `{ data: ${describe(data)} }` : describe(array);
    throw new QkvError(
      'invalid_argument',
      `${fn}: array is ${was}, expected { data: Float32Array or Uint8Array, shape }`,
    );
  }
  const shape = takeShape(
    fn,
    'array',
    reading(fn, 'array', () => array.shape),
  );
  if (lengthOf(data) !== sizeOf(shape)) {
    throw new QkvError(
      'shape_mismatch',
      `${fn}: array has ${lengthOf(data)} elements, expected ${sizeOf(shape)} for shape ${shapeText(shape)}`,
    );
  }
  if (shape.reduce((n, e) => n * Math.max(e, 1), 1) > mostNested) {
    throw new QkvError(
      'out_of_range',
      `${fn}: array is ${shapeText(shape)}, expected at most ${mostNested} rows and elements`,
    );
  }
  const nest = (axis: number, from: number): Nested => {
    const extent = shape[axis];
    if (extent === undefined) return data[from] ?? 0;
    const step = sizeOf(shape.slice(axis + 1));
    return Array.from({ length: extent }, (_, i) => nest(axis + 1, from + i * step));
  };
  return nest(0, 0);
}
