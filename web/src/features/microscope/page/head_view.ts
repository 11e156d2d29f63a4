import { largestAt } from '../../../domain/largest_at';
import { html, type TemplateResult } from 'lit-html';
import { paintCells, rangeOf } from '../../../ui/matrix/paint_cells';
import type { Cell } from '../../../ui/matrix/cell';
import { paintWeights } from '../../../ui/matrix/paint_weights';
import { PaintedMatrix } from '../../../ui/matrix/painted_matrix';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { t } from '../feature';
import type { HeadPass, WholePass, Zoom } from '../shared/protocol';
import { headText } from './names';
import { lengthText } from './pass_rows';

const VECTORS = ['q', 'k', 'v', 'z'] as const;

const lengthOf = (values: Float32Array) =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));

/** One head of a pass: the map of its weights, and its vectors at the token. */
export class HeadView {
  readonly #host: HTMLElement & { pinned(cell: Cell): void };
  #matrix: PaintedMatrix | null = null;
  #shown: readonly unknown[] = [];

  constructor(host: HTMLElement & { pinned(cell: Cell): void }) {
    this.#host = host;
  }

  /** The head that is shown; null: another place is shown, or it is still computed. */
  #headOf({ head }: WholePass, zoom: Zoom): HeadPass | null {
    return head && headText(head.head) === zoom.join('.') ? head : null;
  }

  /** Its elements stay while other places are shown: the map is made once. */
  render(pass: WholePass, zoom: Zoom): TemplateResult {
    const head = this.#headOf(pass, zoom);
    const pinned = ({ detail }: CustomEvent<Cell | null>) => detail && this.#host.pinned(detail);
    const cell = this.#host.querySelector<MatrixView>('.pass-inside qkv-matrix')?.shown;
    return html`<div class="microscope-pair pass-inside" ?hidden=${head === null}>
      <div><h4>${t('microscope.pass.mapTitle')}</h4>
        <qkv-matrix @cell-pinned=${pinned}></qkv-matrix>
        <p class="hint pass-cell">${head && cell ? describe(pass, head, cell) : ''}</p></div>
      <div><h4>${t('microscope.pass.vectorsTitle', { at: pass.at })}</h4>
        <p class="hint">${t('microscope.pass.vectorsHint')}</p>
        <dl class="pass-vectors">${VECTORS.map((name) => this.#vector(name, head))}</dl></div>
    </div>`;
  }

  #vector(name: (typeof VECTORS)[number], head: HeadPass | null): TemplateResult {
    const values = head?.[name] ?? new Float32Array(1);
    const mark = name === 'z' ? 'role role-o' : `role role-${name}`;
    return html`<dt><span class=${mark}>${name}</span></dt>
      <dd><canvas data-vector=${name} width=${values.length} height="1" aria-hidden="true"></canvas>
        <span>${t('microscope.pass.vector', { count: values.length, length: lengthText(lengthOf(values)) })}</span></dd>`;
  }

  /** Paints what stands; whether there is another head to tell. */
  show(pass: WholePass, zoom: Zoom, look: number): boolean {
    const head = this.#headOf(pass, zoom);
    if (this.#shown[0] === head && this.#shown[1] === look) return false;
    this.#shown = [head, look];
    const view = this.#host.querySelector<MatrixView>('.pass-inside qkv-matrix');
    if (!view) return false;
    this.#matrix ??= new PaintedMatrix(view);
    if (!head) {
      this.#matrix.hide();
      return false;
    }
    const model = modelOf(pass, head, look);
    this.#matrix.show(model, (cells) => paintWeights(cells, head.map, model.cols));
    for (const name of VECTORS) {
      const canvas = this.#host.querySelector<HTMLCanvasElement>(`[data-vector=${name}]`);
      if (canvas) paintCells(canvas, head[name], rangeOf(head[name]));
    }
    return true;
  }
}

function describe({ labels }: WholePass, { head, map }: HeadPass, { row, col }: Cell): string {
  return t('microscope.pass.cell', {
    ...{ name: headText(head), query: row, key: col },
    ...{ from: labels[row] ?? '', to: labels[col] ?? '' },
    value: digits(map[row * labels.length + col] ?? NaN, 3),
  });
}

function modelOf(pass: WholePass, head: HeadPass, look: number): MatrixModel {
  const { at, labels } = pass;
  const row = head.map.subarray(at * labels.length, (at + 1) * labels.length);
  const col = largestAt(row);
  return {
    ...{ rows: labels.length, cols: labels.length, rowLabels: labels, colLabels: labels },
    ...{ rowHeight: 'square', look, bracket: null, home: { row: at, col } },
    name: t('microscope.pass.mapName', { name: headText(head.head), count: labels.length }),
    describe: (cell) => describe(pass, head, cell),
  };
}
