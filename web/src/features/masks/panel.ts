import './style.css';
import { html, type TemplateResult } from 'lit-html';
import { legendScale } from '../../ui/lit/legends';
import { rich } from '../../ui/lit/texts';
import type { Cell } from '../../ui/matrix/cell';
import type { MasksResult } from './worker/masked_grid';
import type { Frame } from '../../worker/protocol';
import type { Figure } from '../../ui/export_figure';
import { masksFigure } from './page/figure';
import { t, type Key } from './feature';
import { brushing } from '../../ui/matrix/brush';
import { cividis } from '../../domain/cividis';
import type { MatrixModel } from '../../ui/matrix/view';
import { GRID, paintCell } from './shared/mask_grid';
import { digits } from '../../ui/numbers';
import type { State } from '../../state/state';
import { headName } from '../head_names';
import { MatrixPanel } from '../lit_panel';
import { CompositePanel, type Panel, type View } from '../panel';
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
    const { matrix } = this.find('qkv-mask-grid', GridPart);
    const { frame } = view;
    return Promise.resolve(frame?.masks ? masksFigure(frame, frame.masks, matrix.canvas) : null);
  }
}

/** The weights under the mask; its cells are painted by pointer and keyboard. */
class GridPart extends MatrixPanel {
  protected readonly surface = 'masks';
  #state: State | null = null;
  #result: MasksResult | null = null;
  /** What the stroke under way makes of cells. */
  #allow = false;
  /** The grid in which a cell was painted, until what came of it is said. */
  #painted: MasksResult | null = null;

  override update(view: View): void {
    const { state, frame, list } = view;
    this.#state = state;
    this.#result = list.tokens.length > 0 ? (frame?.masks ?? this.#result) : null;
    super.update(view);
  }

  protected inputs({ state, frame, engine, list, look }: View): readonly unknown[] {
    const isEmpty = list.tokens.length === 0;
    return [this.#result, frame?.request.layer.source, state.source, isEmpty, engine.kind, look];
  }

  protected render(view: View): TemplateResult {
    const { frame, engine, look } = view;
    const result = engine.kind === 'failed' ? null : this.#result;
    this.matrix.model = result && frame && gridModel(result, frame, look);
    const isShown = this.matrix.model !== null;
    const cell = this.matrix.shown;
    return html`
      <p class="axes">${rich('map.axes')}</p>
      ${this.matrix}
      <p class="placeholder" ?hidden=${isShown}>${t(missingKey(view))}</p>
      <div class="legend" ?hidden=${!isShown}>
        ${legendScale(cividis, ['0', '0.5', '1'])}
        <span class="legend-masked"><span class="swatch"></span><span>${t('map.masked')}</span></span>
      </div>
      <p class="described">${result && cell && describeMasked(result, cell)}</p>
      <p class="hint">${t('masks.brush')}</p>`;
  }

  protected override rendered(view: View): void {
    super.rendered(view);
    const { matrix } = this;
    if (!matrix.paintable) brushing(matrix, (cell, begins) => this.#paint(cell, begins));
    if (!this.#painted || this.#painted === this.#result) return;
    this.#painted = null;
    matrix.speak();
  }

  /** The first cell of a stroke turns over, and the others become like it. */
  #paint({ row, col }: Cell, begins: boolean): void {
    const [state, result] = [this.#state, this.#result];
    if (!state || !result) return;
    const count = result.tokens.length;
    if (begins) this.#allow = result.mask[row * count + col] === 0;
    this.#painted = result;
    const patch = {
      maskKind: 'painted',
      maskPaint: paintCell(state, count, { row, col }, this.#allow),
    } as const;
    this.#state = { ...state, ...patch }; // the next cell may come before the next drawing
    this.change(patch);
  }
}

/** Why there is no grid. */
function missingKey({ state, engine, list }: View): Key {
  if (engine.kind === 'failed') return 'map.failed';
  if (list.tokens.length === 0 && state.source === 'trained') return 'masks.learned';
  return list.tokens.length === 0 ? 'map.empty' : 'map.loading';
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
