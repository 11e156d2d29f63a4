import { find, setText } from '../ui/dom';
import { translate } from '../i18n/i18n';
import type { HeadSource } from '../domain/sources';
import type { EngineStatus } from '../worker/client';
import type { Studies } from './computed';
import type { ModelView } from './model/shared/model_view';
import type { Frame, Report, Tensors, Wanted } from '../worker/protocol';
import type { Size } from '../domain/pixels';
import type { Figure } from '../ui/export_figure';
import type { LinkProblem, State } from '../state/state';
import type { Theme } from '../ui/theme';
import type { TokenList } from '../domain/tokenizer';

/** Everything a panel is drawn from. Panels keep nothing of it. */
export interface View {
  readonly state: State;
  readonly list: TokenList;
  readonly engine: EngineStatus;
  /** The latest frame; it may still belong to the text of a moment ago. Null: nothing was computed. */
  readonly frame: Frame | null;
  /** What is known about a frame besides; it comes later and may belong to an earlier one. */
  readonly report: Report | null;
  /** What panels had worked out; it may be about an earlier frame. */
  readonly studies: Studies;
  /** The trained model, if the reader has loaded one. */
  readonly model: ModelView;
  /** Whose heads there are to choose from. */
  readonly heads: HeadSource;
  /** The median of the latest frames, in milliseconds; NaN before there are any. */
  readonly frameTime: number;
  /** The selected query; -1 without tokens. */
  readonly query: number;
  /** Another number after every change of theme, language or resolution. */
  readonly look: number;
  readonly theme: Theme;
  /** What of the link that was followed the page does not understand. */
  readonly linkProblem: LinkProblem | null;
}

/** Has the worker compute anew what its latest frame was made of. */
export type TensorsOf = (wanted: Wanted) => Promise<Tensors>;

/**
 * A part of the page as a custom element: it builds itself, is drawn from a View, and asks for
 * changes of the state by an event, so that each can also stand alone.
 */
export abstract class Panel extends HTMLElement {
  protected abstract template(): string;
  /** Called before the template is written, while the panel still has what the HTML gave it. */
  protected adopt(): void {}
  /** Called once, when the template has been written. */
  protected ready(): void {}
  abstract update(view: View): void;

  /** The canvases it wants painted, while it is on the screen. */
  surfaces(): Record<string, Size> {
    return {};
  }

  /** Whether it shows what a model tells many times in a second while it loads and writes: the other panels wait for the end. */
  readonly followsModel: boolean = false;

  /** What it exports, a picture with a table; null while there is nothing. */
  figure?(view: View, tensors: TensorsOf): Promise<Figure | null>;

  #built = false;
  #inputs: readonly unknown[] = [];

  /** Whether any of these changed since the last call: what is on the screen need not be drawn again. */
  protected changed(...inputs: readonly unknown[]): boolean {
    const before = this.#inputs;
    this.#inputs = inputs;
    return inputs.length !== before.length || inputs.some((input, i) => input !== before[i]);
  }

  connectedCallback(): void {
    if (this.#built) return;
    this.#built = true;
    this.adopt();
    this.innerHTML = this.template();
    translate(this);
    this.ready();
  }

  protected change(patch: Partial<State>): void {
    this.dispatchEvent(new CustomEvent('state-change', { bubbles: true, detail: patch }));
  }

  /** Hands a canvas to the worker, which paints it under this name from now on. */
  protected give(name: string, canvas: HTMLCanvasElement): void {
    this.dispatchEvent(
      new CustomEvent('canvas-given', { bubbles: true, detail: { name, canvas } }),
    );
  }

  protected resized(): void {
    this.dispatchEvent(new CustomEvent('surface-resized', { bubbles: true }));
  }

  protected find<E extends Element>(selector: string, type: new () => E): E {
    return find(this, selector, type);
  }

  protected setText(selector: string, text: string): void {
    setText(this.find(selector, HTMLElement), text);
  }
}

/** A panel made of others. */
export abstract class CompositePanel extends Panel {
  protected abstract readonly parts: readonly Panel[];

  update(view: View): void {
    for (const part of this.parts) part.update(view);
  }

  override surfaces(): Record<string, Size> {
    return Object.assign({}, ...this.parts.map((part) => part.surfaces())) as Record<string, Size>;
  }
}

/** Whether the frame was computed from the tokens that are on the page now. */
export function isCurrent(view: View): view is View & { frame: Frame } {
  return view.frame !== null && sameTokens(view.frame.request.layer.tokens, view.list.tokens);
}

function sameTokens(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((token, i) => token === b[i]));
}
