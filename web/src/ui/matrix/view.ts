import type { Cell } from './cell';
import { find, setText } from '../dom';
import { keyTarget } from './keys';
import { drawLabels, flatLength, uprightLength } from './labels';
import { layoutMatrix, type Layout } from './layout';
import { cellEdges } from '../../domain/cell_edges';
import type { Size } from '../../domain/pixels';
import { palette } from './palette';

export interface ShownCell extends Cell {
  readonly pinned: boolean;
}

export interface MatrixModel {
  readonly rows: number;
  readonly cols: number;
  readonly rowLabels: readonly string[];
  readonly colLabels: readonly string[];
  readonly rowHeight: number | 'square';
  /** The accessible name of the grid. */
  readonly name: string;
  /** Another number when theme, language or resolution changed. */
  readonly look: number;
  /** What is described when nothing is pointed at, pinned or moved to. */
  readonly home: Cell;
  readonly bracket: readonly [first: number, end: number] | null;
  /** Another row that belongs to the shown one and gets a line around it. */
  readonly partner?: (cell: Cell) => number;
  /** What the live region says about a cell. */
  readonly describe: (cell: Cell) => string;
  /** Whether `describe` has all of it; what is still computed is said when a later model has it. By default it has all. */
  readonly knows?: (cell: Cell) => boolean;
  /** The column that `m` goes to from here; by default the key does nothing. */
  readonly nextLargest?: (cell: Cell) => number;
}

const TEMPLATE = `
  <div class="matrix-stage">
    <canvas class="matrix-labels" aria-hidden="true"></canvas>
    <div class="matrix-plot" role="grid" tabindex="0">
      <canvas class="matrix-cells" aria-hidden="true"></canvas>
      <div class="cross cross-row" aria-hidden="true"></div>
      <div class="cross cross-partner" aria-hidden="true" hidden></div>
      <div class="cross cross-col" aria-hidden="true"></div>
      <div class="cross cross-cell" aria-hidden="true"></div>
      <div role="row" class="visually-hidden"><div role="gridcell"></div></div>
    </div>
  </div>
  <p class="visually-hidden" role="status" aria-live="polite"></p>`;

let instances = 0;

/**
 * A matrix as a picture that can be read: a canvas that somebody else paints, labels on both axes, and
 * a crosshair moved by pointer or keyboard. Tells its host which cell is shown by the event
 * `cell-shown`, of pins by `cell-pinned`, and by `surface-resized` that the canvas is to be painted in
 * another size.
 */
