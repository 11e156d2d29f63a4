/** What the pictures take from the theme: 32-bit pixels, and a ramp for signed values. */
export interface PaintPalette {
  readonly background: number;
  readonly hatch: number;
  readonly notANumber: number;
  /** 256 pixels; 128 is zero. */
  readonly diverging: Uint32Array;
}
