import { html, nothing, type TemplateResult } from 'lit-html';
import { textOf, type Language } from '../../../i18n/i18n';
import { button } from '../../../ui/lit/controls';
import { richText } from '../../../ui/lit/texts';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { AnswersBar } from './answers_bar';
import { writeAddress } from './lesson_address';
import { readDrafts } from './drafts';
import type { Lesson } from './lesson';
import type { Listed } from './builtin_lessons';
import { t } from '../texts';

export type Missing = 'lessons.missing' | 'lessons.packed';

/** The lessons that the page has, to take, to print and to change. */
export class LessonIndex extends LitPanel {
  readonly #all: readonly Listed[];
  readonly #missing: Missing | null;
  readonly #edit: (lesson: Lesson | null) => void;
  readonly #answers = new AnswersBar(null, () => undefined);

  constructor(
    all: readonly Listed[],
    missing: Missing | null,
    edit: (lesson: Lesson | null) => void,
  ) {
    super();
    this.#all = all;
    this.#missing = missing;
    this.#edit = edit;
  }

  /** Its texts change only with the language, when it is made anew. */
  protected inputs(): readonly unknown[] {
    return [];
  }

  protected override rendered(): void {
    document.title = `${t('lessons.title')} · qkv`;
  }

  protected render({ state: { language } }: View): TemplateResult {
    const [draft] = readDrafts();
    const title = draft?.lesson.title || t('lessons.untitled');
    const make = draft ? t('lessons.resume', { title }) : t('lessons.make');
    const entries = (isInChapter: boolean) =>
      this.#all.map((listed, at) =>
        (listed.chapter !== null) === isInChapter ? this.#entry(listed, at, language) : nothing,
      );
    return html`
      <header class="lesson-head">
        <h1 id="lesson-title" tabindex="-1">${t('lessons.title')}</h1>
        <p class="lesson-lead">${t('lessons.lead')}</p>
        <p class="note missing" role="status" ?hidden=${this.#missing === null}>${this.#missing && t(this.#missing)}</p>
        <p class="lesson-tools">
          ${button('make', make, () => this.#edit(null))}
          ${button('print', t('lessons.printIndex'), () => window.print())}
          <a class="button leave" href="#v=1&amp;lang=${language}">${t('lessons.leave')}</a>
        </p>
      </header>
      <div class="lesson-head lesson-for-teachers"><h2>${t('lessons.teachersTitle')}</h2><p>${t('lessons.teachersText')}</p></div>
      <ol class="lesson-list for-class">${entries(false)}</ol>
      <ol class="lesson-list by-chapter">${entries(true)}</ol>
      <div class="lesson-foot">${this.#answers.element}</div>`;
  }

  #entry({ name, chapter, lesson }: Listed, at: number, language: Language): TemplateResult {
    const { title, minutes, steps, goals } = lesson;
    const link = writeAddress({ name, code: null, step: 1 }, language);
    const kind = chapter === null ? t('lessons.wholeClass') : textOf(`chapters.${chapter}.name`);
    return html`
      <li>
        <p class="lesson-kind">${kind}</p>
        <h2><a href=${link} id="lesson-${at}">${richText(title)}</a></h2>
        <p class="hint">${t('lessons.kindMinutes', { minutes, steps: steps.length })}</p>
        <ul>${goals.map((goal) => html`<li>${richText(goal)}</li>`)}</ul>
        <p class="lesson-link">${(location.href.split('#')[0] ?? '') + link}</p>
        <p class="lesson-tools"><button type="button" class="button" data-adapt=${at} aria-describedby="lesson-${at}"
          @click=${() => this.#edit(lesson)}>${t('lessons.adapt')}</button></p>
      </li>`;
  }
}

customElements.define('qkv-lessons', LessonIndex);
