import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { withValue } from '../../../ui/lit/controls';
import { tableHead, tableRow } from '../../../ui/lit/tables';
import { rich } from '../../../ui/lit/texts';
import { digits } from '../../../ui/numbers';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import type { GainResult } from '../worker/gain_rows';
import { clampGain } from '../state';
import { t } from '../feature';

const COLUMNS = ['setting', 'deviation', 'entropy', 'largest'] as const;
const ROWS = ['plain', 'scaled', 'restored'] as const;
/** The slider holds the exponent, so that 1 is in the middle. */
const STEPS = 40;

const toSlider = (gain: number) => Math.round(Math.log2(gain) * (STEPS / 2));
const fromSlider = (value: number) => clampGain(2 ** (value / (STEPS / 2)));

/** What the gain of LayerNorm does to a row, and which temperature undoes it. */
export class GainPart extends LitPanel {
  /** Out of sight nothing is computed: what was shown stays. */
  #result: GainResult | null = null;

  protected inputs({ state, frame, look }: View): readonly unknown[] {
    return [state.gain, frame?.temperature?.gain, look];
  }

  protected render({ state: { gain }, frame }: View): TemplateResult {
    const result = (this.#result = frame?.temperature?.gain ?? this.#result);
    return html`
      <h3>${t('gain.title')}</h3>
      <p class="hint">${rich('gain.intro')}</p>
      <label class="gain-control" data-control>
        <span>${t('gain.factor')}</span>
        <input type="range" min=${-STEPS} max=${STEPS} step="1" aria-valuetext="c = ${gain}"
          .value=${live(String(toSlider(gain)))}
          @input=${withValue((value) => this.change({ gain: fromSlider(Number(value)) }))}>
        <output>c = ${digits(gain, 3)}</output>
      </label>
      <div class="gain-table" ?hidden=${result === null}>${result && tableOf(result)}</div>
      <p class="hint gain-note">${result && noteOf(result)}</p>`;
  }
}

function tableOf(result: GainResult): TemplateResult {
  const row = (name: (typeof ROWS)[number]) => {
    const { temperature, deviation, entropy, largest } = result[name];
    const setting = t(`gain.${name}`, { temperature: digits(temperature, 3) });
    return tableRow(setting, [digits(deviation, 4), digits(entropy, 4), digits(largest, 3)]);
  };
  return html`<table class="data-table">
    ${tableHead(COLUMNS.map((name) => t(`gain.${name}`)))}
    <tbody>${ROWS.map(row)}</tbody></table>`;
}

function noteOf({ plain, scaled, difference }: GainResult): string {
  const ratio = digits(scaled.deviation / plain.deviation, 4);
  return t('gain.note', { ratio, difference: digits(difference, 2) });
}

customElements.define('qkv-gain', GainPart);
