import { sentences } from '../../../i18n/i18n';
import { mean } from '../../../domain/averages';
import type { View } from '../../panel';
import { digits, percent } from '../../../ui/numbers';
import { ModelPart } from './model_part';
import type { Reading } from '../shared/protocol';
import { EXAMPLES, type ShippedName } from '../shared/shipped_models';
import { t } from '../feature';

/** Surprise that fills a token, in nats: one in 400. */
const FULL = 6;

/** The text as the model reads it: each token is as dark as it was unexpected. One of them is chosen. */
export class TokensPart extends ModelPart {
  /** What the tokens were built of; their names are in a language. */
  #reading: Reading | null = null;
  #language = '';

  protected template(): string {
    return `
      <h3 data-t="model.text.title"></h3>
      <p class="hint" data-t="model.text.intro"></p>
      <div class="buttons model-examples" data-control></div>
      <p class="note model-left-out" role="status" hidden></p>
      <div class="model-tokens" role="radiogroup" data-t-label="model.text.choose"></div>
      <p class="model-chosen"></p>`;
  }

  protected override ready(): void {
    this.find('.model-tokens', HTMLElement).addEventListener('change', (event) => {
      if (event.target instanceof HTMLInputElement) this.change({ modelAt: +event.target.value });
    });
    this.find('.model-examples', HTMLElement).addEventListener('click', (event) => {
      const { example } = event.target instanceof HTMLElement ? event.target.dataset : {};
      if (example !== undefined) this.change({ text: example, query: null, modelAt: null });
    });
  }

  update({ model, state, look }: View): void {
    const { info, answers } = model;
    const { reading } = answers;
    if (!info || !reading) return;
    if (!this.changed(reading, info, state.modelAt, state.language, look)) return;
    if (reading !== this.#reading || state.language !== this.#language) {
      this.#language = state.language;
      this.#build(reading);
    }
    this.#examples(info.name);
    this.#leftOut(reading);
    const at = Math.min(state.modelAt ?? Infinity, reading.ids.length - 1);
    const radios = this.querySelectorAll<HTMLInputElement>('input[type=radio]');
    radios.forEach((radio, t) => (radio.checked = t === at));
    if (at < 0) this.setText('.model-chosen', '');
    else this.#tellChosen(reading, at);
  }

  #build(reading: Reading): void {
    this.#reading = reading;
    const tokens = reading.labels.map((label, at) => {
      const box = document.createElement('label');
      const radio = document.createElement('input');
      const face = document.createElement('span');
      Object.assign(radio, { type: 'radio', name: 'model-at', value: String(at) });
      radio.className = 'visually-hidden';
      const surprise = reading.surprisal[at] ?? NaN;
      const name = t('model.text.token', { at, token: label, nats: nats(surprise) });
      radio.setAttribute('aria-label', name);
      face.textContent = label;
      face.style.setProperty('--share', `${100 * Math.min(1, (surprise || 0) / FULL)}%`);
      box.append(radio, face);
      return box;
    });
    this.find('.model-tokens', HTMLElement).replaceChildren(...tokens);
  }

  /** Texts in the language of the model, which is not always that of the page. */
  #examples(model: ShippedName | null): void {
    const texts = model ? EXAMPLES[model] : [];
    const box = this.find('.model-examples', HTMLElement);
    if (box.dataset['of'] === texts.join()) return;
    box.dataset['of'] = texts.join();
    box.replaceChildren(
      ...texts.map((text) => {
        const button = document.createElement('button');
        Object.assign(button, { type: 'button', className: 'button', textContent: text });
        button.lang = /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
        button.dataset['example'] = text;
        return button;
      }),
    );
  }

  #leftOut({ unknown, total, ids }: Reading): void {
    const notes = [];
    if (unknown.length > 0) {
      notes.push(
        t('model.text.unknown', { count: unknown.length, list: unknown.slice(0, 12).join(' ') }),
      );
    }
    if (total > ids.length) notes.push(t('model.text.cut', { total, read: ids.length }));
    const note = this.find('.model-left-out', HTMLElement);
    note.hidden = notes.length === 0;
    note.textContent = sentences(...notes);
  }

  #tellChosen({ labels, surprisal }: Reading, at: number): void {
    const surprise = surprisal[at] ?? NaN;
    const known = surprisal.filter(Number.isFinite);
    const values = {
      at,
      token: labels[at] ?? '',
      nats: nats(surprise),
      p: percent(Math.exp(-surprise)),
    };
    const first = t(
      Number.isFinite(surprise) ? 'model.text.chosen' : 'model.text.chosenFirst',
      values,
    );
    const loss =
      known.length > 0
        ? t('model.text.mean', { loss: digits(mean(known), 4), count: known.length })
        : '';
    this.setText('.model-chosen', `${first} ${loss}`.trim());
  }
}

const nats = (value: number) => (Number.isFinite(value) ? value.toFixed(2) : '–');
