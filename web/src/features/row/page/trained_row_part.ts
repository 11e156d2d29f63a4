import { html, svg, type TemplateResult } from 'lit-html';
import { trainedHeadName } from '../../../domain/sources';
import { digits } from '../../../ui/numbers';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { cell, numberCells, stepRow, trackText } from './number_cells';
import type { LearnedRow } from '../worker/trained_row';
import { t } from '../feature';

const ORDER = ['product', 'scaled', 'tempered', 'exp', 'weight', 'core'] as const;

/** The same steps for the chosen query of a trained head, whose numbers are as the model has them. */
export class LearnedPart extends LitPanel {
  protected inputs({ heads, list, look, ...view }: View): readonly unknown[] {
    return [stepsOf(view), heads.trainedHeads, list.tokens, look];
  }

  protected render({ heads, list, ...view }: View): TemplateResult {
    const steps = stepsOf(view);
    if (!steps) return html``;
    const token = (place: number) => list.tokens[place] ?? '';
    const { query, width, allowed, keys, sum, max, error } = steps;
    const values = { token: token(query), at: query, count: allowed, shown: keys.length, width };
    const scores = steps.temperature === 1 ? 's' : 's/τ';
    const note = { scores, sum: digits(sum, 4), max: digits(max, 4), error: digits(error, 2) };
    return html`<div class="card row-card row-learned">
      <h3>${t('row.learned.title', { head: trainedHeadName(heads, steps.head) })}</h3>
      <p class="hint row-learned-intro">${t('row.learned.intro', values)}</p>
      <div class="steps" role="table" aria-label=${t('row.learned.table')} .style=${`--keys: ${keys.length}`}>${rowsOf(steps, token)}</div>
      <p class="hint row-learned-note">${t('row.learned.note', note)}</p>
    </div>`;
  }
}

const stepsOf = ({ state, frame }: Pick<View, 'state' | 'frame'>): LearnedRow | null =>
  state.source === 'trained' ? (frame?.row?.learned ?? null) : null;

function rowsOf(steps: LearnedRow, token: (place: number) => string): TemplateResult[] {
  const { keys, terms, temperature } = steps;
  const most = Math.max(...terms.flatMap((each) => Array.from(each, Math.abs)));
  const values = {
    ...{ product: steps.products, scaled: steps.scaled, tempered: steps.tempered },
    ...{ exp: steps.exps, weight: steps.weights, core: steps.core },
  };
  const nameOf = (step: (typeof ORDER)[number]) =>
    step === 'tempered' ? t('row.learned.tempered', { temperature }) : t(`row.${step}`);
  const names = keys.map((place) =>
    cell(html`<bdi class="row-token">${`${token(place)} ${place}`}</bdi>`),
  );
  return [
    stepRow('key', [t('row.learned.keys')], '', names),
    stepRow(
      'terms',
      [t('row.learned.terms', { width: steps.width })],
      '',
      keys.map((_, j) => cell(bars(terms[j], most))),
    ),
    // At 1 the temperature divides nothing.
    ...ORDER.filter((step) => step !== 'tempered' || temperature !== 1).map((step) =>
      stepRow(
        step,
        [nameOf(step)],
        trackText(step, values[step], (end) => digits(end, 3)),
        numberCells(step, values[step], 0),
      ),
    ),
  ];
}

/** Products as bars, upwards where positive. */
function bars(terms: Float32Array | undefined, most: number): TemplateResult {
  const all = Array.from(terms ?? [], (term, c) => {
    const size = (20 * Math.abs(term)) / (most || 1);
    const y = term > 0 ? 20 - size : 20;
    return svg`<rect class=${term > 0 ? 'up' : 'down'} x=${c} y=${y.toFixed(2)} width="0.8" height=${size.toFixed(2)}/>`;
  });
  return html`<svg class="row-terms" viewBox="0 0 ${all.length} 40" preserveAspectRatio="none" role="img" aria-label=${t('row.learned.bars')}>${all}</svg>`;
}

customElements.define('qkv-row-learned', LearnedPart);
