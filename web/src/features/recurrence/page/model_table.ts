import { html, type TemplateResult } from 'lit-html';
import { unsafeSVG } from 'lit-html/directives/unsafe-svg.js';
import { tableHead } from '../../../ui/lit/tables';
import { KINDS, type Kind } from '../shared/model_configs';
import type { Progress } from '../shared/protocol';
import { t } from '../feature';
import { pointOf } from './plot_marks';
import { nameOf, spreadOfSizes, tableRows } from './sentences';

const COLUMNS = ['model', 'parameters', 'steps', 'rate', 'loss', 'batchAccuracy'] as const;

/** The curve of a model, as in the plots. */
export const markOf = (kind: Kind): TemplateResult =>
  html`<svg width="34" height="12" aria-hidden="true"><path class="kind kind-${kind} kind-now" d="M0 6H34"/>${unsafeSVG(pointOf('page', kind, 17, 6))}</svg>`;

/** The same with its name. */
export const entryOf = (kind: Kind): TemplateResult =>
  html`${markOf(kind)} <span>${nameOf(kind)}</span>`;

/** How far the models are. */
export function modelTable(progress: Progress): TemplateResult {
  const heads = COLUMNS.map((name) => t(`recurrence.${name}`));
  const row = (kind: Kind) => html`
    <tr data-model=${kind}><th scope="row">${entryOf(kind)}</th>${tableRows(progress, kind).map(
      (text, i) => html`<td data-label=${heads[i + 1]}>${text}</td>`,
    )}</tr>`;
  return html`
    <div class="recurrence-table"><table class="data-table" aria-label=${t('recurrence.models')}>
      ${tableHead(heads)}<tbody>${KINDS.map(row)}</tbody>
    </table></div>
    <p class="hint recurrence-same">${t('recurrence.same', { percent: spreadOfSizes(progress) })}</p>`;
}
