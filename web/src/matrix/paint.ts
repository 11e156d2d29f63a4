/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index here is in range by its loop */
import { context2d } from '../dom';
import type { Ramp } from './colour';
import { palette } from './palette';

/** Instead of an index into the ramp. */
export const MASKED = -1;
export const NOT_A_NUMBER = -2;

export interface CellGrid {
  readonly rows: number;
  readonly cols: number;
  /** Row-major: an index into the ramp, MASKED or NOT_A_NUMBER. */
  readonly cells: Int16Array;
  readonly ramp: Ramp;
}

/** Where each cell starts, in device pixels; one more entry for the end of the last. */
export function cellEdges(length: number, count: number): Int32Array {
  return Int32Array.from({ length: count + 1 }, (_, i) => Math.round((i * length) / count));
}

/** For every pixel the cell it belongs to; -1 on the hairline between two cells wide enough for one. */
function cellOfPixel(length: number, count: number, gap: number): Int16Array {
  const edges = cellEdges(length, count);
  const cellOf = new Int16Array(length);
  for (let cell = 0; cell < count; cell++) {
    cellOf.fill(cell, edges[cell], edges[cell + 1]);
    if (cell > 0) cellOf.fill(-1, edges[cell], Math.min(edges[cell]! + gap, length));
  }
  return cellOf;
}

/** Fills the whole canvas, one write per device pixel: the same cost for 10 tokens and for 256. */
export function paintCells(canvas: HTMLCanvasElement, grid: CellGrid): void {
  const { width, height } = canvas;
  if (width === 0 || height === 0) return;
  const context = context2d(canvas);
  const ratio = devicePixelRatio;
  const narrowest = Math.min(width / grid.cols, height / grid.rows);
  const gap = narrowest >= 10 * ratio ? Math.round(ratio) : 0;
  const colOf = cellOfPixel(width, grid.cols, gap);
  const rowOf = cellOfPixel(height, grid.rows, gap);
  const colours = new Uint32Array(grid.ramp.buffer);
  const { background, hatch, notANumber } = palette();
  const period = Math.max(4, Math.round(6 * ratio));
  const stroke = Math.max(1, Math.round(ratio));
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let y = 0, at = 0; y < height; y++) {
    const from = rowOf[y]! * grid.cols;
    for (let x = 0; x < width; x++, at++) {
      const index = from < 0 || colOf[x]! < 0 ? -3 : grid.cells[from + colOf[x]!]!;
      if (index >= 0) pixels[at] = colours[index]!;
      else if (index === NOT_A_NUMBER) pixels[at] = notANumber;
      else if (index === MASKED && (x + y) % period < stroke) pixels[at] = hatch;
      else pixels[at] = background;
    }
  }
  context.putImageData(image, 0, 0);
}

/** Gives the canvas `width` x `height` CSS pixels at device resolution. */
export function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number): void {
  const [w, h] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.width = `${w / devicePixelRatio}px`;
  canvas.style.height = `${h / devicePixelRatio}px`;
}
