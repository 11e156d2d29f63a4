import { find, setText } from '../../../ui/dom';
import { translate } from '../../../i18n/i18n';
import { saveTable } from '../../../ui/export_figure';
import { answersTable, bringBack, clearAnswers, readAnswers, type Kept } from './answers';
import { t } from '../texts';

const HTML = `
  <p class="hint answers-count"></p>
  <p class="lesson-tools">
    <button type="button" class="button" data-answers="save" data-t="lessons.answers.save"></button>
    <button type="button" class="button" data-answers="clear" data-t="lessons.answers.clear"></button>
    <button type="button" class="button" data-answers="undo" data-t="lessons.answers.undo" hidden></button>
  </p>
  <p class="hint answers-said" role="status"></p>`;

/** What is kept of the answers of a lesson, or of all: how many there are, as a file, and cleared. */
export class AnswersBar {
  readonly element = document.createElement('div');
  readonly #lesson: string | null;
  #gone: readonly Kept[] = [];

  /** `changed` hears when answers were cleared or brought back. */
  constructor(lesson: string | null, changed: () => void) {
    this.#lesson = lesson;
    this.element.className = 'lesson-answers on-screen';
    this.element.innerHTML = HTML;
    translate(this.element);
    this.element.addEventListener('click', ({ target }) => {
      const what = target instanceof HTMLElement ? target.dataset['answers'] : undefined;
      if (what === undefined) return;
      this.#act(what);
      if (what !== 'save') changed();
    });
    this.draw();
  }

  #act(what: string): void {
    if (what === 'save') {
      saveTable(`answers-${this.#lesson ?? 'all'}`, answersTable(readAnswers(this.#lesson)));
      this.#say(t('lessons.answers.saved'));
      return;
    }
    if (what === 'clear') this.#gone = clearAnswers(this.#lesson);
    else {
      bringBack(this.#gone);
      this.#gone = [];
    }
    this.draw();
    this.#say(t(what === 'clear' ? 'lessons.answers.cleared' : 'lessons.answers.back'));
    // The button that was pressed may be gone.
    find(
      this.element,
      `[data-answers=${what === 'clear' ? 'undo' : 'clear'}]`,
      HTMLElement,
    ).focus();
  }

  #say(text: string): void {
    setText(find(this.element, '.answers-said', HTMLElement), text);
  }

  /** `isKept`: whether the latest answer could be stored. */
  draw(isKept = true): void {
    const count = readAnswers(this.#lesson).length;
    const button = (what: string) =>
      find(this.element, `[data-answers=${what}]`, HTMLButtonElement);
    button('save').disabled = button('clear').disabled = count === 0;
    button('undo').hidden = this.#gone.length === 0;
    const text = count === 0 ? 'lessons.answers.none' : 'lessons.answers.count';
    const place = find(this.element, '.answers-count', HTMLElement);
    setText(place, isKept ? t(text, { count }) : t('lessons.answers.notKept'));
    this.#say('');
  }
}
