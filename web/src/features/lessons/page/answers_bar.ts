import { html, render } from 'lit-html';
import { find } from '../../../ui/dom';
import { saveTable } from '../../../ui/export_figure';
import { answersTable, bringBack, clearAnswers, readAnswers, type Kept } from './answers';
import { t } from '../texts';

/** What is kept of the answers of a lesson, or of all: how many there are, as a file, and cleared. */
export class AnswersBar {
  readonly element = document.createElement('div');
  readonly #lesson: string | null;
  readonly #changed: () => void;
  #gone: readonly Kept[] = [];
  #isKept = true;

  /** `changed` hears when answers were cleared or brought back. */
  constructor(lesson: string | null, changed: () => void) {
    this.#lesson = lesson;
    this.#changed = changed;
    this.element.className = 'lesson-answers on-screen';
    this.draw();
  }

  #save(): void {
    saveTable(`answers-${this.#lesson ?? 'all'}`, answersTable(readAnswers(this.#lesson)));
    this.draw(this.#isKept, t('lessons.answers.saved'));
  }

  #clear(): void {
    this.#gone = clearAnswers(this.#lesson);
    this.#tell('undo', t('lessons.answers.cleared'));
  }

  #undo(): void {
    bringBack(this.#gone);
    this.#gone = [];
    this.#tell('clear', t('lessons.answers.back'));
  }

  /** The button that was pressed may be gone: the one that takes it back has the focus. */
  #tell(next: string, said: string): void {
    this.draw(true, said);
    find(this.element, `[data-answers=${next}]`, HTMLElement).focus();
    this.#changed();
  }

  /** `isKept`: whether the latest answer could be stored. */
  draw(isKept = true, said = ''): void {
    this.#isKept = isKept;
    const count = readAnswers(this.#lesson).length;
    const counted = t(count === 0 ? 'lessons.answers.none' : 'lessons.answers.count', { count });
    const bar = html`
      <p class="hint answers-count">${isKept ? counted : t('lessons.answers.notKept')}</p>
      <p class="lesson-tools">
        <button type="button" class="button" data-answers="save" ?disabled=${count === 0} @click=${() => this.#save()}>${t('lessons.answers.save')}</button>
        <button type="button" class="button" data-answers="clear" ?disabled=${count === 0} @click=${() => this.#clear()}>${t('lessons.answers.clear')}</button>
        <button type="button" class="button" data-answers="undo" ?hidden=${this.#gone.length === 0} @click=${() => this.#undo()}>${t('lessons.answers.undo')}</button>
      </p>
      <p class="hint answers-said" role="status">${said}</p>`;
    render(bar, this.element);
  }
}
