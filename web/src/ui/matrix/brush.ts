import type { Cell } from './cell';
import { find } from '../dom';
import { MatrixView } from './view';

/** Paints a cell: the first of a stroke, which decides what the stroke does, or one that it goes on to. */
export type Brush = (cell: Cell, begins: boolean) => void;

/**
 * Lets a matrix be painted: by a pointer that is dragged over cells, and by Space or Enter where the
 * keyboard is. A finger paints sideways or by a tap; up and down it scrolls the page as everywhere.
 */
export function brushing(matrix: MatrixView, paint: Brush): void {
  matrix.paintable = true;
  const plot = find(matrix, '.matrix-plot', HTMLElement);
  let stroke: { last: Cell; painted: boolean } | null = null;

  const begin = () => {
    if (!stroke || stroke.painted) return;
    stroke.painted = true;
    paint(stroke.last, true);
  };
  const end = () => (stroke = null);

  plot.addEventListener('pointerdown', (event) => {
    const cell = matrix.cellAt(event);
    if (!cell || event.button !== 0) return;
    stroke = { last: cell, painted: false };
    plot.setPointerCapture(event.pointerId);
    if (event.pointerType !== 'touch') begin();
  });
  plot.addEventListener('pointermove', (event) => {
    const cell = stroke && matrix.cellAt(event);
    if (!stroke || !cell) return;
    const { row, col } = stroke.last;
    if (cell.row === row && cell.col === col) return;
    begin();
    for (const passed of between(stroke.last, cell)) paint(passed, false);
    stroke.last = cell;
  });
  plot.addEventListener('pointerup', () => {
    begin();
    end();
  });
  plot.addEventListener('pointercancel', end);
  plot.addEventListener('keydown', (event) => {
    if ((event.key !== ' ' && event.key !== 'Enter') || !matrix.shown) return;
    event.preventDefault(); // Space scrolls
    paint(matrix.shown, true);
  });
}

/** The cells on the way from one to another, the last included: a quick hand leaves some out. */
function between(from: Cell, to: Cell): Cell[] {
  const [rows, cols] = [to.row - from.row, to.col - from.col];
  const steps = Math.max(Math.abs(rows), Math.abs(cols));
  return Array.from({ length: steps }, (_, i) => ({
    row: from.row + Math.round((rows * (i + 1)) / steps),
    col: from.col + Math.round((cols * (i + 1)) / steps),
  }));
}
