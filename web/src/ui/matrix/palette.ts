import { context2d } from '../dom';
import type { PaintPalette } from '../../domain/paint_palette';
import { ramp, type Ramp, type Rgb } from '../../domain/cividis';

/** What the canvases take from the theme. */
export interface Palette {
  readonly ink: string;
  readonly inkSoft: string;
  readonly bracket: string;
  readonly font: string;
  /** The ramp for signed values; see diverging(). */
  readonly diverging: Ramp;
  /** The same, and the colours of what is no value, as 32-bit pixels whatever the machine's byte order. */
  readonly paint: PaintPalette;
}

/** Any CSS colour as bytes; the canvas is the parser. */
function parseColour(colour: string): Rgb {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = context2d(canvas, { willReadFrequently: true });
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

function pixel(colour: string): number {
  const [value = 0] = new Uint32Array(Uint8Array.of(...parseColour(colour), 255).buffer);
  return value;
}

/**
 * Index 128 is zero and exactly the neutral colour of the theme, one end blue and the other orange
 * in both themes. The index of v in [-1, 1] is 128 + round(127 v).
 */
function diverging(colour: (name: string) => Rgb): Ramp {
  const bytes = new Uint8ClampedArray(256 * 4);
  const zero = colour('--neutral');
  const below = ramp([zero, colour('--negative-1'), colour('--negative-2')]);
  const upper = ramp([zero, colour('--positive-1'), colour('--positive-2')]);
  for (let step = 0; step <= 127; step++) {
    const from = Math.round((step / 127) * 255) * 4;
    bytes.set(upper.subarray(from, from + 4), (128 + step) * 4);
    bytes.set(below.subarray(from, from + 4), (128 - step) * 4);
  }
  bytes.copyWithin(0, 4, 8); // index 0 is not used
  return bytes;
}

function read(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const signed = diverging((name) => parseColour(colour(name)));
  return {
    ink: colour('--ink'),
    inkSoft: colour('--ink-soft'),
    bracket: colour('--p-mark'),
    font: getComputedStyle(document.body).fontFamily,
    diverging: signed,
    paint: {
      background: pixel(colour('--surface')),
      hatch: pixel(colour('--hatch')),
      notANumber: pixel('#ff00ff'),
      diverging: new Uint32Array(signed.buffer),
    },
  };
}

let current: Palette | undefined;

/** Reading styles in the middle of drawing is slow, so it happens once per theme. */
export function palette(): Palette {
  return (current ??= read());
}

/** To be called when the theme has changed. */
export function forgetPalette(): void {
  current = undefined;
}
