import { find } from '../dom';
import { translate } from '../i18n';
import type { EngineStatus } from '../engine/client';
import type { Frame } from '../engine/protocol';
import type { State } from '../state';
import type { TokenList } from '../tokenizer';
import type { ShownCell } from '../matrix/view';

/** Everything a panel is drawn from. Panels keep nothing of it. */
export interface View {
  readonly state: State;
  readonly list: TokenList;
  readonly engine: EngineStatus;
  /** The latest frame; it may still belong to the text of a moment ago. Null: nothing was computed. */
  readonly frame: Frame | null;
  /** The selected query; -1 without tokens. */
  readonly query: number;
  /** The cell of the map whose numbers are told. */
  readonly shown: ShownCell | null;
  /** The same for the picture of the encoding: position and dimension. */
  readonly place: ShownCell | null;
  /** Another number after every change of theme, language or resolution. */
  readonly look: number;
}

/**
 * A part of the page as a custom element: it builds itself, is drawn from a View, and asks for
 * changes of the state by an event, so that each can also stand alone.
 */
export abstract class Panel extends HTMLElement {
  protected abstract template(): string;
  /** Called once, when the template stands. */
  protected ready(): void {}
  abstract update(view: View): void;

  #inputs: readonly unknown[] = [];

  /** Whether any of these changed since the last call: what is on the screen need not be drawn again. */
  protected changed(...inputs: readonly unknown[]): boolean {
    const before = this.#inputs;
    this.#inputs = inputs;
    return inputs.length !== before.length || inputs.some((input, i) => input !== before[i]);
  }

  connectedCallback(): void {
    if (this.firstElementChild) return;
    this.innerHTML = this.template();
    translate(this);
    this.ready();
  }

  protected change(patch: Partial<State>): void {
    this.dispatchEvent(new CustomEvent('state-change', { bubbles: true, detail: patch }));
  }

  protected find<E extends Element>(selector: string, type: new () => E): E {
    return find(this, selector, type);
  }

  protected setText(selector: string, text: string): void {
    const element = this.find(selector, HTMLElement);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** Whether the frame was computed from the tokens that are on the page now. */
export function isCurrent(view: View): view is View & { frame: Frame } {
  const now = view.list.tokens;
  const then = view.frame?.request.tokens;
  return then !== undefined && then.length === now.length && then.every((t, i) => t === now[i]);
}
