import { paintRamp } from '../../../ui/matrix/legend';
import type { Cell } from '../../../ui/matrix/cell';
import { LOOKS, SHOWS, type Show } from '../../../domain/choices';
import type { RowData } from '../../../domain/row_data';
import type { Frame } from '../../../worker/protocol';
import type { Size } from '../../../domain/pixels';
import { t } from '../texts';
import { cividis } from '../../../domain/cividis';
import { palette } from '../../../ui/matrix/palette';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { allowedCount, isAllowed, nextLargest, rankInRow } from '../../../domain/rows';
import { isSigned, position, ticks } from '../../../domain/colour_scale';
import { isCurrent, Panel, type View } from '../../panel';
import { headName } from '../../head_names';
import { missingModel } from '../../missing_model';
import { radiosHtml } from '../../../ui/controls';

/** What the colours mean at the moment: two heads compared are always a difference. */
function shownAs(frame: Frame): Show | 'difference' {
  const { show, other } = frame.request.view;
  return other === null ? show : 'difference';
}

const segments = (name: string, values: readonly string[]) =>
  radiosHtml(name, values, (value) => `map.${value}`);

/** One head enlarged, with the legend of its colours and what can be shown in its place. */
export class PicturePart extends Panel {
  #view: View | null = null;

  protected template(): string {
    return `
      <div class="tools-row" data-control>
        <fieldset class="segmented"><legend class="visually-hidden" data-t="map.look"></legend>${segments('look', LOOKS)}</fieldset>
        <fieldset class="segmented on-map"><legend class="visually-hidden" data-t="map.show"></legend>${segments('show', SHOWS)}</fieldset>
        <label class="minus on-map"><span data-t="map.minus"></span> <select id="minus"></select></label>
      </div>
      <div class="on-map">
        <p class="axes"><span data-t="map.axes"></span></p>
        <qkv-matrix></qkv-matrix>
        <p class="placeholder" role="status"></p>
        <div class="legend">
          <div class="legend-scale">
            <canvas width="256" height="1" aria-hidden="true"></canvas>
            <span class="legend-now" aria-hidden="true"></span>
            <div class="ticks"></div>
          </div>
          <span class="legend-masked"><span class="swatch"></span><span data-t="map.masked"></span></span>
        </div>
        <p class="hint pooled" data-t="map.pooled"></p>
        <p class="hint sampled" role="status" data-t="map.sampled" hidden></p>
      </div>`;
  }

  protected override ready(): void {
    this.give('map', this.matrix.canvas);
    this.find('.tools-row', HTMLElement).addEventListener('change', (event) => {
      const control = event.target as HTMLInputElement | HTMLSelectElement;
      const show = SHOWS.find((name) => control.name === 'show' && name === control.value);
      const look = LOOKS.find((name) => control.name === 'look' && name === control.value);
      if (show) this.change({ show });
      else if (look) this.change({ look });
      else this.change({ other: control.value === '' ? null : +control.value });
    });
    this.addEventListener('cell-pinned', (event) => {
      const cell = (event as CustomEvent<Cell | null>).detail;
      if (cell) this.change({ query: cell.row });
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  override surfaces(): Record<string, Size> {
    return this.matrix.hidden || this.#view?.state.look === 'arcs' ? {} : { map: this.matrix.size };
  }

  update(view: View): void {
    this.#view = view;
    const { frame, state, list } = view;
    const empty = list.tokens.length === 0;
    for (const name of ['show', 'look'] as const) {
      for (const radio of this.querySelectorAll<HTMLInputElement>(`[name=${name}]`)) {
        radio.checked = radio.value === state[name];
      }
    }
    for (const part of this.querySelectorAll<HTMLElement>('.on-map')) {
      part.hidden = state.look !== 'map';
    }
    this.#updateMinus(view);
    this.#updatePlaceholder(view, empty);
    const pin = this.matrix.pinned;
    if (pin && isCurrent(view) && pin.row !== view.query) this.matrix.unpin();
    this.matrix.model = empty || view.engine.kind === 'failed' ? null : mapModel(view);
    const show = frame ? shownAs(frame) : state.show;
    const range = frame?.range ?? 1;
    if (this.changed(show, range, view.look)) this.#updateLegend(show, range);
    const device = this.matrix.size.width;
    const sampled = (frame?.step ?? 1) > 1;
    this.find('.sampled', HTMLElement).hidden = !sampled;
    this.find('.pooled', HTMLElement).hidden =
      sampled || device === 0 || list.tokens.length <= device;
  }

  #updateMinus({ state, heads: of, frame, look }: View): void {
    const select = this.find('#minus', HTMLSelectElement);
    const heads = frame?.numHeads ?? 0;
    const key = [heads, state.source, of.trainedHeads?.perLayer, look].join();
    if (select.dataset['of'] !== key) {
      select.dataset['of'] = key;
      const option = (value: string, text: string) => new Option(text, value);
      select.replaceChildren(
        option('', t('map.minusNone')),
        ...Array.from({ length: heads }, (_, head) => option(String(head), headName(of, head))),
      );
    }
    select.value = state.other === null ? '' : String(state.other);
  }

  #updatePlaceholder(view: View, empty: boolean): void {
    let why: string | null = null;
    if (empty) why = (view.state.source === 'trained' && missingModel(view)) || t('map.empty');
    else if (view.engine.kind === 'failed') why = t('map.failed');
    this.find('.placeholder', HTMLElement).hidden = why === null;
    this.find('.legend', HTMLElement).hidden = why !== null;
    this.setText('.placeholder', why ?? '');
  }

  #updateLegend(show: Show | 'difference', range: number): void {
    paintRamp(this, isSigned(show) ? palette().diverging : cividis);
    const written = ticks(show, range).map((value) => {
      const tick = document.createElement('span');
      if (show === 'log' && value < 1) tick.textContent = digits(value, 1).replace('1×', '');
      else if (isSigned(show)) tick.textContent = digits(value, 3);
      else tick.textContent = String(value);
      tick.style.left = `${position(value, show, range) * 100}%`;
      return tick;
    });
    this.find('.ticks', HTMLElement).replaceChildren(...written);
  }

