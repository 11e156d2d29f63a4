import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import formulas from '../formulas.json';
import { LAYOUTS } from '../../../domain/pair_table';
import { t } from '../feature';
import { numeric, radios, withValue } from '../../../ui/lit/controls';
import { formula, rich } from '../../../ui/lit/texts';
import { digits } from '../../../ui/numbers';
import { LIMITS, type State } from '../../../state/state';
import { clamp } from '../../../state/field';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';

/** Steps of the slider for one doubling of p + 1: it is as fine at 3 as at 30000. */
const OCTAVE = 40;
const toSlider = (p: number) => Math.round(Math.log2(p + 1) * OCTAVE);
const fromSlider = (value: number) => Math.round(2 ** (value / OCTAVE)) - 1;

/** Where the slider of the position p is moved to. */
function positionAt(place: number, p: number): number {
  const to = fromSlider(place);
  // Near 0 a step of the slider is less than one position, and must move all the same.
  const moved = to === p ? to + Math.sign(place - toSlider(p)) : to;
  return clamp(moved, LIMITS.position);
}

/** PE(p + k) = M_k PE(p) for a p and a k of the reader's choice, and how nearly it holds. */
export class ShiftPart extends LitPanel {
  protected inputs({ frame, state, look }: View): readonly unknown[] {
    const positions = frame?.positions;
    const { position, shift, layout } = state;
    return [position, shift, layout, positions?.encoding, positions?.shift, look];
  }

  protected render({ frame, state }: View): TemplateResult {
    const positions = frame?.positions;
    return html`
      <h3>${t('shift.title')}</h3>
      <div class="formula">${formula(formulas.shift)}</div>
      <p>${rich('shift.intro')}</p>
      ${this.#tools(state)}
      <p class="residual" ?hidden=${!positions}><span>${t('shift.residual')}</span> <strong>${positions && digits(positions.shift.residual, 2)}</strong></p>
      <p class="hint note-rows" ?hidden=${!positions}>${positions && t('shift.note', { rows: positions.encoding.length })}</p>`;
  }

  #tools({ position, shift, layout }: State): TemplateResult {
    const [least, most] = LIMITS.shift;
    const [first, last] = LIMITS.position;
    const typed = {
      value: position,
      nearest: (value: number) => clamp(Math.round(value), LIMITS.position),
      take: (value: number) => this.change({ position: value }),
    };
    const slide = (place: string) => this.change({ position: positionAt(Number(place), position) });
    const layouts = LAYOUTS.map((name) => [name, t(`layout.${name}`)] as const);
    return html`
      <div class="control" data-control>
        <label for="position">${t('shift.position')}</label>
        <div class="with-number">
          <input id="position" type="range" min="0" max=${toSlider(last)} step="1" aria-valuetext=${`p = ${position}`}
            .value=${live(String(toSlider(position)))} @input=${withValue(slide)}>
          <input id="position-number" type="number" min=${first} max=${last} step="1" aria-label=${t('shift.positionNumber')} ${numeric(typed)}>
        </div>
      </div>
      <div class="control" data-control>
        <label for="shift">${t('shift.label')}</label>
        <div class="with-number">
          <input id="shift" type="range" min=${least} max=${most} step="1" aria-valuetext=${`k = ${shift}`}
            .value=${live(String(shift))} @input=${withValue((value) => this.change({ shift: Number(value) }))}>
          <output for="shift">${`k = ${shift}`}</output>
        </div>
      </div>
      <div class="control" data-control>
        <span id="layout-name">${t('layout.title')}</span>
        <fieldset class="segmented" aria-labelledby="layout-name">${radios('pair-layout', layouts, layout, (name) => this.change({ layout: name }))}</fieldset>
      </div>`;
  }
}

customElements.define('qkv-shift', ShiftPart);
