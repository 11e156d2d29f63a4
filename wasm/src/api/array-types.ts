/// <reference lib="esnext.disposable" preserve="true" />

// What operators read and write: plain arrays, and tensors in WebAssembly memory.

/** Numbers in row-major order: `data[((b * H + h) * T + t) * d + i]` for shape `[B, H, T, d]`. */
export interface NdArray<Shape extends readonly number[] = readonly number[]> {
  /** The elements. Their number is the product of the extents. */
  readonly data: Float32Array;
  /** The extents, whole numbers >= 0. The last axis varies fastest. */
  readonly shape: Shape;
}

/** Numbers in a buffer that no thread shares, which `Blob`, `BufferSource` and WebGPU take. */
export type OwnedNumbers = ReturnType<Float32Array['slice']>;

/** An array that a function of this package has made. JavaScript owns it: there is nothing to free. */
export interface OwnedArray<
  Shape extends readonly number[] = readonly number[],
> extends NdArray<Shape> {
  /** The elements, in a buffer of their own. */
  readonly data: OwnedNumbers;
}

/** Whole numbers: an `Int32Array`, or an array of numbers from -2^31 to 2^31 - 1. */
export type Integers = Int32Array | readonly number[];

/** Numbers in rows, rows in matrices, and so on: what `array()` takes and `toNested()` returns. */
export type Nested = number | readonly Nested[];

/** What `toNested()` returns for a shape of this type: as many levels as it has extents, or {@link Nested} where the type does not tell. */
export type NestedOf<Shape extends readonly number[]> = number extends Shape['length']
  ? Nested
  : Shape extends readonly [number, ...infer Rest extends readonly number[]]
    ? NestedOf<Rest>[]
    : number;

/** The shape of what `array()` makes of rows of this type: as many extents as they have levels, where the type tells. */
export type ShapeOf<Rows> = [Rows] extends [never]
  ? readonly number[]
  : Nested extends Rows
    ? readonly number[]
    : Rows extends readonly (infer Row)[]
      ? readonly [number, ...ShapeOf<Row>]
      : readonly [];

/** A boolean mask: 1 where a query may attend, 0 where it may not. */
export interface NdMask {
  /** The elements; any number but 0 counts as 1. */
  readonly data: Uint8Array;
  /** The extents, 1 to 4 of them. */
  readonly shape: readonly number[];
}

/**
 * A block of WebAssembly memory, for loops without copies: pass a tensor as an input or as `out`, and
 * read the elements in place.
 */
export interface Tensor {
  /** The extents of the tensor. */
  readonly shape: readonly number[];
  /**
   * The elements in place. A fresh view on every call, valid until the next call that may grow memory
   * (any operator): never store it.
   * @throws {@link QkvError} `disposed`
   */
  view(): Float32Array;
  /**
   * An owned copy.
   * @throws {@link QkvError} `out_of_memory`, `disposed`
   */
  toNdArray(): OwnedArray;
  /**
   * Copies `data` into the tensor.
   * @throws {@link QkvError} `shape_mismatch` unless `data` has as many elements as the tensor,
   * `invalid_argument` unless `data` is an array of numbers, `out_of_memory`, `disposed`
   */
  set(data: ArrayLike<number>): void;
  /** Releases the memory. Calling it again does nothing. */
  dispose(): void;
  /** `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}

/** Anything an operator reads: a plain array, or a tensor that already lives in WebAssembly memory. */
export type ArrayInput = NdArray | Tensor;

/** The tensor that a result is written to. The call then copies and returns nothing. */
export interface Destination {
  /**
   * A tensor of the shape of the result. It may be x itself, except in `linear` and in the `forward` of a `LinearLayer`; other
   * inputs it may not be.
   */
  out: Tensor;
}

/** Options without a tensor for the result: the call returns a new array. */
export interface NewArray {
  /** Not given. */
  out?: undefined;
}
