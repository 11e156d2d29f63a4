import { asksOf, PANEL_IDS } from '../../index';
import type { Language } from '../../../i18n/i18n';
import { Panel, type View } from '../../panel';
import type { State } from '../../../state/state';
import { controlsOf } from './lockable_controls';
import { t } from '../texts';

const ANY = 'button, input, select, textarea, [role=slider]';
/** What changes no state, or answers a question that the lesson asks. */
const FREE = '.menu *, qkv-guess *, .guess *, .unfold, .copy';

/** Changes that no lock stops: the language, and the answers to what a panel asks. */
const ALWAYS = new Set<string>([
  ...['language', 'panel'],
  ...PANEL_IDS.flatMap((id) => Object.keys(asksOf(id))),
]);

export function allowed(lock: readonly string[] | true, patch: Partial<State>): Partial<State> {
  const entries = Object.entries(patch).filter(
    ([name]) => ALWAYS.has(name) || (lock !== true && !lock.includes(name)),
  );
  return Object.fromEntries(entries);
}

const REASON = 'lock-reason';

/** What a control was like before it was locked. */
interface Found {
  readonly disabled: boolean;
  readonly title: string;
}

/** Locks controls after all panels are drawn: the last panel of the page. They stay in sight, with the reason. */
export class Locks extends Panel {
  /** The step's; empty: nothing is locked. */
  lock: readonly string[] | true = [];
  /** Hears of every drawing, in which language it is. */
  onLanguage: ((language: Language) => void) | null = null;
  readonly #locked = new Map<HTMLElement, Found>();

  protected template(): string {
    return `<span id="${REASON}" class="visually-hidden"></span>`;
  }

  update({ state }: View): void {
    this.onLanguage?.(state.language);
    this.setText(`#${REASON}`, t('lessons.locked'));
    const wanted = new Set(this.#wanted());
    for (const [element, before] of [...this.#locked]) {
      if (!wanted.has(element)) this.#free(element, before);
    }
    for (const element of wanted) this.#close(element);
  }

  #wanted(): HTMLElement[] {
    const { lock } = this;
    if (lock !== true && lock.length === 0) return [];
    const selector = lock === true ? ANY : lock.map(controlsOf).join(', ');
    const all = document.querySelectorAll<HTMLElement>(`.lesson-panels :is(${selector})`);
    return [...all].filter((element) => !element.matches(FREE));
  }

  #close(element: HTMLElement): void {
    const disabled = 'disabled' in element && element.disabled === true;
    if (!this.#locked.has(element)) this.#locked.set(element, { disabled, title: element.title });
    if ('disabled' in element) element.disabled = true;
    else element.setAttribute('aria-disabled', 'true');
    element.title = t('lessons.locked');
    const described = element.getAttribute('aria-describedby') ?? '';
    if (!described.includes(REASON)) {
      element.setAttribute('aria-describedby', `${described} ${REASON}`.trim());
    }
  }

  #free(element: HTMLElement, before: Found): void {
    this.#locked.delete(element);
    if ('disabled' in element) element.disabled = before.disabled;
    else element.removeAttribute('aria-disabled');
    element.title = before.title;
    if (element.title === '') element.removeAttribute('title');
    const rest = (element.getAttribute('aria-describedby') ?? '').replace(REASON, '').trim();
    if (rest === '') element.removeAttribute('aria-describedby');
    else element.setAttribute('aria-describedby', rest);
  }

  /** When the lesson is over. */
  freeAll(): void {
    this.lock = [];
    for (const [element, before] of [...this.#locked]) this.#free(element, before);
  }
}

customElements.define('qkv-locks', Locks);
