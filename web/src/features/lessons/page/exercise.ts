import { html, nothing, render, type TemplateResult } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { parseRich } from '../../../i18n/markup';
import { richText } from '../../../ui/lit/texts';
import { digits } from '../../../ui/numbers';
import type { View } from '../../panel';
import type { Given, Kept, Result } from './answers';
import { isNear, isRight, isSameText, nearest, readAnswer } from './parse_answer';
import type { Exercise } from './lesson';
import { quantity } from './quantities';
import { t, type Key } from '../texts';

/** Lines to write on, on paper. */
const lines = (count: number) =>
  html`<div class="answer-lines" aria-hidden="true">${Array.from({ length: count }, () => html`<i></i>`)}</div>`;

interface Tools {
  /** What the page has computed at this moment. */
  readonly view: () => View;
  /** Whether the reader has left the settings of the step. */
  readonly moved: () => boolean;
  /** What is kept of an earlier answer. */
  readonly kept: () => Kept | null;
  readonly keep: (given: Given) => void;
}

type Kind = 'choice' | 'number' | 'text' | 'open';

/** How an answer is given. */
function kindOf({ choices, answers, number, value, right }: Exercise): Kind {
  if (choices) return 'choice';
  if (answers) return 'text';
  return (number ?? value ?? right) === undefined ? 'open' : 'number';
}

const isChecked = ({ number, value, right, answers }: Exercise) =>
  (number ?? value ?? right ?? answers) !== undefined;

/** The number that an answer is compared with; null: it is not computed yet. */
function expectedOf({ number, value, right }: Exercise, view: View): number | null {
  return number === undefined ? (value ?? right ?? null) : quantity(number, view);
}

/** What is said to an answer; without a result where it could not be compared. */
interface Verdict {
  readonly result: Result | null;
  readonly text: string;
}

const verdictOf = (isIt: boolean, right: Key, wrong: Key, about: string): Verdict => ({
  result: isIt ? 'right' : 'wrong',
  text: t(isIt ? right : wrong) + about,
});

function judgeNumber(
  exercise: Exercise,
  [readings, expected]: readonly [readonly number[], number],
  about: string,
): Verdict {
  const answer = nearest(readings, expected);
  const { value, off, within } = exercise;
  const isIt =
    value !== undefined && off !== undefined
      ? isNear(answer, value, off)
      : isRight(answer, expected, within);
  const own = exercise.number === undefined;
  const shown = { value: shownNumber(exercise, expected) };
  const right = t(own ? 'lessons.ownRight' : 'lessons.numberRight', shown);
  if (isIt) return { result: 'right', text: right + about };
  const large = own ? 'lessons.ownTooLarge' : 'lessons.tooLarge';
  const small = own ? 'lessons.ownTooSmall' : 'lessons.tooSmall';
  return { result: 'wrong', text: t(answer > expected ? large : small) + about };
}

/** What an exercise says to an answer, which may be read in several ways. */
function judge(exercise: Exercise, given: string, { view, moved }: Tools): Verdict {
  const { answers, choices } = exercise;
  if (answers) {
    if (given.trim() === '') return { result: null, text: t('lessons.noText') };
    return verdictOf(isSameText(given, answers), 'lessons.choiceRight', 'lessons.textWrong', '');
  }
  const readings = readAnswer(given);
  if (readings.length === 0) {
    return { result: null, text: t(choices ? 'lessons.choose' : 'lessons.noNumber') };
  }
  const expected = expectedOf(exercise, view());
  if (expected === null) return { result: null, text: t('lessons.notYetComputed') };
  // The author's own answer does not follow the settings.
  const about = exercise.value === undefined && moved() ? ` ${t('lessons.moved')}` : '';
  if (!choices) return judgeNumber(exercise, [readings, expected], about);
  const isIt = nearest(readings, expected) === Math.round(expected);
  return verdictOf(isIt, 'lessons.choiceRight', 'lessons.choiceWrong', about);
}

/** An author's number as it was written. */
const shownNumber = ({ number }: Exercise, expected: number) =>
  number === undefined ? String(expected).replace('-', '−') : digits(expected, 4);

/** The answer, for those who ask for it. */
function solution(exercise: Exercise, view: View): string {
  const { choices, answers } = exercise;
  if (answers) return t('lessons.solution', { value: answers.join(' / ') });
  const expected = expectedOf(exercise, view);
  if (expected === null) return t('lessons.notYetComputed');
  const value = choices ? (choices[Math.round(expected)] ?? '') : shownNumber(exercise, expected);
  return t('lessons.solution', { value });
}

let made = 0;

