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
