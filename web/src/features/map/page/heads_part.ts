import { ORDERS, type Order } from '../../../domain/choices';
import { find } from '../../../ui/dom';
import type { HeadNumbers } from '../../../worker/protocol';
import { CONSTRUCTED, headCount } from '../../../domain/sources';
import type { Size } from '../../../domain/pixels';
import { t } from '../texts';
import { digits } from '../../../ui/numbers';
import { largestEntropy } from '../../../domain/rows';
import { Panel, type View } from '../../panel';
import { headName } from '../../head_names';

/** What is written under a head: what it is sorted by, and its entropy otherwise. */
const MEASURE: Readonly<Record<Order, 'entropy' | 'distance' | 'first' | 'rank'>> = {
  number: 'entropy',
  entropy: 'entropy',
  distance: 'distance',
  first: 'first',
  rank: 'rank',
};

/** Of more heads these have pictures; the others can be chosen at the top of the page. */
const MOST_PICTURES = 64;

const headHtml = (head: number) => `
  <input type="radio" name="head" value="${head}">
  <span class="face">
    <canvas aria-hidden="true"></canvas>
    <span class="head-name"></span>
    <span class="head-measure"></span>
  </span>`;

/** All heads as small maps; a group of radio buttons chooses the one that is enlarged. */
export class HeadsPart extends Panel {
  readonly #labels: HTMLElement[] = [];
  /** Of a picture, in CSS pixels. */
  #side = 0;
  readonly #resize = new ResizeObserver(() => {
    const side = this.find('.face', HTMLElement).clientWidth - 8;
    if (side === this.#side) return;
    this.#side = side;
    for (const canvas of this.querySelectorAll('canvas')) {
      canvas.style.width = canvas.style.height = `${side}px`;
    }
    this.resized();
  });

  protected template(): string {
    const orders = ORDERS.map(
      (order) => `<option value="${order}" data-t="sort.${order}"></option>`,
    );
    return `
      <div class="heads-head">
        <h3 id="heads-title" data-t="heads.title"></h3>
        <label data-control><span data-t="heads.sort"></span> <select id="sort">${orders.join('')}</select></label>
      </div>
      <div class="heads" role="radiogroup" aria-labelledby="heads-title"></div>
      <p class="caption" id="heads-caption"></p>`;
  }

  protected override ready(): void {
    this.#grow(CONSTRUCTED.length);
    this.find('.heads', HTMLElement).addEventListener('change', (event) => {
      if (event.target instanceof HTMLInputElement) this.change({ head: +event.target.value });
    });
    const sort = this.find('#sort', HTMLSelectElement);
    sort.addEventListener('change', () => {
      const order = ORDERS.find((name) => name === sort.value);
      if (order) this.change({ order });
    });
    this.#resize.observe(this);
  }

  /** There are pictures for so many heads; those of a trained model come when it does. */
  #grow(count: number): void {
    const most = Math.min(count, MOST_PICTURES);
    while (this.#labels.length < most) {
      const head = this.#labels.length;
      const label = document.createElement('label');
      label.className = 'head';
      label.innerHTML = headHtml(head);
      this.#labels.push(label);
      this.find('.heads', HTMLElement).append(label);
      const canvas = find(label, 'canvas', HTMLCanvasElement);
      canvas.style.width = canvas.style.height = `${this.#side}px`;
      this.give(`head-${head}`, canvas);
    }
  }

  override surfaces(): Record<string, Size> {
    const side = Math.round(this.#side * devicePixelRatio);
    if (side <= 0) return {};
    const shown = this.#labels.map((label, head) => [head, label] as const);
    const visible = shown.filter(([, label]) => !label.hidden);
    return Object.fromEntries(
      visible.map(([head]) => [`head-${head}`, { width: side, height: side }]),
    );
  }

  update({ state, heads, report, list, look, frame }: View): void {
    const { source, order } = state;
    const head = frame?.request.view.head ?? state.head;
    const mask = frame?.request.layer.mask ?? state.mask;
    const count = headCount(heads);
    if (!this.changed(source, count, head, order, report?.heads, list, mask, look)) return;
    this.#grow(count);
    const measure = MEASURE[order];
    this.find('#sort', HTMLSelectElement).value = order;
    this.#labels.forEach((label, index) => {
      label.hidden = index >= count;
      find(label, 'input', HTMLInputElement).checked = index === head;
      find(label, '.head-name', HTMLElement).textContent = headName(heads, index);
      const numbers = report?.heads[index];
      const known = numbers && index < count && !Number.isNaN(numbers[measure]);
      const value = known ? digits(numbers[measure], 3) : '';
      const text = value && t(`measure.${measure}`, { value });
      find(label, '.head-measure', HTMLElement).textContent = text;
    });
    this.#arrange(order, report?.heads ?? []);
    // Without a row no mean of rows is at most anything.
    const most = digits(largestEntropy(mask, list.tokens.length), 3);
    this.setText('#heads-caption', list.tokens.length > 0 ? t(`caption.${measure}`, { most }) : '');
  }

  /** In the document, too: Tab and a screen reader go the way the eye does. */
  #arrange(order: Order, numbers: readonly HeadNumbers[]): void {
    const sorted = [...this.#labels.keys()];
    if (order !== 'number') {
      // What is not known comes last: a NaN would leave the others unsorted.
      const value = (head: number) => {
        const number = numbers[head]?.[order] ?? NaN;
        return Number.isNaN(number) ? Infinity : number;
      };
      sorted.sort((a, b) => value(a) - value(b) || a - b);
    }
    const box = this.find('.heads', HTMLElement);
    const wanted = sorted.map((head) => this.#labels[head]).filter((label) => label !== undefined);
    if (wanted.every((label, i) => box.children[i] === label)) return;
    const focused = document.activeElement;
    box.replaceChildren(...wanted);
    if (focused instanceof HTMLElement && box.contains(focused)) focused.focus();
  }
}

customElements.define('qkv-heads', HeadsPart);
