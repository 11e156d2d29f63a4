import { find } from '../dom';
import { t } from '../i18n';
import { allowedKeys, digits, rankInRow, rowSum, weightAt } from '../numbers';
import type { Cell } from '../matrix/view';
import type { Frame } from '../engine/protocol';
import { Panel, type View } from './panel';

const SHOWN_KEYS = 5;

/** The numbers behind one cell of the map, and behind its row. */
export class ReadoutPanel extends Panel {
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
        <div><dt data-t="readout.rank"></dt><dd class="rank"></dd></div>
        <div><dt data-t="readout.sum"></dt><dd class="sum"></dd></div>
        <div><dt data-t="readout.entropy"></dt><dd class="entropy"></dd></div>
      </dl>
      <p class="largest-title" data-t="readout.largest"></p>
      <ol class="largest"></ol>
      <p class="hint pin-hint"></p>`;
  }

  update(view: View): void {
    const { frame, shown, state } = view;
    this.hidden = !frame || !shown;
    if (!frame || !shown) return;
    const { row, col } = shown;
    const { tokens } = frame.request;
    const allowed = allowedKeys(frame, row);
    const masked = col >= allowed;
    this.setText('.query', tokens[row] ?? '');
    this.setText('.role-q sub', String(row));
    this.setText('.key', tokens[col] ?? '');
    this.setText('.role-k sub', String(col));
    const weight = weightAt(frame, state.head, row, col);
    this.setText('.weight', digits(weight));
    const rank = { rank: rankInRow(frame, state.head, row, col), allowed };
    this.setText('.rank', masked ? t('readout.masked') : t('readout.rankOf', rank));
    this.setText('.sum', digits(rowSum(frame, state.head, row)));
    const entropy = digits(frame.entropy[state.head * tokens.length + row] ?? NaN);
    this.setText('.entropy', t('readout.nats', { entropy, most: digits(Math.log(allowed), 4) }));
    this.#showLargest(frame, state.head, shown);
    this.setText('.pin-hint', t(shown.pinned ? 'readout.unpin' : 'readout.pin'));
    this.classList.toggle('pinned', shown.pinned);
  }

  /** The keys this row reads most, as bars. */
  #showLargest(frame: Frame, head: number, { row, col }: Cell): void {
    const { tokens } = frame.request;
    const keys = Array.from({ length: allowedKeys(frame, row) }, (_, key) => {
      return { key, weight: weightAt(frame, head, row, key) };
    });
    keys.sort((a, b) => b.weight - a.weight);
    const items = keys.slice(0, SHOWN_KEYS).map(({ key, weight }) => {
      const item = document.createElement('li');
      item.innerHTML = `<bdi></bdi><span class="track"><span></span></span><span class="value"></span>`;
      item.classList.toggle('told', key === col);
      find(item, 'bdi', HTMLElement).textContent = tokens[key] ?? '';
      find(item, '.track span', HTMLElement).style.width = `${weight * 100}%`;
      find(item, '.value', HTMLElement).textContent = weight.toFixed(3);
      return item;
    });
    this.find('.largest', HTMLElement).replaceChildren(...items);
  }
}

customElements.define('qkv-readout', ReadoutPanel);
