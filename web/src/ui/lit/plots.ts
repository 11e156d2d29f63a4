import { html, noChange, nothing, svg, type ElementPart, type TemplateResult } from 'lit-html';
import { Directive, directive } from 'lit-html/directive.js';
import { PlotStage, type Plot } from '../plot_stage';
import type { Content } from './texts';

class Drawn extends Directive {
  #stage: PlotStage | null = null;
  render(_plot: Plot): typeof noChange {
    return noChange;
  }
  override update({ element }: ElementPart, [plot]: [Plot]): typeof noChange {
    this.#stage ??= new PlotStage(element as HTMLElement);
    this.#stage.show(plot);
    return noChange;
  }
}

/** In the tag of an element: its plot, which is drawn again when the width of the element changes. */
export const drawn = directive(Drawn);

/** An element with a plot; its words are of the language `lang`. */
export const stage = (name: string, plot: Plot, lang?: string): TemplateResult =>
  html`<div class="plot-stage" data-figure=${name} lang=${lang ?? nothing} ${drawn(plot)}></div>`;

/** An entry of the key below a plot: its line and, of a curve with points, one of these. */
export const keyEntry = (line: string, words: Content, point = ''): TemplateResult => html`
  <li><svg width="30" height="12" aria-hidden="true"><path class=${line} d="M0 6H30"/>${
    point && svg`<circle class=${point} cx="15" cy="6" r="4"/>`
  }</svg><span>${words}</span></li>`;

/** The same of points without a line. */
export const pointEntry = (point: string, words: Content): TemplateResult => html`
  <li><svg width="12" height="12" aria-hidden="true"><circle class=${point} cx="6" cy="6" r="4"/></svg><span>${words}</span></li>`;
