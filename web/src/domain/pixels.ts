export interface Size {
  /** In device pixels. */
  readonly width: number;
  readonly height: number;
}

/** Pixels on their way to a canvas that the page paints itself. */
export interface Pixels extends Size {
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}
