import type { Show } from './choices';

/** The smallest weight that the log scale tells apart. */
const FLOOR = 1e-6;

/** Where a value stands on its colour scale, from 0 to 1; a signed scale goes from -range to range. NaN stays NaN. */
export function position(value: number, show: Show | 'difference', range: number): number {
  switch (show) {
    case 'weights':
      return value;
    case 'sqrt':
      return Math.sqrt(value);
    case 'log':
      return value <= FLOOR ? 0 : 1 - Math.log10(value) / Math.log10(FLOOR);
    default:
      return range > 0 ? 0.5 + value / range / 2 : 0.5 + 0 * value;
  }
}

/** Whether a scale has both signs, with 0 in its middle. */
export const isSigned = (show: Show | 'difference') => show === 'scores' || show === 'difference';

/**
 * The same among 256 colours; of a signed scale index 128 is exactly zero. `| 0` tells the engine that
 * these are small integers: as floating point each would be an object on the heap.
 */
export function colourIndex(show: Show | 'difference', range: number): (value: number) => number {
  if (show === 'weights') return (value) => (value * 255 + 0.5) | 0;
  if (!isSigned(show)) return (value) => (position(value, show, range) * 255 + 0.5) | 0;
  const factor = range > 0 ? 127 / range : 0;
  return (value) => (128.5 + Math.min(127, Math.max(-127, factor * value))) | 0;
}

/** The numbers written under the colour scale. */
export function ticks(show: Show | 'difference', range: number): readonly number[] {
  switch (show) {
    case 'weights':
      return [0, 0.25, 0.5, 0.75, 1];
    case 'sqrt':
      return [0, 0.01, 0.1, 0.25, 0.5, 1];
    case 'log':
      return [1e-6, 1e-4, 1e-2, 1];
    default:
      return range > 0 ? [-range, 0, range] : [0];
  }
}
