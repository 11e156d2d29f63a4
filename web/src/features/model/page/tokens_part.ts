import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { sentences } from '../../../i18n/i18n';
import { mean } from '../../../domain/averages';
import type { View } from '../../panel';
import { digits, percent } from '../../../ui/numbers';
import { ModelPart } from './model_part';
import type { Reading } from '../shared/protocol';
import { EXAMPLES } from '../shared/shipped_models';
import { t } from '../feature';

/** Surprise that fills a token, in nats: one in 400. */
const FULL = 6;

/** The text as the model reads it: each token is as dark as it was unexpected. One of them is chosen. */
export class TokensPart extends ModelPart {
  /** The latest; it stays while another model reads the text. */
  #reading: Reading | null = null;

  protected inputs({ model, state, look }: View): readonly unknown[] {
    this.#reading = model.answers.reading ?? this.#reading;
    return [this.#reading, model.info, state.modelAt, look];
  }

  protected render({ model, state }: View): TemplateResult {
    const reading = this.#reading;
    const name = model.info?.name;
    const notes = reading ? notesOf(reading) : '';
    const at = Math.min(state.modelAt ?? Infinity, (reading?.ids.length ?? 0) - 1);
    return html`
      <h3>${t('model.text.title')}</h3>
      <p class="hint">${t('model.text.intro')}</p>
      <div class="buttons model-examples" data-control>${(name ? EXAMPLES[name] : []).map((text) => this.#example(text))}</div>
      <p class="note model-left-out" role="status" ?hidden=${notes === ''}>${notes}</p>
      <div class="model-tokens" role="radiogroup" aria-label=${t('model.text.choose')}
        @change=${({ target }: Event) => this.change({ modelAt: Number((target as HTMLInputElement).value) })}>${reading && tokensOf(reading, at)}</div>
      <p class="model-chosen">${reading && chosenText(reading, at)}</p>`;
  }

  /** A text in the language of the model, which is not always that of the page. */
  #example(text: string): TemplateResult {
    const language = /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
    return html`<button type="button" class="button" lang=${language} data-example=${text}
      @click=${() => this.change({ text, query: null, modelAt: null })}>${text}</button>`;
  }
}

function tokensOf({ labels, surprisal }: Reading, chosen: number): TemplateResult[] {
  return labels.map((label, at) => {
    const surprise = surprisal[at] ?? NaN;
    const share = 100 * Math.min(1, (surprise || 0) / FULL);
    return html`<label><input type="radio" name="model-at" value=${at} class="visually-hidden" .checked=${live(at === chosen)}
      aria-label=${t('model.text.token', { at, token: label, nats: nats(surprise) })}><span .style=${`--share: ${share}%`}>${label}</span></label>`;
  });
}

/** What of the text is not read. */
function notesOf({ unknown, total, ids }: Reading): string {
  const list = unknown.slice(0, 12).join(' ');
  return sentences(
    unknown.length > 0 ? t('model.text.unknown', { count: unknown.length, list }) : '',
    total > ids.length ? t('model.text.cut', { total, read: ids.length }) : '',
  );
}

function chosenText({ labels, surprisal }: Reading, at: number): string {
  if (at < 0) return '';
  const surprise = surprisal[at] ?? NaN;
  const known = surprisal.filter(Number.isFinite);
  const values = {
    ...{ at, token: labels[at] ?? '' },
    ...{ nats: nats(surprise), p: percent(Math.exp(-surprise)) },
  };
  const first = t(
    Number.isFinite(surprise) ? 'model.text.chosen' : 'model.text.chosenFirst',
    values,
  );
  const loss =
    known.length > 0
      ? t('model.text.mean', { loss: digits(mean(known), 4), count: known.length })
      : '';
  return `${first} ${loss}`.trim();
}

const nats = (value: number) => (Number.isFinite(value) ? value.toFixed(2) : '–');
