import { html, nothing, type TemplateResult } from 'lit-html';
import type { Failure } from '../../../domain/failure';
import type { Language } from '../../../i18n/i18n';
import { button, typedText, withValue } from '../../../ui/lit/controls';
import { PaintedMatrix } from '../../../ui/matrix/painted_matrix';
import type { MatrixView } from '../../../ui/matrix/view';
import { percent, whole } from '../../../ui/numbers';
import { reasonOf } from '../../../ui/reason';
import { Lab } from '../../../worker/panel_worker_client';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { t } from '../feature';
import {
  dayOf,
  isHeldOut,
  isoOf,
  longestOf,
  PARTS_OF_DAY,
  tokensOf,
  type Day,
  type PartOfDay,
} from '../shared/dates';
import { charactersFor, mapOf, shareOn, showMap } from './date_maps';
import {
  DATE_HEADS,
  DATE_STEPS,
  DATES_TESTED,
  type DateReading,
  type FromDatesLab,
  type ToDatesLab,
} from '../shared/protocol';
import { DATES } from '../state';

const HEADS = Array.from({ length: DATE_HEADS }, (_, head) => head);

/** A small encoder-decoder: trained at a press, it writes a date of the reader's as numbers, and shows what it reads for each. */
export class DatesPart extends LitPanel {
  #language: Language = 'en';
  #text = '';
  #look = 0;
  #step = 0;
  /** Of the held-out dates; null before training has ended. */
  #right: number | null = null;
  #requested = '';
  #reading: DateReading | null = null;
  #failure: Failure | null = null;
  #maps: readonly PaintedMatrix[] = [];
  #painted: readonly unknown[] = [];
  readonly #lab = new Lab<ToDatesLab, FromDatesLab>('block', {
    onMessage: (message) => this.#receive(message),
    onFailure: (failure) => this.#end(failure),
  });

  protected inputs({ state, look }: View): readonly unknown[] {
    return [state.language, state.blockDate, look];
  }

  override update(view: View): void {
    const { language, blockDate } = view.state;
    // What was trained reads dates of the other language.
    if (language !== this.#language) this.#end(null);
    this.#language = language;
    this.#text = blockDate || DATES[language];
    this.#look = view.look;
    this.#ask();
    super.update(view);
  }

  #train(): void {
    this.#end(null);
    this.#step = 1;
    this.#lab.send({ type: 'train', language: this.#language });
    this.refresh();
  }

  #end(failure: Failure | null): void {
    this.#lab.stop();
    [this.#step, this.#right, this.#requested, this.#reading] = [0, null, '', null];
    this.#failure = failure;
    if (failure) this.refresh();
  }

  /** What is trained reads what the box has, once. */
  #ask(): void {
    const tokens = tokensOf(this.#text, this.#language);
    if (this.#right === null || !tokens || this.#requested === this.#text) return;
    this.#requested = this.#text;
    this.#lab.send({ type: 'read', tokens });
  }

  #receive(message: FromDatesLab): void {
    if (message.type === 'training') this.#step = message.step;
    else if (message.type === 'reading') this.#reading = message.reading;
    else {
      this.#right = message.right;
      this.#ask();
    }
    this.refresh();
  }

  protected render(): TemplateResult {
    const known = tokensOf(this.#text, this.#language) !== null;
    const reading = known ? this.#reading : null;
    return html`
      <h3>${t('block.dates.title')}</h3>
      <p>${t('block.dates.intro', { heads: DATE_HEADS })}</p>
      <div class="tools-row">
        <div class="control" data-control><label for="block-date">${t('block.dates.label')}</label>
          <input type="text" id="block-date" autocomplete="off" ${typedText(this.#text)}
            @input=${withValue((date) => this.change({ blockDate: date || null }))}></div>
        ${button('primary dates-train', t('block.dates.train', { steps: whole(DATE_STEPS) }), () => this.#train())}
      </div>
      <p class="hint dates-status" role="status">${this.#status()}</p>
      <p class="hint dates-unknown" ?hidden=${known}>${t('block.dates.unknown', { example: DATES[this.#language], longest: longestOf(this.#language) })}</p>
      ${reading && this.#verdict(reading)}
      <div class="dates-maps" ?hidden=${reading === null} @cell-shown=${() => this.refresh()}>${HEADS.map(
        (head) => html`<div>
          <p class="axes">${t('block.dates.axes', { head: head + 1 })}</p>
          <qkv-matrix></qkv-matrix>
          <p class="described">${reading && this.#describe(reading, head)}</p></div>`,
      )}</div>
`;
  }

  #status(): string {
    if (this.#failure) return t('block.dates.failed', { reason: reasonOf(this.#failure) });
    if (this.#right !== null) {
      return t('block.dates.trained', { right: this.#right, tested: DATES_TESTED });
    }
    return this.#step ? t('block.dates.running', { step: this.#step, steps: DATE_STEPS }) : '';
  }

  #verdict(reading: DateReading): TemplateResult {
    const [source = '', said = ''] = [reading.tokens, reading.ids].map((tokens) =>
      charactersFor(tokens, this.#language).join(''),
    );
    const day = dayOf(source, this.#language);
    const iso = day ? isoOf(day) : '';
    const verdict = !day ? 'none' : iso === said ? 'right' : 'wrong';
    return html`<p class="dates-written" role="status">${source} → <strong>${said}</strong></p>
      <p class="dates-verdict">${t(`block.dates.${verdict}`, { iso })}
        ${day && t(isHeldOut(day) ? 'block.dates.heldOut' : 'block.dates.seen')}</p>
      ${day && verdict === 'right' ? this.#shares(reading, day) : nothing}`;
  }

  /** Of a date that is right: whether each part was written from the same part of the source. */
  #shares(reading: DateReading, day: Day): TemplateResult {
    const share = (part: PartOfDay) => percent(shareOn(part, reading, day, this.#language));
    const shares = Object.fromEntries(PARTS_OF_DAY.map((part) => [part, share(part)]));
    return html`<p class="dates-shares">${t('block.dates.shares', shares)}</p>`;
  }

  #describe(reading: DateReading, head: number): string {
    const matrix = this.querySelectorAll<MatrixView>('.dates-maps qkv-matrix')[head];
    const model = mapOf(reading, head, [this.#language, this.#look]);
    return model.describe(matrix?.shown ?? model.home);
  }

  /** The maps are painted when they stand, and when they are of something else. */
  protected override rendered(): void {
    if (this.#maps.length === 0) {
      const views = [...this.querySelectorAll<MatrixView>('.dates-maps qkv-matrix')];
      this.#maps = views.map((view) => new PaintedMatrix(view));
    }
    const [reading, look] = [this.#reading, this.#look];
    if (reading === this.#painted[0] && look === this.#painted[1]) return;
    this.#painted = [reading, look];
    this.#maps.forEach((map, head) => {
      if (reading) showMap(map, reading, head, [this.#language, look]);
      else map.hide();
    });
  }
}

customElements.define('qkv-block-dates', DatesPart);
