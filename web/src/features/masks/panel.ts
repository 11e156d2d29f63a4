import './style.css';
import { paintRamp } from '../../ui/matrix/legend';
import type { Cell } from '../../ui/matrix/cell';
import type { MasksResult } from './worker/masked_grid';
import type { Frame } from '../../worker/protocol';
import type { Size } from '../../domain/pixels';
import type { Figure } from '../../ui/export_figure';
import { masksFigure } from './page/figure';
import { t, type Key } from './feature';
import { brushing } from '../../ui/matrix/brush';
import { cividis } from '../../domain/cividis';
import { MatrixView, type MatrixModel } from '../../ui/matrix/view';
import { GRID, paintCell } from './shared/mask_grid';
import { digits } from '../../ui/numbers';
import type { State } from '../../state/state';
import { headName } from '../head_names';
import { CompositePanel, Panel, type View } from '../panel';
import { ChoicePart } from './page/mask_choice_part';
import { OrderPart } from './page/order_part';

/** A mask to choose or to paint, the weights under it, and what becomes of them in another order. */
class MasksPanel extends CompositePanel {
  parts: readonly Panel[] = [];

  protected template(): string {
    return `
      <div class="card masks-card">
        <qkv-mask-grid></qkv-mask-grid>
        <qkv-mask-choice></qkv-mask-choice>
        <qkv-mask-order></qkv-mask-order>
      </div>`;
  }

  protected override ready(): void {
    this.parts = [
      this.find('qkv-mask-grid', GridPart),
      this.find('qkv-mask-choice', ChoicePart),
      this.find('qkv-mask-order', OrderPart),
    ];
  }

  override figure(view: View): Promise<Figure | null> {
    const { canvas } = this.find('qkv-mask-grid', GridPart).matrix;
    const { frame } = view;
    return Promise.resolve(frame?.masks ? masksFigure(frame, frame.masks, canvas) : null);
  }
}

/** The weights under the mask; its cells are painted by pointer and keyboard. */
class GridPart extends Panel {
  #state: State | null = null;
  #result: MasksResult | null = null;
  /** What the stroke under way makes of cells. */
  #allow = false;
  /** A cell was painted, and what came of it is still to be said. */
  #painted = false;

  protected template(): string {
    return `
      <p class="axes" data-t="map.axes"></p>
      <qkv-matrix></qkv-matrix>
      <p class="placeholder"></p>
      <div class="legend">
        <div class="legend-scale">
          <canvas width="256" height="1" aria-hidden="true"></canvas>
          <div class="ticks"><span>0</span><span>0.5</span><span>1</span></div>
        </div>
        <span class="legend-masked"><span class="swatch"></span><span data-t="map.masked"></span></span>
      </div>
      <p class="told"></p>
      <p class="hint" data-t="masks.brush"></p>`;
  }

  protected override ready(): void {
    this.give('masks', this.matrix.canvas);
    brushing(this.matrix, (cell, begins) => this.#paint(cell, begins));
    this.addEventListener('cell-shown', () => this.#tell());
    paintRamp(this, cividis);
    this.querySelectorAll<HTMLElement>('.ticks span').forEach((tick, i) => {
      tick.style.left = `${i * 50}%`;
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  /** Asked for also before there is a result: this is how the worker learns that it is wanted. */
  override surfaces(): Record<string, Size> {
    return this.#state ? { masks: this.matrix.size } : {};
  }

  update(view: View): void {
    const { state, frame, engine, list } = view;
    this.#state = state;
    const learned = state.source === 'trained';
    const result = list.tokens.length > 0 && !learned ? (frame?.masks ?? this.#result) : null;
    if (!this.changed(result, frame?.request.layer.source, learned, engine.kind, view.look)) return;
    this.#result = result;
    const broken = engine.kind === 'failed';
    const shown = result !== null && frame !== null && !broken;
    this.find('.placeholder', HTMLElement).hidden = shown;
    this.find('.legend', HTMLElement).hidden = !shown;
    const waiting = learned ? 'masks.learned' : placeholderOf(broken, list.tokens.length);
    this.setText('.placeholder', t(waiting));
    this.matrix.model = shown ? gridModel(result, frame, view.look) : null;
    this.#tell();
    if (!this.#painted) return;
    this.#painted = false;
    this.matrix.speak();
  }

  /** The first cell of a stroke turns over, and the others become like it. */
  #paint({ row, col }: Cell, begins: boolean): void {
    const [state, result] = [this.#state, this.#result];
    if (!state || !result) return;
    const count = result.tokens.length;
    if (begins) this.#allow = result.mask[row * count + col] === 0;
    this.#painted = true;
    const patch = {
      maskKind: 'painted',
      maskPaint: paintCell(state, count, { row, col }, this.#allow),
    } as const;
    this.#state = { ...state, ...patch }; // the next cell may come before the next drawing
    this.change(patch);
  }

  #tell(): void {
    const { shown } = this.matrix;
    this.setText('.told', this.#result && shown ? describeMasked(this.#result, shown) : '');
  }
}

function placeholderOf(broken: boolean, tokens: number): Key {
  if (broken) return 'map.failed';
  return tokens === 0 ? 'map.empty' : 'map.loading';
}

function gridModel(result: MasksResult, frame: Frame, look: number): MatrixModel {
  const { tokens, head } = result;
  const name = headName(frame.request.layer, head);
  return {
    rows: tokens.length,
    cols: tokens.length,
    rowLabels: tokens,
    colLabels: tokens,
    rowHeight: 'square',
    look,
    name: t('masks.name', { head: name, count: tokens.length, most: GRID }),
    home: { row: tokens.length - 1, col: 0 },
    bracket: null,
    describe: (cell) => describeMasked(result, cell),
  };
}

function describeMasked({ tokens, mask, weights, empty }: MasksResult, { row, col }: Cell): string {
  const names = { row, query: tokens[row] ?? '', col, key: tokens[col] ?? '' };
  if (empty.includes(row)) return t('masks.cellEmpty', names);
  const at = row * tokens.length + col;
  if (mask[at] === 0) return t('map.cellMasked', names);
  return t('masks.cell', { ...names, weight: digits(weights[at] ?? NaN) });
}

customElements.define('qkv-mask-grid', GridPart);
customElements.define('qkv-panel-masks', MasksPanel);
