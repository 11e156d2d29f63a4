import { richNodes } from '../../../i18n/markup';
import { translate } from '../../../i18n/i18n';
import { digits } from '../../../ui/numbers';
import { find, setText } from '../../../ui/dom';
import type { View } from '../../panel';
import type { Given, Kept, Result } from './answers';
import { isNear, isRight, isSameText, nearest, readAnswer } from './parse_answer';
import type { Exercise } from './lesson';
import { quantity } from './quantities';
import { t, type Key } from '../texts';

/** Lines to write on, on paper. */
const lines = (count: number) =>
  `<div class="answer-lines" aria-hidden="true">${'<i></i>'.repeat(count)}</div>`;

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

const choicesHtml = (name: string, count: number) =>
  Array.from(
    { length: count },
    (_, i) => `<label><input type="radio" name="${name}" value="${i}"><span></span></label>`,
  ).join('');

function boxHtml(kind: Kind, name: string, choices: number): string {
  if (kind === 'choice') {
    return `<fieldset class="choices"><legend class="visually-hidden" data-t="lessons.choose"></legend>${choicesHtml(name, choices)}</fieldset>`;
  }
  if (kind === 'open') {
    return `<p class="hint on-screen" data-t="lessons.open"></p>
      <textarea rows="2" maxlength="2000" aria-labelledby="${name}"></textarea>${lines(3)}`;
  }
  const [mode, size] = kind === 'number' ? ['decimal', 10] : ['text', 28];
  return `<input type="text" inputmode="${mode}" autocomplete="off" size="${size}" maxlength="300" aria-labelledby="${name}">`;
}

const checkHtml = (kind: Kind) => `
  <button type="submit" class="button on-screen" data-t="lessons.check"></button>
  <button type="button" class="button on-screen reveal" data-t="lessons.reveal" hidden></button>
  ${kind === 'text' ? '<p class="hint on-screen" data-t="lessons.textRule"></p>' : ''}
  <p class="verdict" role="status"></p>
  ${kind === 'choice' ? '' : lines(1)}`;

/** An exercise to answer on the page, or on paper. */
export class ExerciseItem {
  readonly element = document.createElement('li');
  readonly #exercise: Exercise;
  readonly #tools: Tools;

  constructor(exercise: Exercise, tools: Tools) {
    this.#exercise = exercise;
    this.#tools = tools;
    const { element } = this;
    const { choices = [] } = exercise;
    const kind = kindOf(exercise);
    const name = `exercise-${++made}`;
    element.innerHTML = `
      <form novalidate>
        <p class="question" id="${name}"></p>
        ${boxHtml(kind, name, choices.length)}
        ${isChecked(exercise) ? checkHtml(kind) : ''}
        <p class="solution" hidden></p>
      </form>`;
    translate(element);
    find(element, '.question', HTMLElement).append(...richNodes(exercise.text));
    element.querySelectorAll('.choices span').forEach((span, i) => {
      span.append(...richNodes(choices[i] ?? ''));
    });
    element.querySelector('fieldset')?.setAttribute('aria-labelledby', name);
    this.#listen();
    this.restore();
  }

  #listen(): void {
    const form = find(this.element, 'form', HTMLFormElement);
    // What is typed or chosen is kept whether it is checked or not.
    form.addEventListener('input', () => this.#keep(null));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (isChecked(this.#exercise)) this.#check();
    });
    this.element.querySelector('.reveal')?.addEventListener('click', () => {
      this.#say(solution(this.#exercise, this.#tools.view()));
      this.#keep(null, true);
    });
  }

  #check(): void {
    const { result, text } = judge(this.#exercise, this.#given(), this.#tools);
    this.#say(text);
    if (result === null) return;
    find(this.element, '.reveal', HTMLElement).hidden = false;
    this.#keep(result);
  }

  #say(text: string): void {
    find(this.element, '.verdict', HTMLElement).textContent = text;
  }

  /** What stands in the form: of choices the number of the chosen one. */
  #given(): string {
    const box = this.element.querySelector<HTMLInputElement | HTMLTextAreaElement>(
      'input:checked, input[type=text], textarea',
    );
    return box?.value ?? '';
  }

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
    this.element.querySelectorAll<HTMLInputElement>('[type=radio]').forEach((box, i) => {
      box.checked = i === kept?.choice;
    });
    const box = this.element.querySelector<HTMLInputElement>('input[type=text], textarea');
    if (box) box.value = kept?.given ?? '';
    if (!isChecked(this.#exercise)) return;
    this.#say(kept && kept.result !== '' ? t(`lessons.before.${kept.result}`) : '');
    find(this.element, '.reveal', HTMLElement).hidden = !kept || kept.checks === 0;
  }

  /** The solution below the question, as the page computes it now; null: nobody asked for it. */
  showSolution(view: View | null): void {
    const place = find(this.element, '.solution', HTMLElement);
    const wanted = view !== null && isChecked(this.#exercise);
    place.hidden = !wanted;
    setText(place, wanted ? solution(this.#exercise, view) : '');
  }
}

/** A text without its marks, for a file. */
export const plainOfRich = (text: string): string =>
  richNodes(text)
    .map(({ textContent }) => textContent)
    .join('');
