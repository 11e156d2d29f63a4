import { paintRamp } from '../../../ui/matrix/legend';
import { cividis } from '../../../domain/cividis';
import type { Size } from '../../../domain/pixels';
import type { Cell } from '../../../ui/matrix/cell';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import type { HeadSource } from '../../../domain/sources';
import { headName } from '../../head_names';
import type { Cross } from '../worker/residual_cross';
import { CONTEXTS } from '../state';
import { t } from '../feature';

/** Queries from the sentence of the page, keys and values from another one. */
export class CrossPart extends Panel {
  #shown: Cross | null = null;

  protected template(): string {
    return `
      <div class="cross-words">
      <h3 data-t="block.cross"></h3>
      <p class="cross-intro"></p>
      <div class="control cross-text" data-control><label for="block-context" data-t="block.context"></label>
        <input type="text" id="block-context" autocomplete="off"></div>
      </div>
      <div class="cross-map">
      <p class="axes" data-t="map.axes"></p>
      <qkv-matrix></qkv-matrix>
      <div class="legend">
        <div class="legend-scale">
          <canvas width="256" height="1" aria-hidden="true"></canvas>
          <div class="ticks"><span>0</span><span>0.5</span><span>1</span></div>
        </div>
        <p class="told"></p>
      </div>
      </div>`;
  }

  protected override ready(): void {
    this.give('cross', this.matrix.canvas);
    const field = this.find('#block-context', HTMLInputElement);
    field.addEventListener('input', () => this.change({ blockContext: field.value }));
    this.addEventListener('cell-shown', () => this.#tell());
    paintRamp(this, cividis);
    this.querySelectorAll<HTMLElement>('.ticks span').forEach((tick, i) => {
      tick.style.left = `${i * 50}%`;
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  override surfaces(): Record<string, Size> {
    return { cross: this.matrix.size };
  }

  update({ state, heads, frame, query, look }: View): void {
    const cross = frame?.block?.cross ?? null;
    const written = state.blockContext || CONTEXTS[state.language];
    if (!this.changed(cross, written, query, look)) return;
    const field = this.find('#block-context', HTMLInputElement);
    if (field.value !== written && document.activeElement !== field) field.value = written;
    this.#shown = cross;
    const empty = !cross || cross.cols.length === 0;
    this.matrix.model = empty ? null : crossModel(cross, heads, query, look);
    this.find('.legend', HTMLElement).hidden = empty;
    if (!cross) return;
    this.setText('.cross-intro', t('block.crossIntro', { head: headName(heads, cross.head) }));
    this.#tell();
  }

  #tell(): void {
    const { shown } = this.matrix;
    this.setText('.told', this.#shown && shown ? describe(this.#shown, shown) : '');
  }
}

function largestOf({ weights, cols }: Cross, row: number): number {
  const of = weights.subarray(row * cols.length, (row + 1) * cols.length);
  return of.reduce((best, value, j) => (value > (of[best] ?? 0) ? j : best), 0);
}

function crossModel(cross: Cross, of: HeadSource, query: number, look: number): MatrixModel {
  const { rows, cols, head } = cross;
  const row = Math.max(0, Math.min(query, rows.length - 1));
  return {
    rows: rows.length,
    cols: cols.length,
    rowLabels: rows,
    colLabels: cols,
    rowHeight: 'square',
    look,
    name: t('block.crossName', {
      ...{ head: headName(of, head), queries: rows.length, keys: cols.length },
    }),
    home: { row, col: largestOf(cross, row) },
    bracket: null,
    describe: (cell) => describe(cross, cell),
  };
}

function describe({ rows, cols, weights }: Cross, { row, col }: Cell): string {
  const names = { row, query: rows[row] ?? '', col, key: cols[col] ?? '' };
  return t('block.cellWeight', {
    ...names,
    value: digits(weights[row * cols.length + col] ?? NaN),
  });
}

customElements.define('qkv-block-cross', CrossPart);
