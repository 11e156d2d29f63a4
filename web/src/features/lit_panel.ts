import { html, render, type TemplateResult } from 'lit-html';
import type { Size } from '../domain/pixels';
import { textOf } from '../i18n/i18n';
import type { State } from '../state/state';
import { MatrixView } from '../ui/matrix/view';
import { Panel, type View } from './panel';

/**
 * A panel that says what it shows of a view as a template of lit-html, with its texts and listeners. Elements stay from one view
 * to the next; what is another in them is written. Canvases are painted when the elements stand.
 */
export abstract class LitPanel extends Panel {
  #view: View | null = null;
  #stale = true;

  protected template(): string {
    return '';
  }
  /** What of the view is in the template: while these stay the same, nothing is rendered again. */
  protected abstract inputs(view: View): readonly unknown[];
  protected abstract render(view: View): TemplateResult;
  /** Called when the elements stand. */
  protected rendered(_view: View): void {}

  update(view: View): void {
    this.#view = view;
    const changed = this.changed(...this.inputs(view));
    if (changed || this.#stale) this.refresh();
  }

  /** Renders again after something has changed that only the panel knows. */
  protected refresh(): void {
    if (!this.#view) return;
    this.#stale = false;
    render(this.render(this.#view), this);
    this.rendered(this.#view);
  }

  /** The control that was moved may stand where the state will not have it: the next update writes all of them. */
  protected override change(patch: Partial<State>): void {
    this.#stale = true;
    super.change(patch);
  }
}

/** A panel with a matrix whose cells the worker paints: the panel gives it its model and a place in the template. */
export abstract class MatrixPanel extends LitPanel {
  /** It is made once and stays, as its canvas can be handed over only once. */
  readonly matrix = new MatrixView();
  /** The name under which the worker paints it. */
  protected abstract readonly surface: string;
  #isGiven = false;

  /** Read also before there is anything to paint: this is how the worker learns that it is wanted. */
  override surfaces(): Record<string, Size> {
    return this.#isGiven ? { [this.surface]: this.matrix.size } : {};
  }

  protected override ready(): void {
    this.addEventListener('cell-shown', () => this.refresh());
  }

  protected override rendered(_view: View): void {
    if (!this.#isGiven) this.give(this.surface, this.matrix.canvas);
    this.#isGiven = true;
  }
}

/** What a panel says before its first numbers are there. */
export const waiting = ({ engine }: View, isOver: boolean): TemplateResult =>
  html`<p class="placeholder" role="status" ?hidden=${isOver}>${textOf(engine.kind === 'failed' ? 'map.failed' : 'plots.loading')}</p>`;
