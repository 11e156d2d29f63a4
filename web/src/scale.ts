/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index here is in range by its loop */
import { allowedKeys } from './numbers';
import { MASKED, NOT_A_NUMBER } from './matrix/paint';
import type { Frame } from './engine/protocol';
import type { Scale } from './state';

/** The smallest weight that the log scale tells apart. */
const FLOOR = 1e-6;

/** Where a weight in [0, 1] stands on the colour scale, from 0 to 1. */
export function position(weight: number, scale: Scale): number {
  if (scale === 'sqrt') return Math.sqrt(weight);
  if (scale === 'log') return weight <= FLOOR ? 0 : 1 - Math.log10(weight) / Math.log10(FLOOR);
  return weight;
}

/** The numbers written under the colour scale. */
export const TICKS: Record<Scale, readonly number[]> = {
  linear: [0, 0.25, 0.5, 0.75, 1],
  sqrt: [0, 0.01, 0.1, 0.25, 0.5, 1],
  log: [1e-6, 1e-4, 1e-2, 1],
};

/** The colour of every cell of one head: the future is masked, not a small weight. */
export function weightCells(frame: Frame, head: number, scale: Scale): Int16Array {
  const count = frame.request.tokens.length;
  const cells = new Int16Array(count * count).fill(MASKED);
  const weights = frame.weights.subarray(head * count * count, (head + 1) * count * count);
  for (let row = 0; row < count; row++) {
    const end = row * count + allowedKeys(frame, row);
    for (let at = row * count; at < end; at++) {
      const index = Math.round(position(weights[at]!, scale) * 255);
      cells[at] = Number.isNaN(index) ? NOT_A_NUMBER : index;
    }
  }
  return cells;
}
