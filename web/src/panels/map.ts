import type { Frame } from '../engine/protocol';
import { t, type Key } from '../i18n';
import { cividis } from '../matrix/colour';
import { MatrixView, type Cell } from '../matrix/view';
import { allowedKeys, digits, largestBelow, rankInRow, weightAt } from '../numbers';
import { position, TICKS, weightCells } from '../scale';
import { SCALES, type Scale } from '../state';
import { isCurrent, Panel, type View } from './panel';

/** The weights of one head, enlarged, with the legend of its colours. */
export class MapPanel extends Panel {
  protected template(): string {
    const scales = SCALES.map(
      (scale) => `
        <label><input type="radio" name="scale" value="${scale}"><span data-t="map.${scale}"></span></label>`,
    );
    return `
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
        <fieldset class="segmented">
          <legend class="visually-hidden" data-t="map.scale"></legend>${scales.join('')}
        </fieldset>
      </div>`;
  }

  protected override ready(): void {
    const canvas = this.find('.legend canvas', HTMLCanvasElement);
    const image = new ImageData(256, 1);
    image.data.set(cividis);
    canvas.getContext('2d')?.putImageData(image, 0, 0);
    this.find('.segmented', HTMLElement).addEventListener('change', (event) => {
      const { value } = event.target as HTMLInputElement;
      const scale = SCALES.find((name) => name === value);
      if (scale) this.change({ scale });
    });
    this.addEventListener('cell-pinned', (event) => {
      const cell = (event as CustomEvent<Cell | null>).detail;
      if (cell) this.change({ query: cell.row });
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  update(view: View): void {
    const { frame, state } = view;
    const empty = !frame || frame.request.tokens.length === 0;
    for (const radio of this.querySelectorAll<HTMLInputElement>('[name=scale]')) {
      radio.checked = radio.value === state.scale;
    }
    this.#updatePlaceholder(view, empty);
    this.#updateTicks(state.scale);
    const pin = this.matrix.pinned;
    if (pin && isCurrent(view) && pin.row !== view.query) this.matrix.unpin();
    const { head, scale } = state;
    if (!this.changed(frame?.weights, view.query, head, scale, view.look)) return;
    this.matrix.model = empty ? null : mapModel(frame, view);
  }

  /** The part that follows the crosshair. */
  updateShown({ frame, state, shown }: View): void {
    const now = this.find('.legend-now', HTMLElement);
    const known = frame && shown && shown.col < allowedKeys(frame, shown.row);
    now.hidden = !known;
    if (!known) return;
    const weight = weightAt(frame, state.head, shown.row, shown.col);
    now.style.left = `${position(weight, state.scale) * 100}%`;
  }

  #updatePlaceholder({ engine, list }: View, empty: boolean): void {
    let key: Key | null = null;
    if (empty && list.tokens.length === 0) key = 'map.empty';
    else if (empty) key = engine.kind === 'failed' ? 'map.failed' : 'map.loading';
    const placeholder = this.find('.placeholder', HTMLElement);
    placeholder.hidden = key === null;
    this.setText('.placeholder', key ? t(key) : '');
  }

  #updateTicks(scale: Scale): void {
    const ticks = TICKS[scale].map((value) => {
      const tick = document.createElement('span');
      tick.textContent =
        scale === 'log' && value < 1 ? digits(value, 1).replace('1×', '') : `${value}`;
      tick.style.left = `${position(value, scale) * 100}%`;
      return tick;
    });
    this.find('.ticks', HTMLElement).replaceChildren(...ticks);
  }
}

function mapModel(frame: Frame, view: View) {
  const { head, scale } = view.state;
  const { tokens } = frame.request;
  const query = Math.min(view.query, tokens.length - 1);
  return {
    rows: tokens.length,
    cols: tokens.length,
    rowLabels: tokens,
    colLabels: tokens,
    rowHeight: 'square' as const,
    cells: weightCells(frame, head, scale),
    ramp: cividis,
    name: t('map.name', { head: head + 1, count: tokens.length }),
    home: { row: query, col: largestBelow(frame, head, query) },
    bracket: null,
    describe: (cell: Cell) => describeWeight(frame, head, cell),
    nextLargest: ({ row, col }: Cell) => {
      return largestBelow(frame, head, row, weightAt(frame, head, row, col));
    },
  };
}

/** What is said of a cell, in one sentence. */
function describeWeight(frame: Frame, head: number, { row, col }: Cell): string {
  const { tokens } = frame.request;
  const names = { row, query: tokens[row] ?? '', col, key: tokens[col] ?? '' };
  const allowed = allowedKeys(frame, row);
  if (col >= allowed) return t('map.cellMasked', names);
  const weight = digits(weightAt(frame, head, row, col));
  return t('map.cell', { ...names, weight, rank: rankInRow(frame, head, row, col), allowed });
}

customElements.define('qkv-map', MapPanel);
