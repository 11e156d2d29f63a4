import { find } from '../../../ui/dom';
import { t } from '../texts';

/** Names in an order that is changed by dragging, or with two buttons each. */
export class OrderList {
  readonly element = document.createElement('ol');
  readonly #moved: (from: number, to: number) => void;
  /** Goes to what a name stands for; null: names are no links. */
  readonly #open: ((at: number) => void) | null;
  /** Fewer names than these are not listed. */
  readonly #least: number;

  constructor(
    moved: (from: number, to: number) => void,
    { open = null, least = 1 }: { open?: ((at: number) => void) | null; least?: number } = {},
  ) {
    this.#moved = moved;
    this.#open = open;
    this.#least = least;
    this.element.className = 'order-list';
    this.element.addEventListener('click', ({ target }) => {
      const button = target instanceof Element ? target.closest('button') : null;
      const at = button ? this.#placeOf(button) : -1;
      if (!button || at < 0) return;
      if (button.dataset['move'] === undefined) this.#open?.(at);
      else this.#move(at, at + Number(button.dataset['move']));
    });
    this.element.addEventListener('pointerdown', (event) => this.#drag(event));
  }

  #placeOf(inside: Element): number {
    const row = inside.closest('li');
    return row ? [...this.element.children].indexOf(row) : -1;
  }

  draw(names: readonly string[]): void {
    const last = names.length - 1;
    const rows = names.map((name, i) => {
      const row = document.createElement('li');
      const words = this.#open
        ? '<button type="button" class="order-name"></button>'
        : '<span class="order-name"></span>';
      row.innerHTML = `<span class="order-grip" aria-hidden="true">⠿</span>${words}
        <button type="button" class="button" data-move="-1"${i === 0 ? ' disabled' : ''}>↑</button>
        <button type="button" class="button" data-move="1"${i === last ? ' disabled' : ''}>↓</button>`;
      find(row, '.order-name', HTMLElement).append(name);
      const label = (by: string, key: 'lessons.moveUp' | 'lessons.moveDown') =>
        find(row, `[data-move="${by}"]`, HTMLElement).setAttribute('aria-label', t(key, { name }));
      label('-1', 'lessons.moveUp');
      label('1', 'lessons.moveDown');
      return row;
    });
    this.element.hidden = names.length < this.#least;
    this.element.replaceChildren(...rows);
  }

  /** The owner draws the new order; the same button of the same row has the focus then, or the other one at an end. */
  #move(from: number, to: number): void {
    this.#moved(from, to);
    const [first, second] = to > from ? ['1', '-1'] : ['-1', '1'];
    const row = this.element.children[to];
    const button = (by: string) => row?.querySelector<HTMLButtonElement>(`[data-move="${by}"]`);
    const next = button(first)?.disabled ? button(second) : button(first);
    next?.focus();
  }

  /** Neighbours pass the row that is held, which stays where the pointer was caught: a row that leaves the document loses it. */
  #drag(down: PointerEvent): void {
    const grip =
      down.target instanceof Element ? down.target.closest<HTMLElement>('.order-grip') : null;
    const row = grip?.closest('li');
    if (!grip || !row || down.button !== 0) return;
    down.preventDefault();
    const from = this.#placeOf(row);
    const end = new AbortController();
    const { signal } = end;
    grip.setPointerCapture(down.pointerId);
    row.classList.add('held');
    grip.addEventListener('pointermove', ({ clientY }) => this.#pass(row, clientY), { signal });
    const release = (to: number) => {
      end.abort();
      row.classList.remove('held');
      this.#moved(from, to);
    };
    grip.addEventListener('pointerup', () => release(this.#placeOf(row)), { signal });
    grip.addEventListener('pointercancel', () => release(from), { signal });
  }

  #pass(row: Element, y: number): void {
    const middle = (one: Element) => {
      const { top, height } = one.getBoundingClientRect();
      return top + height / 2;
    };
    const [before, after] = [row.previousElementSibling, row.nextElementSibling];
    if (before && y < middle(before)) row.after(before);
    else if (after && y > middle(after)) row.before(after);
  }
}

/** The same items with one of them at another place. */
export function reordered<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const rest = items.filter((_, i) => i !== from);
  return [...rest.slice(0, to), ...items.slice(from, from + 1), ...rest.slice(to)];
}
