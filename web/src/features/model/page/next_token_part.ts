import { html, nothing, type TemplateResult } from 'lit-html';
import { sentences } from '../../../i18n/i18n';
import { slider } from '../../../ui/lit/controls';
import { tableHead } from '../../../ui/lit/tables';
import type { View } from '../../panel';
import { digits, percent } from '../../../ui/numbers';
import { LIMITS, type State } from '../../../state/state';
import { bar, ModelPart, scrolled, wholeNumber } from './model_part';
import type { NextBar, NextToken } from '../shared/protocol';
import { t } from '../feature';

const STEPS = ['temperature', 'topK', 'topP'] as const;

/** What follows the chosen token: probabilities after each step of the selection. */
export class NextPart extends ModelPart {
  protected inputs({ model, state, look }: View): readonly unknown[] {
    const { modelTemperature, modelTopK, modelTopP } = state;
    return [model.answers.next, modelTemperature, modelTopK, modelTopP, look];
  }

  protected render({ model, state }: View): TemplateResult {
    const { next } = model.answers;
    const titles = [t('model.next.token'), ...STEPS.map((step) => t(`model.next.after.${step}`))];
    const actual = next?.actual?.id;
    const table = html`<table class="data-table model-bars">${tableHead(titles)}
      <tbody>${next?.bars.map((each) => rowOf(each, each.id === actual))}</tbody></table>`;
    // Without tokens nothing follows, and an empty heading would be read out.
    return html`
      <h3 ?hidden=${!next}>${next && t('model.next.title', { token: next.label, at: next.at })}</h3>
      <p class="hint">${t('model.next.intro')}</p>
      ${this.#settings(state)}
      ${scrolled(t('model.next.table'), table)}
      <p class="model-kept">${next && keptText(next)}</p>`;
  }

  #settings({ modelTemperature, modelTopK, modelTopP }: State): TemplateResult {
    return html`<div class="model-controls" data-control>
      ${slider({
        ...{ id: 'model-temperature', label: t('model.next.temperature') },
        ...{ limits: LIMITS.modelTemperature, step: 0.05 },
        ...{ place: modelTemperature, words: modelTemperature.toFixed(2) },
        take: (place) => this.change({ modelTemperature: place }),
      })}
      <div class="control">${wholeNumber('model-topK', t('model.next.topK'), LIMITS.modelTopK, {
        value: modelTopK,
        take: (value) => this.change({ modelTopK: value }),
      })}</div>
      ${slider({
        ...{ id: 'model-topP', label: t('model.next.topP'), limits: LIMITS.modelTopP, step: 0.01 },
        ...{ place: modelTopP, words: modelTopP.toFixed(2) },
        take: (place) => this.change({ modelTopP: place }),
      })}
    </div>`;
  }
}

function rowOf(of: NextBar, isActual: boolean): TemplateResult {
  const mark = isActual
    ? html` <span class="model-actual">${t('model.next.actual')}</span>`
    : nothing;
  return html`<tr><th scope="row"><bdi>${of.label}</bdi>${mark}</th>${STEPS.map((step) => cellOf(of[step]))}</tr>`;
}

const cellOf = (p: number | null) =>
  p === null
    ? html`<td class="model-dropped">${t('model.next.dropped')}</td>`
    : html`<td>${bar(p, percent(p))}</td>`;

function keptText(next: NextToken): string {
  const { keptK, keptP, vocabulary, entropy, actual } = next;
  const choices = { entropy: digits(entropy, 3), choices: digits(Math.exp(entropy), 3) };
  return sentences(
    cutSentence(next),
    t('model.next.kept', { vocabulary, keptK, keptP }),
    t('model.next.entropy', choices),
    actual ? t('model.next.follows', { token: actual.label, p: percent(actual.p) }) : '',
  );
}

/** What the ablated heads do to the likeliest token; nothing if none is ablated. */
export function cutSentence({ label: token, cut, bars }: NextToken): string {
  if (!cut) return '';
  const names = cut.heads.map((head) => head.join('.')).join(', ');
  const [whole, without] = [percent(cut.whole), percent(cut.cut)];
  const first = bars[0]?.label ?? '';
  const values = { names, token, label: cut.label, whole, without };
  if (first === cut.label) return t('model.next.cutSame', values);
  return t('model.next.cut', { ...values, first });
}