export class MatrixView extends HTMLElement {
  #model: MatrixModel | null = null;
  #layout: Layout | null = null;
  #hover: Cell | null = null;
  #pin: Cell | null = null;
  /** Where the keyboard is; null while the pointer leads. */
  #cursor: Cell | null = null;
  #speech = 0;
  /** The cell of which something was said before its model knew all of it. */
  #unsaid: Cell | null = null;
  /** Where cells are painted a click or Enter does not pin: brush.ts says what they do. */
  paintable = false;
  #labelsDrawn: readonly unknown[] = [];
  /** From the observer: reading it from the element would make the browser lay out the page. */
  #width = 0;
  readonly #resize = new ResizeObserver(([entry]) => {
    const width = Math.round(entry?.contentRect.width ?? 0);
    if (width === this.#width) return;
    this.#width = width;
    this.#draw();
  });

  connectedCallback(): void {
    if (this.firstElementChild) return;
    this.innerHTML = TEMPLATE;
    const plot = this.#part('.matrix-plot');
    const gridCell = this.#part('[role=gridcell]');
    gridCell.id = `matrix-cell-${++instances}`;
    plot.setAttribute('aria-activedescendant', gridCell.id);
    plot.addEventListener('pointermove', (event) => this.#pointerMoved(event));
    plot.addEventListener('pointerleave', () => this.#setHover(null));
    plot.addEventListener('click', (event) => this.#clicked(event));
    plot.addEventListener('keydown', (event) => this.#keyPressed(event));
    plot.addEventListener('blur', () => this.#moveCursor(null));
    this.#resize.observe(this);
  }

  get model(): MatrixModel | null {
    return this.#model;
  }

  /** Redraws. A pin or cursor outside the new matrix is given up. */
  set model(model: MatrixModel | null) {
    const same = model && this.#model && sameShape(model, this.#model) && !this.hidden;
    this.#model = model;
    if (same && this.#layout) {
      this.#drawCross();
    } else {
      this.hidden = model === null;
      this.#hover = this.#inside(this.#hover);
      this.#pin = this.#inside(this.#pin);
      this.#cursor = this.#inside(this.#cursor);
      this.#draw();
    }
    if (this.#unsaid && this.#isKnown(this.#unsaid)) this.#say();
  }

  /** The cell whose numbers are shown. */
  get shown(): ShownCell | null {
    if (!this.#model) return null;
    const cell = this.pointed ?? this.#model.home;
    return { ...cell, pinned: sameCell(cell, this.#pin) };
  }

  /** The cell that a hand is at; null: the model says which one is shown. */
  get pointed(): Cell | null {
    return this.#cursor ?? this.#pin ?? this.#hover;
  }

  get pinned(): Cell | null {
    return this.#pin;
  }

  unpin(): void {
    if (this.#pin) this.#setPin(null);
  }

  /** What the canvas is to be painted at, in device pixels. */
  get size(): Size {
    const scale = (length: number) => Math.round(length * devicePixelRatio);
    return { width: scale(this.#layout?.width ?? 0), height: scale(this.#layout?.height ?? 0) };
  }

  /** The middle of a cell, in pixels of the canvas. */
  cellCentre({ row, col }: Cell): { x: number; y: number } {
    const { width, height } = this.size;
    const middle = (edges: Int32Array, i: number) => ((edges[i] ?? 0) + (edges[i + 1] ?? 0)) >> 1;
    return {
      x: middle(cellEdges(width, this.#model?.cols ?? 1), col),
      y: middle(cellEdges(height, this.#model?.rows ?? 1), row),
    };
  }

  get canvas(): HTMLCanvasElement {
    return find(this, '.matrix-cells', HTMLCanvasElement);
  }

  #part(selector: string): HTMLElement {
    return find(this, selector, HTMLElement);
  }

  #inside(cell: Cell | null): Cell | null {
    const model = this.#model;
    return cell && model && cell.row < model.rows && cell.col < model.cols ? cell : null;
  }

  // ---- drawing ----

  #draw(): void {
    const model = this.#model;
    if (!model || model.rows === 0 || this.#width === 0) return;
    const layout = this.#measure(model);
    const before = this.size;
    this.#layout = layout;
    const plot = this.#part('.matrix-plot');
    place(plot, layout.left, layout.top, layout.width, layout.height);
    this.#part('.matrix-stage').style.height = `${layout.top + layout.height + 2}px`;
    plot.setAttribute('aria-label', model.name);
    plot.setAttribute('aria-rowcount', String(model.rows));
    plot.setAttribute('aria-colcount', String(model.cols));
    const { width, height } = this.size;
    this.canvas.style.width = `${width / devicePixelRatio}px`;
    this.canvas.style.height = `${height / devicePixelRatio}px`;
    this.#drawCross();
    if (width === before.width && height === before.height) return;
    this.dispatchEvent(new CustomEvent('surface-resized', { bubbles: true }));
  }

  #measure(model: MatrixModel): Layout {
    return layoutMatrix({
      width: this.#width,
      maxHeight: Math.min(640, Math.max(300, innerHeight - 150)),
      rows: model.rows,
      cols: model.cols,
      rowHeight: model.rowHeight,
      rowLabels: model.rowLabels.map(flatLength),
      colLabels: model.colLabels.map(flatLength),
      colUpright: model.colLabels.map(uprightLength),
    });
  }

  #drawCross(): void {
    const [model, layout, shown] = [this.#model, this.#layout, this.shown];
    if (!model || !layout || !shown || model.rows === 0) return;
    const [w, h] = [layout.width / model.cols, layout.height / model.rows];
    place(this.#part('.cross-row'), 0, shown.row * h, layout.width, h);
    place(this.#part('.cross-col'), shown.col * w, 0, w, layout.height);
    const partner = model.partner?.(shown) ?? model.rows;
    this.#part('.cross-partner').hidden = partner >= model.rows;
    place(this.#part('.cross-partner'), 0, partner * h, layout.width, h);
    const cell = this.#part('.cross-cell');
    place(cell, shown.col * w, shown.row * h, w, h);
    cell.classList.toggle('pinned', shown.pinned);
    this.#drawLabels(model, layout, shown);
    this.#describeCell(model, shown);
  }

  /** Only when they differ: while the temperature moves, the labels stay. */
  #drawLabels(model: MatrixModel, layout: Layout, shown: ShownCell): void {
    const { rowLabels, colLabels, bracket } = model;
    const { row, col } = shown;
    const drawn = [rowLabels, colLabels, layout, palette(), row, col, bracket?.join()];
    if (drawn.every((part, i) => part === this.#labelsDrawn[i])) return;
    this.#labelsDrawn = drawn;
    const stage = { width: this.#width, height: layout.top + layout.height + 2 };
    const canvas = find(this, '.matrix-labels', HTMLCanvasElement);
    drawLabels(canvas, stage, layout, { rowLabels, colLabels, bracket, active: { row, col } });
  }

  #describeCell(model: MatrixModel, shown: ShownCell): void {
    const gridCell = this.#part('[role=gridcell]');
    setText(gridCell, model.describe(shown));
    gridCell.setAttribute('aria-colindex', String(shown.col + 1));
    gridCell.setAttribute('aria-selected', String(shown.pinned));
    gridCell.parentElement?.setAttribute('aria-rowindex', String(shown.row + 1));
  }

  // ---- pointing ----

  cellAt(event: MouseEvent): Cell | null {
    const model = this.#model;
    if (!model) return null;
    const box = this.canvas.getBoundingClientRect();
    const col = Math.floor(((event.clientX - box.left) / box.width) * model.cols);
    const row = Math.floor(((event.clientY - box.top) / box.height) * model.rows);
    return row >= 0 && col >= 0 ? this.#inside({ row, col }) : null;
  }

  #pointerMoved(event: PointerEvent): void {
    if (event.pointerType === 'touch') return; // a finger on the picture scrolls; a tap pins
    const cell = this.cellAt(event);
    if (!sameCell(cell, this.#hover)) this.#setHover(cell);
  }

  #clicked(event: MouseEvent): void {
    const cell = this.cellAt(event);
    if (!cell) return;
    this.#cursor = null;
    if (this.paintable) this.#changed();
    else this.#setPin(sameCell(cell, this.#pin) ? null : cell);
  }

  #setHover(cell: Cell | null): void {
    this.#hover = cell;
    this.#changed();
  }

  #setPin(cell: Cell | null): void {
    this.#pin = cell;
    this.#changed();
    this.speak();
    this.dispatchEvent(new CustomEvent('cell-pinned', { bubbles: true, detail: cell }));
  }

  #changed(): void {
    this.#drawCross();
    this.dispatchEvent(new CustomEvent('cell-shown', { bubbles: true, detail: this.shown }));
  }

  // ---- keyboard ----

  #keyPressed(event: KeyboardEvent): void {
    const [model, from] = [this.#model, this.shown];
    if (!model || !from || event.altKey || event.metaKey) return;
    if (event.key === 'Enter' && !this.paintable) {
      this.#setPin(from.pinned ? null : from);
    } else if (event.key === 'Escape' && this.#pin) {
      this.#setPin(null);
    } else {
      const to = keyTarget(event, from, model);
      if (!to) return;
      this.#moveCursor(to);
      this.speak();
    }
    event.preventDefault();
  }

  #moveCursor(cell: Cell | null): void {
    if (sameCell(cell, this.#cursor)) return;
    this.#cursor = cell;
    this.#unsaid = null;
    this.#changed();
  }

  /** Waits until the keys rest: a live region that talks over itself is of no use. */
  speak(): void {
    clearTimeout(this.#speech);
    this.#unsaid = null;
    this.#speech = window.setTimeout(() => this.#say(), 150);
  }

  #say(): void {
    const shown = this.shown;
    if (!this.#model || !shown) return;
    this.#unsaid = this.#isKnown(shown) ? null : shown;
    this.#part('[role=status]').textContent = this.#model.describe(shown);
  }

  /** Whether this is the shown cell, and its model can tell all of it. */
  #isKnown(cell: Cell): boolean {
    return sameCell(cell, this.shown) && (this.#model?.knows?.(cell) ?? true);
  }
}

function sameCell(a: Cell | null, b: Cell | null): boolean {
  return a === b || (a !== null && b !== null && a.row === b.row && a.col === b.col);
}

/** Whether a new model can stand where the old one does. */
function sameShape(a: MatrixModel, b: MatrixModel): boolean {
  return (
    a.rowLabels === b.rowLabels &&
    a.colLabels === b.colLabels &&
    a.name === b.name &&
    a.bracket?.[1] === b.bracket?.[1] &&
    a.look === b.look
  );
}

function place(element: HTMLElement, left: number, top: number, width: number, height: number) {
  const { style } = element;
  style.left = `${left}px`;
  style.top = `${top}px`;
  style.width = `${width}px`;
  style.height = `${height}px`;
}

customElements.define('qkv-matrix', MatrixView);