/** An exercise to answer on the page, or on paper. */
export class ExerciseItem {
  readonly element = document.createElement('li');
  readonly #exercise: Exercise;
  readonly #tools: Tools;
  /** Of its question, by which its boxes are called. */
  readonly #id = `exercise-${++made}`;
  #said = { text: '' };
  /** Whether the solution can be shown: after the first answer that was checked. */
  #canReveal = false;
  /** Null: it is not shown below the question. */
  #solution: string | null = null;

  constructor(exercise: Exercise, tools: Tools) {
    this.#exercise = exercise;
    this.#tools = tools;
    this.restore();
  }

  #draw(): void {
    const form = html`
      <form novalidate @input=${() => this.#keep(null)} @submit=${(event: Event) => this.#check(event)}>
        <p class="question" id=${this.#id}>${richText(this.#exercise.text)}</p>
        ${this.#boxes()}
        ${isChecked(this.#exercise) ? this.#answer() : nothing}
        <p class="solution" ?hidden=${this.#solution === null}>${this.#solution ?? ''}</p>
      </form>`;
    render(form, this.element);
  }

  /** What is entered there stays as it is, whatever is rendered again. */
  #boxes(): TemplateResult {
    const { choices = [] } = this.#exercise;
    const kind = kindOf(this.#exercise);
    const id = this.#id;
    if (kind === 'choice') {
      const box = (choice: string, i: number) =>
        html`<label><input type="radio" name=${id} value=${i}><span>${richText(choice)}</span></label>`;
      return html`<fieldset class="choices" aria-labelledby=${id}><legend class="visually-hidden">${t('lessons.choose')}</legend>${choices.map(box)}</fieldset>`;
    }
    if (kind === 'open') {
      return html`<p class="hint on-screen">${t('lessons.open')}</p>
        <textarea rows="2" maxlength="2000" aria-labelledby=${id}></textarea>${lines(3)}`;
    }
    const [mode, size] = kind === 'number' ? ['decimal', 10] : ['text', 28];
    return html`<input type="text" inputmode=${mode} autocomplete="off" size=${size} maxlength="300" aria-labelledby=${id}>`;
  }

  /** What is said to what was entered. */
  #answer(): TemplateResult {
    const kind = kindOf(this.#exercise);
    const reveal = () => {
      this.#say(solution(this.#exercise, this.#tools.view()));
      this.#keep(null, true);
    };
    return html`
      <button type="submit" class="button on-screen">${t('lessons.check')}</button>
      <button type="button" class="button on-screen reveal" ?hidden=${!this.#canReveal} @click=${reveal}>${t('lessons.reveal')}</button>
      ${kind === 'text' ? html`<p class="hint on-screen">${t('lessons.textRule')}</p>` : nothing}
      <p class="verdict" role="status">${keyed(this.#said, this.#said.text)}</p>
      ${kind === 'choice' ? nothing : lines(1)}`;
  }

  #check(event: Event): void {
    event.preventDefault();
    if (!isChecked(this.#exercise)) return;
    const { result, text } = judge(this.#exercise, this.#given(), this.#tools);
    this.#canReveal ||= result !== null;
    this.#say(text);
    if (result !== null) this.#keep(result);
  }

  /** Also what was said before is read out again. */
  #say(text: string): void {
    this.#said = { text };
    this.#draw();
  }

  /** What stands in the form: of choices the number of the chosen one. */
  #given(): string {
    const box = this.element.querySelector<HTMLInputElement | HTMLTextAreaElement>(
      'input:checked, input[type=text], textarea',
    );
    return box?.value ?? '';
  }

  /** What is typed or chosen is kept whether it is checked or not. */
  #keep(result: Result | null, shown = false): void {
    const given = this.#given();
    const { choices } = this.#exercise;
    const choice = choices && given !== '' ? Number(given) : undefined;
    const text = choice === undefined ? given : plainOfRich(choices?.[choice] ?? '');
    this.#tools.keep({ given: text, result, shown, ...(choice === undefined ? {} : { choice }) });
  }

  /** What is kept of an earlier visit into the form; nothing where nothing is. */
  restore(): void {
    const kept = this.#tools.kept();
    this.#canReveal = kept !== null && kept.checks > 0;
    this.#say(kept && kept.result !== '' ? t(`lessons.before.${kept.result}`) : '');
    this.element.querySelectorAll<HTMLInputElement>('[type=radio]').forEach((box, i) => {
      box.checked = i === kept?.choice;
    });
    const box = this.element.querySelector<HTMLInputElement>('input[type=text], textarea');
    if (box) box.value = kept?.given ?? '';
  }

  /** The solution below the question, as the page computes it now; null: it is not shown. */
  showSolution(view: View | null): void {
    this.#solution = view && isChecked(this.#exercise) ? solution(this.#exercise, view) : null;
    this.#draw();
  }
}

/** A text without its marks, for a file. */
export const plainOfRich = (text: string): string =>
  parseRich(text)
    .map((part) => part.text)
    .join('');
