import { t } from '../feature';
import { Guess } from '../../../ui/guess';
import type { RotaryScore } from '../worker/scheme_maps';
import { digits } from '../../../ui/numbers';
import { LIMITS } from '../../../state/state';
import { clamp } from '../../../state/field';
import { Panel, type View } from '../../panel';

const ENDS = ['rotaryQ', 'rotaryK'] as const;
type End = (typeof ENDS)[number];

const slider = (end: End) => `
  <div class="control">
    <label for="${end}" data-t="rotary.${end}"></label>
    <div class="with-number">
      <input id="${end}" type="range" min="${LIMITS[end][0]}" max="${LIMITS[end][1]}" step="1">
      <output for="${end}"></output>
    </div>
  </div>`;

const ROWS = ['score', 'apart', 'exact', 'difference', 'error'] as const;

/** One query turned to m, one key turned to n: what is left is the distance. */
export class RotaryPart extends Panel {
  #at: Record<End, number> = { rotaryQ: 0, rotaryK: 0 };
  /** Whether the reader guessed that the score stays, and at which distance; null: no guess. */
  #guess: { stays: boolean; distance: number } | null = null;

  protected template(): string {
    const rows = ROWS.map(
      (row) => `<div><dt data-rotary-name="${row}"></dt><dd data-rotary="${row}"></dd></div>`,
    );
    return `
      <h3 data-t="rotary.title"></h3>
      <p data-t="rotary.intro"></p>
      <div data-control class="rotary-controls">
        ${slider('rotaryQ')}${slider('rotaryK')}
        <label class="check"><input type="checkbox" id="hold"> <span data-t="rotary.hold"></span></label>
      </div>
      <qkv-guess></qkv-guess>
      <dl class="rotary-readings">${rows.join('')}</dl>`;
  }

  protected override ready(): void {
    for (const end of ENDS) {
      const input = this.find(`#${end}`, HTMLInputElement);
      input.addEventListener('input', () => this.#move(end, +input.value));
    }
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

  update({ state, frame, look }: View): void {
    this.#at = { rotaryQ: state.rotaryQ, rotaryK: state.rotaryK };
    for (const end of ENDS) {
      const input = this.find(`#${end}`, HTMLInputElement);
      input.value = String(state[end]);
      const text = `${end === 'rotaryQ' ? 'm' : 'n'} = ${state[end]}`;
      input.setAttribute('aria-valuetext', t('rotary.spoken', { text, distance: this.#distance }));
      this.setText(`[for=${end}]:is(output)`, text);
    }
    const score = frame?.positions?.rotary;
    if (!score || !this.changed(score, look, state.positionsAsk, this.#guess)) return;
    this.#ask(score, state.positionsAsk);
    const minus = (value: number) => String(value).replace('-', '−');
    const { m, n } = score;
    const numbers = {
      score: score.score,
      apart: score.apart,
      exact: score.exact,
      difference: Math.abs(score.score - score.apart),
      error: Math.abs(score.score - score.exact),
    };
    for (const row of ROWS) {
      const names = { m, n, distance: minus(m - n) };
      this.setText(`[data-rotary-name=${row}]`, t(`rotary.${row}`, names));
      const precise = row === 'difference' || row === 'error' ? 2 : 7;
      this.setText(`[data-rotary=${row}]`, digits(numbers[row], precise));
    }
  }

  #ask({ m, n, score, apart }: RotaryScore, asked: boolean): void {
    const guess = this.find('qkv-guess', Guess);
    const choices = (['grows', 'falls', 'stays'] as const).map((value) => ({
      value,
      label: t(`rotary.${value}`),
    }));
    guess.ask(asked ? t('rotary.question') : null, choices);
    this.find('.rotary-readings', HTMLElement).hidden = asked;
    if (asked || this.#guess?.distance !== m - n) this.#guess = null;
    const values = {
      m,
      n,
      distance: String(m - n).replace('-', '−'),
      score: digits(score, 5),
      apart: digits(apart, 5),
    };
    const verdict = t(this.#guess?.stays ? 'guess.right' : 'guess.other');
    guess.tell(this.#guess ? t('guess.told', { verdict, answer: t('rotary.answer', values) }) : '');
  }

  get #distance(): string {
    return String(this.#at.rotaryQ - this.#at.rotaryK).replace('-', '−');
  }
}

customElements.define('qkv-rotary', RotaryPart);
