import { context2d } from '../dom';
import { palette } from './palette';

/** The size of the largest number of these; 1 where all are zero. */
export const rangeOf = (...arrays: readonly ArrayLike<number>[]): number =>
  Math.max(0, ...arrays.flatMap((values) => Array.from(values, Math.abs))) || 1;

/** Paints numbers as the pixels of a canvas, row by row: its style makes a cell of each. */
export function paintCells(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  range: number,
): void {
  const { width, height } = canvas;
  const context = context2d(canvas);
  const image = context.createImageData(width, height);
  const { diverging } = palette();
  for (let i = 0; i < width * height; i++) {
    const value = Math.max(-1, Math.min(1, (values[i] ?? 0) / range));
    const from = (128 + Math.round(127 * value)) * 4;
    image.data.set(diverging.subarray(from, from + 4), i * 4);
  }
  context.putImageData(image, 0, 0);
}
