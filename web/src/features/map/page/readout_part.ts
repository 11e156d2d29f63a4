import type { Cell } from '../../../ui/matrix/cell';
import { find } from '../../../ui/dom';
import type { RowData } from '../../../domain/row_data';
import type { Frame } from '../../../worker/protocol';
import { t } from '../texts';
import type { ShownCell } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { allowedCount, isAllowed, rankInRow, rowSum } from '../../../domain/rows';
import { isCurrent, Panel, type View } from '../../panel';

const SHOWN_KEYS = 5;

/** The numbers behind one cell of the map, and behind its row. */
export class ReadoutPart extends Panel {
  protected template(): string {
    return `
      <h3 data-t="readout.title"></h3>
      <p class="pair">
        <span class="role-q"><span aria-hidden="true">▸ </span><bdi class="query"></bdi><sub></sub></span>
        <span class="arrow" aria-hidden="true">→</span>
        <span class="role-k"><bdi class="key"></bdi><sub></sub><span aria-hidden="true"> ◂</span></span>
      </p>
      <p class="weight"></p>
      <dl>
        <div><dt data-t="readout.score"></dt><dd class="score"></dd></div>
        <div><dt data-t="readout.rank"></dt><dd class="rank"></dd></div>
        <div><dt data-t="readout.sum"></dt><dd class="sum"></dd></div>
        <div><dt data-t="readout.entropy"></dt><dd class="entropy"></dd></div>
        <div class="other-line"><dt data-t="readout.other"></dt><dd class="other"></dd></div>
      </dl>
      <p class="largest-title" data-t="readout.largest"></p>
      <ol class="largest"></ol>
      <p class="hint pin-hint"></p>`;
  }

  update(): void {}

  /** Of the shown cell; of the query's strongest key when no cell is shown. */
  tell(view: View, shown: ShownCell | null): void {
    const frame = isCurrent(view) ? view.frame : null;
    const row = frame && (shown ? frame.described : frame.query);
    const known = row && (!shown || row.row === shown.row);
    if (!frame || !row || !known) {
      this.hidden = !frame?.query; // while another row is on its way, the last one stays
      return;
    }
    this.hidden = false;
    const cell = shown ?? { row: row.row, col: row.largest, pinned: false };
    this.#tellCell(frame, row, cell);
    this.#showLargest(frame, row, cell);
    this.setText('.pin-hint', t(cell.pinned ? 'readout.unpin' : 'readout.pin'));
    this.find('.pin-hint', HTMLElement).hidden = shown === null;
    this.classList.toggle('pinned', cell.pinned);
  }

  #tellCell(frame: Frame, row: RowData, { col }: Cell): void {
    const { tokens, mask } = frame.request.layer;
    const allowed = allowedCount(mask, row.row, tokens.length);
    const masked = !isAllowed(mask, row.row, col, tokens.length);
    this.setText('.query', tokens[row.row] ?? '');
    this.setText('.role-q sub', String(row.row));
    this.setText('.key', tokens[col] ?? '');
    this.setText('.role-k sub', String(col));
    this.setText('.weight', digits(row.weights[col] ?? NaN));
    const rank = { rank: rankInRow(row, col), allowed };
    this.setText('.rank', masked ? t('readout.masked') : t('readout.rankOf', rank));
    this.setText('.score', digits(row.scores[col] ?? NaN));
    this.setText('.sum', digits(rowSum(row)));
    const entropy = digits(row.entropy);
    this.setText('.entropy', t('readout.nats', { entropy, most: digits(Math.log(allowed), 4) }));
    const other =
      frame.otherDescribed?.row === row.row ? frame.otherDescribed.weights[col] : undefined;
    this.find('.other-line', HTMLElement).hidden = other === undefined;
    this.setText('.other', other === undefined ? '' : digits(other));
  }

  /** The keys this row reads most, as bars. */
  #showLargest(frame: Frame, row: RowData, { col }: Cell): void {
    const { tokens } = frame.request.layer;
    const keys = Array.from(row.weights, (weight, key) => ({ key, weight }));
    keys.sort((a, b) => b.weight - a.weight);
    const allowed = allowedCount(frame.request.layer.mask, row.row, tokens.length);
    const items = keys.slice(0, Math.min(SHOWN_KEYS, allowed)).map(({ key, weight }) => {
      const item = document.createElement('li');
      item.innerHTML = `<bdi></bdi><span class="bar"><i></i></span><span class="value"></span>`;
      item.classList.toggle('described', key === col);
      find(item, 'bdi', HTMLElement).textContent = tokens[key] ?? '';
      find(item, '.bar i', HTMLElement).style.width = `${weight * 100}%`;
      find(item, '.value', HTMLElement).textContent = weight.toFixed(3);
      return item;
    });
    const list = this.find('.largest', HTMLElement);
    const shown = list.children;
    const isSame =
      shown.length === items.length && items.every((one, i) => one.isEqualNode(shown[i] ?? null));
    if (!isSame) list.replaceChildren(...items);
  }
}

customElements.define('qkv-readout', ReadoutPart);
