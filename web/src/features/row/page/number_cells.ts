import { html, type TemplateResult } from 'lit-html';
import type { Content } from '../../../ui/lit/texts';
import { four } from '../../../ui/numbers';
import { t } from '../feature';
import { trackOf } from './track';

/** The steps that have a number for each key, in their order. */
export type Step = 'product' | 'scaled' | 'exp' | 'weight' | 'core';

/** A step: its name and formula, and a cell for each key. */
export const stepRow = (
  step: string,
  [name, ...formulas]: readonly Content[],
  track: string,
  cells: Content,
): TemplateResult => html`
  <div role="row" class="step" data-step=${step}>
    <div role="rowheader" class="step-head"><span class="step-name">${name}</span>${formulas}<span
      class="track" data-track=${step}>${track}</span></div>
    ${cells}
  </div>`;

export const cell = (content: Content, leftOut = false): TemplateResult =>
  html`<div role="cell" class="cell ${leftOut ? 'left-out' : ''}">${content}</div>`;

/** The track of a step in words; `short` writes its ends. */
export function trackText(
  step: string,
  values: Float32Array,
  short: (end: number) => string,
): string {
  const [low, high] = trackOf(step, values);
  return t('row.track', { low: short(low), high: short(high) });
}

/** The numbers of a step, each with a bar from zero: to the left when it is negative. `masked` has a bit for each key. */
export function numberCells(step: string, values: Float32Array, masked: number): TemplateResult[] {
  const [low, high] = trackOf(step, values);
  const span = high - low || 1;
  const afterMask = step !== 'product' && step !== 'scaled';
  return Array.from(values, (value, j) => {
    const known = Number.isFinite(value);
    const left = known ? ((Math.min(0, value) - low) / span) * 100 : 0;
    const width = known ? (Math.abs(value) / span) * 100 : 100;
    const leftOut = afterMask && ((masked >> j) & 1) === 1;
    return html`<div role="cell" class="cell ${known ? '' : 'not-a-number'} ${leftOut ? 'left-out' : ''}" data-cell=${step} data-index=${j}><span
      class="bar"><i .style=${`left: ${left}%; width: ${width}%`}></i></span><b>${four(value)}</b></div>`;
  });
}
