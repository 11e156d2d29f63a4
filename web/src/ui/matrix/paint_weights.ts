import { cividis } from '../../domain/cividis';
import { colourIndex } from '../../domain/colour_scale';
import { context2d } from '../dom';

/** One pixel for each weight, as a canvas has them. */
export function pixelsOf(weights: Float32Array): Uint8ClampedArray<ArrayBuffer> {
  const bytes = new Uint8ClampedArray(4 * weights.length);
  const index = colourIndex('weights', 1);
  weights.forEach((weight, i) => {
    const from = 4 * index(weight);
    bytes.set(cividis.subarray(from, from + 4), 4 * i);
  });
  return bytes;
}

/** Gives a canvas the size of a matrix of weights, and paints a pixel for each. */
export function paintWeights(
  cells: HTMLCanvasElement,
  weights: Float32Array,
  columns: number,
): void {
  const rows = weights.length / columns;
  [cells.width, cells.height] = [columns, rows];
  if (weights.length === 0) return;
  context2d(cells).putImageData(new ImageData(pixelsOf(weights), columns, rows), 0, 0);
}
