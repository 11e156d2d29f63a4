import type { Cell } from './cell';

export interface Extent {
  readonly rows: number;
  readonly cols: number;
  /** The column that `m` goes to from here. */
  readonly nextLargest?: (cell: Cell) => number;
}

/** Where a key leads from a cell; null for the keys that are none of ours. */
export function keyTarget(event: KeyboardEvent, from: Cell, extent: Extent): Cell | null {
  const { row, col } = from;
  const clamp = (r: number, c: number): Cell => ({
    row: Math.min(extent.rows - 1, Math.max(0, r)),
    col: Math.min(extent.cols - 1, Math.max(0, c)),
  });
  if (event.key === 'm' && extent.nextLargest) return clamp(row, extent.nextLargest(from));
  const far = event.ctrlKey;
  switch (event.key) {
    case 'ArrowUp':
      return clamp(row - 1, col);
    case 'ArrowDown':
      return clamp(row + 1, col);
    case 'ArrowLeft':
      return clamp(row, col - 1);
    case 'ArrowRight':
      return clamp(row, col + 1);
    case 'PageUp':
      return clamp(row - 10, col);
    case 'PageDown':
      return clamp(row + 10, col);
    case 'Home':
      return clamp(far ? 0 : row, 0);
    case 'End':
      return clamp(far ? extent.rows : row, extent.cols);
    default:
      return null;
  }
}
