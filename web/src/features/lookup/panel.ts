import './style.css';
import { html, nothing, type TemplateResult } from 'lit-html';
import { LIMITS } from '../../state/state';
import { slider } from '../../ui/lit/controls';
import type { Figure } from '../../ui/export_figure';
import { digits, four } from '../../ui/numbers';
import { tableHead } from '../../ui/lit/tables';
import { fromSlider, toSlider } from '../../ui/temperature_slider';
import { LitPanel } from '../lit_panel';
import type { View } from '../panel';
import { t } from './feature';
import { lookupFigure } from './page/figure';
import { hardAnswer, READINGS, softAnswer } from './shared/readings';
import { lookupOf } from './state';

const hour = (at: number) => `${Math.floor(at)}:${at % 1 === 0 ? '00' : '30'}`;

const answerOf = (kind: 'hard' | 'soft', third: string, rows: TemplateResult[], answer: string) =>
  html`<section class="lookup-side" data-kind=${kind}>
    <h3>${t(`lookup.${kind}`)}</h3>
    <table class="data-table">
      ${tableHead([t('lookup.key'), third, t('lookup.value')])}
      <tbody>${rows}</tbody>
    </table>
    <p class="lookup-answer" role="status">${answer}</p>
  </section>`;

const rowOf = ({ key, value }: (typeof READINGS)[number], weight: TemplateResult, found = false) =>
  html`<tr class=${found ? 'lookup-found' : nothing}>
    <th scope="row"><span class="role role-k">${hour(key)}</span></th>
    <td>${weight}</td>
    <td><span class="role role-v">${value} °C</span></td>
  </tr>`;

function hardSide(question: number): TemplateResult {
  const rows = READINGS.map((reading) => {
    const found = reading.key === question;
    return rowOf(reading, html`<span class="lookup-weight">${found ? '=' : '≠'}</span>`, found);
  });
  const answer = hardAnswer(question);
  const sentence =
    answer === null
      ? t('lookup.none', { hour: hour(question) })
      : t('lookup.found', { answer: String(answer) });
  return answerOf('hard', t('lookup.fits'), rows, sentence);
}

function softSide(question: number, temperature: number): TemplateResult {
  const { weights, answer } = softAnswer(question, temperature);
  const rows = READINGS.map((reading, i) => {
    const weight = weights[i] ?? 0;
    const width = `width: ${(100 * weight).toFixed(2)}%`;
    return rowOf(
      reading,
      html`<span class="bar"><i .style=${width}></i></span><span class="lookup-weight">${four(weight)}</span>`,
    );
  });
  const sentence = t('lookup.mix', { answer: digits(answer, 4) });
  return answerOf('soft', t('lookup.weight'), rows, sentence);
}

/** A dictionary that answers with one entry or none, beside one that answers with a mix of all. */
class LookupPanel extends LitPanel {
  protected inputs({ state, look }: View): readonly unknown[] {
    return [state.lookupQuestion, state.lookupTemperature, look];
  }

  protected render({ state }: View): TemplateResult {
    const { question, temperature } = lookupOf(state);
    const [least, most] = LIMITS.lookupTemperature;
    return html`<div class="card lookup">
      <div class="lookup-tools" data-control>
        ${slider({
          ...{ id: 'lookup-question', label: t('lookup.question'), step: 0.5 },
          ...{ limits: LIMITS.lookupQuestion, place: question, words: hour(question) },
          take: (lookupQuestion) => this.change({ lookupQuestion }),
        })}
        ${slider({
          ...{ id: 'lookup-temperature', label: t('lookup.temperature') },
          ...{ limits: [toSlider(least), toSlider(most)], place: toSlider(temperature) },
          words: String(temperature),
          take: (place) => this.change({ lookupTemperature: fromSlider(place) }),
        })}
      </div>
      <div class="lookup-sides">${hardSide(question)}${softSide(question, temperature)}</div>
      <p class="hint">${t('lookup.score')}</p>
    </div>`;
  }

  override figure({ state }: View): Promise<Figure> {
    const { question, temperature } = lookupOf(state);
    return Promise.resolve(lookupFigure(question, temperature));
  }
}

customElements.define('qkv-panel-lookup', LookupPanel);
