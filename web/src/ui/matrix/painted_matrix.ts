import { context2d } from '../dom';
import type { MatrixModel, MatrixView } from './view';

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

/** A matrix whose cells the page paints itself: a pixel for each cell, enlarged to the size of the matrix. */
export class PaintedMatrix {
  readonly #view: MatrixView;
  readonly #cells = document.createElement('canvas');

  constructor(view: MatrixView) {
    this.#view = view;
    view.addEventListener('surface-resized', (event) => {
      event.stopPropagation(); // the worker does not paint it
      this.#enlarge();
    });
  }

  /** `paint`: gives the canvas a size and a pixel for each cell. */
  show(model: MatrixModel, paint: (cells: HTMLCanvasElement) => void): void {
    paint(this.#cells);
    this.#view.model = model;
    this.#enlarge();
  }

  hide(): void {
    this.#view.model = null;
  }

  #enlarge(): void {
    const { canvas, size } = this.#view;
    const { width, height } = this.#cells;
    if (size.width === 0 || width * height === 0 || this.#view.model === null) return;
    enlarge(this.#cells, canvas, size.width, size.height);
  }
}