  /** The part that follows the crosshair. */
  updateShown({ frame, list }: View): void {
    const now = this.find('.legend-now', HTMLElement);
    const shown = this.matrix.shown;
    const row = frame?.described;
    const known = frame && shown && row?.row === shown.row && shown.col < list.tokens.length;
    const value = known ? valueAt(frame, row, shown.col) : NaN;
    now.hidden = !Number.isFinite(value);
    if (now.hidden || !frame) return;
    now.style.left = `${position(value, shownAs(frame), frame.range) * 100}%`;
  }
}

/** The number behind the colour of a cell of the described row; NaN where masked. */
function valueAt(frame: Frame, row_: RowData, col: number): number {
  if (isMasked(frame, { row: row_.row, col })) return NaN;
  const of = (row: RowData) =>
    (frame.request.view.show === 'scores' ? row.scores : row.weights)[col] ?? NaN;
  const { otherDescribed } = frame;
  if (frame.request.view.other === null) return of(row_);
  return otherDescribed?.row === row_.row ? of(row_) - of(otherDescribed) : NaN;
}

function mapModel(view: View): MatrixModel {
  const { state, list, frame, look } = view;
  const { tokens } = list;
  const current = isCurrent(view) ? view.frame : null;
  const head = frame?.request.view.head ?? state.head;
  return {
    rows: tokens.length,
    cols: tokens.length,
    rowLabels: tokens,
    colLabels: tokens,
    rowHeight: 'square',
    look,
    name: t('map.name', { head: headName(view.heads, head), count: tokens.length }),
    home: { row: view.query, col: current?.query?.largest ?? view.query },
    bracket: null,
    describe: (cell) => (current ? describeCell(current, cell) : ''),
    knows: (cell) => current !== null && (isMasked(current, cell) || !!rowOf(current, cell.row)),
    nextLargest: ({ row, col }) => {
      const row_ = current && rowOf(current, row);
      return row_ ? nextLargest(row_, col) : col;
    },
  };
}

/** The numbers of a row, if they are here: a row that the crosshair came to is requested from the worker. */
const rowOf = (frame: Frame, row: number): RowData | undefined =>
  [frame.described, frame.query].find((data): data is RowData => data?.row === row);

function isMasked(frame: Frame, { row, col }: Cell): boolean {
  const { tokens, mask } = frame.request.layer;
  return !isAllowed(mask, row, col, tokens.length);
}

/** What is said of a cell, in one sentence. */
function describeCell(frame: Frame, { row, col }: Cell): string {
  const { tokens, mask } = frame.request.layer;
  const names = { row, query: tokens[row] ?? '', col, key: tokens[col] ?? '' };
  if (isMasked(frame, { row, col })) return t('map.cellMasked', names);
  const row_ = rowOf(frame, row);
  if (!row_) return t('map.cellUnknown', names);
  const weight = digits(row_.weights[col] ?? NaN);
  const allowed = allowedCount(mask, row, tokens.length);
  return t('map.cell', { ...names, weight, rank: rankInRow(row_, col), allowed });
}

customElements.define('qkv-picture', PicturePart);
