import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { t } from '../feature';
import { Guess } from '../../../ui/guess';
import { withValue } from '../../../ui/lit/controls';
import type { RotaryScore } from '../worker/scheme_maps';
import { digits } from '../../../ui/numbers';
import { LIMITS } from '../../../state/state';
import { clamp } from '../../../state/field';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';

const NAMES = { rotaryQ: 'm', rotaryK: 'n' } as const;
type End = keyof typeof NAMES;

const ROWS = ['score', 'apart', 'exact', 'difference', 'error'] as const;
type Row = (typeof ROWS)[number];

const withMinus = (value: number) => String(value).replace('-', '−');

/** One query turned to m, one key turned to n: what is left is the distance. */
export class RotaryPart extends LitPanel {
  #at: Record<End, number> = { rotaryQ: 0, rotaryK: 0 };
  /** Whether the reader guessed that the score stays, and at which distance; null: no guess. */
  #guess: { stays: boolean; distance: number } | null = null;
  /** The latest, which stays while nothing is computed. */
  #score: RotaryScore | null = null;

  protected override ready(): void {
    this.addEventListener('guessed', (event) => {
      const { detail } = event as CustomEvent<string | null>;
      const distance = this.#at.rotaryQ - this.#at.rotaryK;
      this.#guess = detail === null ? null : { stays: detail === 'stays', distance };
      this.change({ positionsAsk: false });
    });
    this.addEventListener('guess-again', () => {
      this.change({ positionsAsk: true });
      this.find('qkv-guess', Guess).focusFirst();
    });
  }

  /** With the distance held, the other end goes along, and both stop where one must. */
  #move(end: End, to: number): void {
    if (!this.find('#hold', HTMLInputElement).checked) {
      this.change({ [end]: to });
      return;
    }
    const other = end === 'rotaryQ' ? 'rotaryK' : 'rotaryQ';
    const [least, most] = LIMITS[other];
    const from = this.#at;
    const step = clamp(to - from[end], [least - from[other], most - from[other]]);
    this.#at = { ...from, [end]: from[end] + step, [other]: from[other] + step };
    this.change(this.#at);
  }

  override update(view: View): void {
    const { rotaryQ, rotaryK } = view.state;
    this.#at = { rotaryQ, rotaryK };
    this.#score = view.frame?.positions?.rotary ?? this.#score;
    super.update(view);
  }

  protected inputs({ state, look }: View): readonly unknown[] {
    return [state.rotaryQ, state.rotaryK, state.positionsAsk, this.#score, look];
  }

  protected render({ state }: View): TemplateResult {
    return html`
      <h3>${t('rotary.title')}</h3>
      <p>${t('rotary.intro')}</p>
      <div data-control class="rotary-controls">
        ${this.#slider('rotaryQ')}${this.#slider('rotaryK')}
        <label class="check"><input type="checkbox" id="hold"> <span>${t('rotary.hold')}</span></label>
      </div>
      <qkv-guess></qkv-guess>
      <dl class="rotary-readings" ?hidden=${state.positionsAsk}>${ROWS.map((row) => readingOf(row, this.#score))}</dl>`;
  }

  #slider(end: End): TemplateResult {
    const { rotaryQ, rotaryK } = this.#at;
    const [least, most] = LIMITS[end];
    const text = `${NAMES[end]} = ${this.#at[end]}`;
    const spoken = t('rotary.spoken', { text, distance: withMinus(rotaryQ - rotaryK) });
    return html`
      <div class="control">
        <label for=${end}>${t(`rotary.${end}`)}</label>
        <div class="with-number">
          <input id=${end} type="range" min=${least} max=${most} step="1" aria-valuetext=${spoken}
            .value=${live(String(this.#at[end]))} @input=${withValue((to) => this.#move(end, Number(to)))}>
          <output for=${end}>${text}</output>
        </div>
      </div>`;
  }

  protected override rendered({ state }: View): void {
    if (!this.#score) return;
    const { m, n, score, apart } = this.#score;
    const guess = this.find('qkv-guess', Guess);
    const choices = (['grows', 'falls', 'stays'] as const).map((value) => ({
      value,
      label: t(`rotary.${value}`),
    }));
    guess.ask(state.positionsAsk ? t('rotary.question') : null, choices);
    if (state.positionsAsk || this.#guess?.distance !== m - n) this.#guess = null;
    const values = {
      ...{ m, n, distance: withMinus(m - n) },
      ...{ score: digits(score, 5), apart: digits(apart, 5) },
    };
    const verdict = t(this.#guess?.stays ? 'guess.right' : 'guess.other');
    guess.tell(
      this.#guess ? t('guess.outcome', { verdict, answer: t('rotary.answer', values) }) : '',
    );
  }
}

function readingOf(row: Row, of: RotaryScore | null): TemplateResult {
  return html`<div><dt data-rotary-name=${row}>${of && nameOf(row, of)}</dt><dd data-rotary=${row}>${of && numberOf(row, of)}</dd></div>`;
}

const nameOf = (row: Row, { m, n }: RotaryScore): string =>
  t(`rotary.${row}`, { m, n, distance: withMinus(m - n) });

function numberOf(row: Row, { score, apart, exact }: RotaryScore): string {
  if (row === 'difference') return digits(Math.abs(score - apart), 2);
  if (row === 'error') return digits(Math.abs(score - exact), 2);
  return digits({ score, apart, exact }[row], 7);
}

customElements.define('qkv-rotary', RotaryPart);
