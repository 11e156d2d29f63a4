import { richNodes } from '../../../i18n/markup';
import { translate } from '../../../i18n/i18n';
import { digits } from '../../../ui/numbers';
import { find } from '../../../ui/dom';
import type { View } from '../../panel';
import { isRight, nearest, readAnswer } from './parse_answer';
import type { Exercise } from './lesson';
import { quantity } from './quantities';
import { t } from '../texts';

/** Lines to write on, on paper. */
const lines = (count: number) =>
  `<div class="answer-lines" aria-hidden="true">${'<i></i>'.repeat(count)}</div>`;

interface Tools {
  /** What the page has computed at this moment. */
  readonly view: () => View;
  /** Whether the reader has left the settings of the step. */
  readonly moved: () => boolean;
}

/** What an exercise says to an answer, which may be read in several ways. */
function judge(exercise: Exercise, readings: readonly number[], { view, moved }: Tools): string {
  const { number, within, choices, right } = exercise;
  const expected = number === undefined ? (right ?? null) : quantity(number, view());
  if (expected === null) return t('lessons.notYetComputed');
  const answer = nearest(readings, expected);
  const about = moved() ? ` ${t('lessons.moved')}` : '';
  if (choices) {
    return (
      t(answer === Math.round(expected) ? 'lessons.choiceRight' : 'lessons.choiceWrong') + about
    );
  }
  const computed = { value: digits(expected, 4) };
  if (isRight(answer, expected, within)) return t('lessons.numberRight', computed) + about;
  return t(answer > expected ? 'lessons.tooLarge' : 'lessons.tooSmall') + about;
}

/** The answer, for those who ask for it. */
function solution({ number, choices, right }: Exercise, view: View): string {
  const expected = number === undefined ? (right ?? null) : quantity(number, view);
  if (expected === null) return t('lessons.notYetComputed');
  const value = choices ? (choices[Math.round(expected)] ?? '') : digits(expected, 4);
  return t('lessons.solution', { value });
}

let made = 0;

const choicesHtml = (name: string, count: number) =>
  Array.from(
    { length: count },
    (_, i) => `<label><input type="radio" name="${name}" value="${i}"><span></span></label>`,
  ).join('');

/** An exercise to answer on the page, or on paper; nothing of the answer is kept. */
export function exerciseForm(exercise: Exercise, tools: Tools): HTMLElement {
  const item = document.createElement('li');
  const { choices, number, right } = exercise;
  const name = `exercise-${++made}`;
  const checked = number !== undefined || right !== undefined;
  const box = choices
    ? `<fieldset class="choices"><legend class="visually-hidden" data-t="lessons.choose"></legend>${choicesHtml(name, choices.length)}</fieldset>`
    : `<input type="text" inputmode="decimal" autocomplete="off" size="10" aria-labelledby="${name}">`;
  item.innerHTML = `
    <form novalidate>
      <p class="question" id="${name}"></p>
      ${checked || choices ? box : '<p class="hint on-screen" data-t="lessons.open"></p>'}
      ${
        checked
          ? `<button type="submit" class="button on-screen" data-t="lessons.check"></button>
      <button type="button" class="button on-screen reveal" data-t="lessons.reveal" hidden></button>
      <p class="verdict" role="status"></p>`
          : ''
      }
      ${choices ? '' : lines(checked ? 1 : 3)}
    </form>`;
  translate(item);
  find(item, '.question', HTMLElement).append(...richNodes(exercise.text));
  item.querySelectorAll('.choices span').forEach((span, i) => {
    span.append(...richNodes(choices?.[i] ?? ''));
  });
  item.querySelector('fieldset')?.setAttribute('aria-labelledby', name);
  if (checked) listen(item, exercise, tools);
  else
    find(item, 'form', HTMLFormElement).addEventListener('submit', (event) =>
      event.preventDefault(),
    );
  return item;
}

function listen(item: HTMLElement, exercise: Exercise, tools: Tools): void {
  const form = find(item, 'form', HTMLFormElement);
  const reveal = find(item, '.reveal', HTMLButtonElement);
  const say = (text: string) => (find(item, '.verdict', HTMLElement).textContent = text);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const chosen = item.querySelector<HTMLInputElement>('input:checked, input[type=text]');
    const readings = chosen ? readAnswer(chosen.value) : [];
    if (readings.length === 0) {
      say(t(exercise.choices ? 'lessons.choose' : 'lessons.noNumber'));
      return;
    }
    say(judge(exercise, readings, tools));
    reveal.hidden = false;
  });
  reveal.addEventListener('click', () => say(solution(exercise, tools.view())));
}
