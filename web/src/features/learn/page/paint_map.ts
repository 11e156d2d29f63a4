import { cividis } from '../../../domain/cividis';
import { context2d } from '../../../ui/dom';

const PALETTE = new Uint32Array(cividis.buffer);

/** One map of [T, T] weights, a pixel for each; the style of the canvas makes it larger. */
export function paintMap(
  canvas: HTMLCanvasElement,
  weights: Float32Array,
  offset: number,
  side: number,
) {
  if (canvas.width !== side) canvas.width = canvas.height = side;
  const image = new ImageData(side, side);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) {
    pixels[i] = PALETTE[(weights[offset + i]! * 255 + 0.5) | 0]!;
  }
  context2d(canvas).putImageData(image, 0, 0);
}

/** A painted map in the size of another canvas. */
export function enlarge(
  from: HTMLCanvasElement,
  to: HTMLCanvasElement,
  width: number,
  height: number,
) {
  if (to.width !== width) to.width = width;
  if (to.height !== height) to.height = height;
  const context = context2d(to);
  context.imageSmoothingEnabled = false;
  context.drawImage(from, 0, 0, width, height);
}
