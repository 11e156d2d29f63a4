import './style.css';
import { LIMITS } from '../../state/state';
import { find } from '../../ui/dom';
import type { Figure } from '../../ui/export_figure';
import { digits, four } from '../../ui/numbers';
import { fromSlider, toSlider } from '../../ui/temperature_slider';
import { Panel, type View } from '../panel';
import { t } from './feature';
import { lookupFigure } from './page/figure';
import { hardAnswer, READINGS, softAnswer } from './shared/readings';
import { lookupOf } from './state';

const hour = (at: number) => `${Math.floor(at)}:${at % 1 === 0 ? '00' : '30'}`;

const entries = (kind: 'hard' | 'soft') =>
  READINGS.map(
    ({ key, value }) => `
      <tr><th scope="row"><span class="role role-k">${hour(key)}</span></th>
        <td>${kind === 'soft' ? '<span class="bar"><i></i></span>' : ''}<span class="lookup-weight"></span></td>
        <td><span class="role role-v">${value} °C</span></td></tr>`,
  ).join('');

const side = (kind: 'hard' | 'soft') => `
  <section class="lookup-side" data-kind="${kind}">
    <h3 data-t="lookup.${kind}"></h3>
    <table class="data-table">
      <thead><tr><th scope="col" data-t="lookup.key"></th><th scope="col" data-t="lookup.${kind === 'hard' ? 'fits' : 'weight'}"></th><th scope="col" data-t="lookup.value"></th></tr></thead>
      <tbody>${entries(kind)}</tbody>
    </table>
    <p class="lookup-answer" role="status"></p>
  </section>`;

/** A dictionary that answers with one entry or none, beside one that answers with a mix of all. */
class LookupPanel extends Panel {
  protected template(): string {
    const [first, last] = LIMITS.lookupQuestion;
    const [least, most] = LIMITS.lookupTemperature;
    return `
      <div class="card lookup">
        <div class="lookup-tools" data-control>
          <div class="control"><label for="lookup-question" data-t="lookup.question"></label>
            <span class="with-number"><input id="lookup-question" type="range" min="${first}" max="${last}" step="0.5">
              <output for="lookup-question"></output></span></div>
          <div class="control"><label for="lookup-temperature" data-t="lookup.temperature"></label>
            <span class="with-number"><input id="lookup-temperature" type="range" min="${toSlider(least)}" max="${toSlider(most)}" step="1">
              <output for="lookup-temperature"></output></span></div>
        </div>
        <div class="lookup-sides">${side('hard')}${side('soft')}</div>
        <p class="hint" data-t="lookup.score"></p>
      </div>`;
  }

  protected override ready(): void {
    const question = this.find('#lookup-question', HTMLInputElement);
    question.addEventListener('input', () => this.change({ lookupQuestion: +question.value }));
    const temperature = this.find('#lookup-temperature', HTMLInputElement);
    temperature.addEventListener('input', () => {
      this.change({ lookupTemperature: fromSlider(+temperature.value) });
    });
  }

  update({ state, look }: View): void {
    const { question, temperature } = lookupOf(state);
    if (!this.changed(question, temperature, look)) return;
    const asked = this.find('#lookup-question', HTMLInputElement);
    asked.value = String(question);
    asked.setAttribute('aria-valuetext', hour(question));
    this.setText('output[for=lookup-question]', hour(question));
    this.find('#lookup-temperature', HTMLInputElement).value = String(toSlider(temperature));
    this.setText('output[for=lookup-temperature]', String(temperature));
    this.#showHard(question);
    this.#showSoft(question, temperature);
  }

  override figure({ state }: View): Promise<Figure> {
    const { question, temperature } = lookupOf(state);
    return Promise.resolve(lookupFigure(question, temperature));
  }

  #rows(kind: 'hard' | 'soft'): NodeListOf<HTMLElement> {
    return this.querySelectorAll<HTMLElement>(`[data-kind=${kind}] tbody tr`);
  }

  #showHard(question: number): void {
    const answer = hardAnswer(question);
    this.#rows('hard').forEach((row, i) => {
      const fits = READINGS[i]?.key === question;
      row.classList.toggle('lookup-found', fits);
      find(row, '.lookup-weight', HTMLElement).textContent = fits ? '=' : '≠';
    });
    const text =
      answer === null
        ? t('lookup.none', { hour: hour(question) })
        : t('lookup.found', { answer: String(answer) });
    this.setText('[data-kind=hard] .lookup-answer', text);
  }

  #showSoft(question: number, temperature: number): void {
    const { weights, answer } = softAnswer(question, temperature);
    this.#rows('soft').forEach((row, i) => {
      const weight = weights[i] ?? 0;
      find(row, 'i', HTMLElement).style.width = `${(100 * weight).toFixed(2)}%`;
      find(row, '.lookup-weight', HTMLElement).textContent = four(weight);
    });
    this.setText('[data-kind=soft] .lookup-answer', t('lookup.mix', { answer: digits(answer, 4) }));
  }
}

customElements.define('qkv-panel-lookup', LookupPanel);
