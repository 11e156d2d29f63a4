import { html, type TemplateResult } from 'lit-html';
import { clamp, type Limits } from '../../../state/field';
import { numeric } from '../../../ui/lit/controls';
import { LitPanel } from '../../lit_panel';
import type { ToModel } from '../shared/protocol';

/** A part of the panel: it can speak to the model's worker. */
export abstract class ModelPart extends LitPanel {
  protected tell(message: ToModel): void {
    this.dispatchEvent(new CustomEvent('model-tell', { bubbles: true, detail: message }));
  }
}

/** A bar of a share of one, and the number beside it. */
export const bar = (share: number, words: string): TemplateResult =>
  html`<span class="bar"><i .style=${`width: ${100 * share}%`}></i></span><span class="value">${words}</span>`;

/** A table that may be wider than its card. */
export const scrolled = (label: string, table: TemplateResult): TemplateResult =>
  html`<div class="model-scroll wide-table" tabindex="0" role="region" aria-label=${label}>${table}</div>`;

/** A whole number to be typed, with its label. */
export const wholeNumber = (
  id: string,
  label: string,
  limits: Limits,
  of: { readonly value: number; readonly take: (value: number) => void },
): TemplateResult => html`
  <label for=${id}>${label}</label>
  <input id=${id} type="number" min=${limits[0]} max=${limits[1]} step="1"
    ${numeric({ ...of, nearest: (typed) => clamp(Math.round(typed), limits) })}>`;
