import { html, type TemplateResult } from 'lit-html';
import { rich } from '../../../ui/lit/texts';
import { tableHead, tableRow } from '../../../ui/lit/tables';
import { digits, four } from '../../../ui/numbers';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { t } from '../feature';
import type { TemperaturePoint } from '../worker/temperature_study';

/** Of an entry that rounds to nothing, so that a matrix of such entries has no colour. */
const SMALLEST = 1e-4;

/** The Jacobian of the softmax as a matrix, for the keys with the largest scores. */
export class JacobianPart extends LitPanel {
  #point: TemperaturePoint | null = null;

  protected inputs({ frame, look }: View): readonly unknown[] {
    return [frame?.temperature?.jacobian, look];
  }

  protected render({ frame }: View): TemplateResult {
    // Out of sight nothing is computed: what was shown stays.
    this.#point = frame?.temperature ?? this.#point;
    const point = this.#point;
    return html`
      <h3>${t('jacobian.title')}</h3>
      <p class="hint">${rich('jacobian.intro')}</p>
      ${point && tableOf(point)}
      <p class="hint jacobian-note">${point && rich('jacobian.note', valuesOf(point))}</p>`;
  }
}

const valuesOf = ({ jacobian, of }: TemperaturePoint) => ({
  ...{ shown: jacobian.keys.length, count: of.scores.length },
  largest: digits(Math.max(0, ...jacobian.values), 3),
});

function tableOf({ jacobian: { keys, values } }: TemperaturePoint): TemplateResult {
  const most = Math.max(SMALLEST, ...values.map(Math.abs));
  const names = keys.map((key) => html`s<sub>${key + 1}</sub>`);
  const rows = keys.map((key, i) => {
    const row = values.slice(i * keys.length, (i + 1) * keys.length);
    return tableRow(
      html`p<sub>${key + 1}</sub>`,
      row.map((value) => cellOf(value, most)),
    );
  });
  return html`<div class="jacobian-scroll" role="region" tabindex="0" aria-label=${t('jacobian.table')}><table class="data-table jacobian">
    <caption class="visually-hidden">${t('jacobian.table')}</caption>
    ${tableHead([null, ...names])}<tbody>${rows}</tbody>
  </table></div>`;
}

/** A number on a ground of its sign, the stronger the larger it is. */
const cellOf = (value: number, most: number): TemplateResult => html`
  <span class="jacobian-cell" data-sign=${Math.sign(value)}><i .style=${`opacity: ${(Math.abs(value) / most).toFixed(3)}`}></i><span>${four(value)}</span></span>`;

customElements.define('qkv-jacobian', JacobianPart);
