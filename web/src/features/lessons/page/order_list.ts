import { html, type TemplateResult } from 'lit-html';
import { t } from '../texts';

/** Has an item at another place, on the screen as well. */
type Moved = (from: number, to: number) => void;

interface Order {
  readonly names: readonly string[];
  readonly moved: Moved;
  /** Goes to what a name stands for; without it names are no links. */
  readonly open?: (at: number) => void;
  /** Fewer names than these are not listed. */
  readonly least?: number;
}

/** Names in an order that is changed by dragging, or with two buttons each. */
export function orderList({ names, moved, open, least = 1 }: Order): TemplateResult {
  const step = (at: number, by: -1 | 1, label: string) => html`
    <button type="button" class="button" data-move=${by} aria-label=${label}
      ?disabled=${names[at + by] === undefined}
      @click=${({ currentTarget }: Event) => move(currentTarget as Element, at, at + by, moved)}>${by < 0 ? '↑' : '↓'}</button>`;
  const row = (name: string, at: number) => html`
    <li><span class="order-grip" aria-hidden="true" @pointerdown=${(down: PointerEvent) => drag(down, moved)}>⠿</span>${
      open
        ? html`<button type="button" class="order-name" @click=${() => open(at)}>${name}</button>`
        : html`<span class="order-name">${name}</span>`
    }${step(at, -1, t('lessons.moveUp', { name }))}${step(at, 1, t('lessons.moveDown', { name }))}</li>`;
  return html`<ol class="order-list" ?hidden=${names.length < least}>${names.map(row)}</ol>`;
}

/** The same button of the same row has the focus then, or the other one at an end. */
function move(pressed: Element, from: number, to: number, moved: Moved): void {
  const list = pressed.closest('ol');
  moved(from, to);
  const [first, second] = to > from ? ['1', '-1'] : ['-1', '1'];
  const button = (by: string) =>
    list?.children[to]?.querySelector<HTMLButtonElement>(`[data-move="${by}"]`);
  const next = button(first)?.disabled ? button(second) : button(first);
  next?.focus();
}

/** Neighbours pass the row that is held, which stays where the pointer was caught: a row that leaves the document loses it. */
function drag(down: PointerEvent, moved: Moved): void {
  const grip = down.currentTarget as HTMLElement;
  const row = grip.closest('li');
  const list = row?.parentElement;
  if (!row || !list || down.button !== 0) return;
  down.preventDefault();
  const rendered = [...list.childNodes];
  const place = () => [...list.children].indexOf(row);
  const from = place();
  const end = new AbortController();
  const { signal } = end;
  grip.setPointerCapture(down.pointerId);
  row.classList.add('held');
  grip.addEventListener('pointermove', ({ clientY }) => pass(row, clientY), { signal });
  const release = (to: number) => {
    end.abort();
    row.classList.remove('held');
    list.replaceChildren(...rendered); // each row gets the name that has its place now
    moved(from, to);
  };
  grip.addEventListener('pointerup', () => release(place()), { signal });
  grip.addEventListener('pointercancel', () => release(from), { signal });
}

function pass(row: Element, y: number): void {
  const middle = (one: Element) => {
    const { top, height } = one.getBoundingClientRect();
    return top + height / 2;
  };
  const [before, after] = [row.previousElementSibling, row.nextElementSibling];
  if (before && y < middle(before)) row.after(before);
  else if (after && y > middle(after)) row.before(after);
}

/** The same items with one of them at another place. */
export function reordered<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const rest = items.filter((_, i) => i !== from);
  return [...rest.slice(0, to), ...items.slice(from, from + 1), ...rest.slice(to)];
}
