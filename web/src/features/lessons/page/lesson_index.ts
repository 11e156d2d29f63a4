import { richNodes } from '../../../i18n/markup';
import { textOf, translate, type Language } from '../../../i18n/i18n';
import { Panel } from '../../panel';
import { AnswersBar } from './answers_bar';
import { writeAddress } from './lesson_address';
import { readDrafts } from './drafts';
import type { Lesson } from './lesson';
import type { Listed } from './builtin_lessons';
import { t } from '../texts';

export type Missing = 'lessons.missing' | 'lessons.packed';

/** The lessons that the page has, to take, to print and to change. */
export class LessonIndex extends Panel {
  #edit: ((lesson: Lesson | null) => void) | null = null;
  #all: readonly Listed[] = [];

  protected template(): string {
    return `
      <header class="lesson-head">
        <h1 id="lesson-title" tabindex="-1" data-t="lessons.title"></h1>
        <p class="lesson-lead" data-t="lessons.lead"></p>
        <p class="note missing" role="status"></p>
        <p class="lesson-tools">
          <button type="button" class="button make" data-t="lessons.make"></button>
          <button type="button" class="button print" data-t="lessons.printIndex"></button>
          <a class="button leave" href="#v=1" data-t="lessons.leave"></a>
        </p>
      </header>
      <div class="lesson-head lesson-for-teachers"><h2 data-t="lessons.teachersTitle"></h2><p data-t="lessons.teachersText"></p></div>
      <ol class="lesson-list for-class"></ol>
      <ol class="lesson-list by-chapter"></ol>
      <div class="lesson-foot"></div>`;
  }

  protected override ready(): void {
    this.find('.print', HTMLElement).addEventListener('click', () => window.print());
    this.addEventListener('click', ({ target }) => {
      if (!(target instanceof HTMLElement)) return;
      const lesson = this.#all[Number(target.dataset['adapt'])]?.lesson;
      if (lesson || target.matches('.make')) this.#edit?.(lesson ?? null);
    });
  }

  update(): void {
    // Its texts change only with the language, when it is made anew.
  }

  fill(
    all: readonly Listed[],
    missing: Missing | null,
    { edit }: { edit: (lesson: Lesson | null) => void },
  ): void {
    this.#all = all;
    this.#edit = edit;
    this.find('.missing', HTMLElement).hidden = missing === null;
    this.setText('.missing', missing ? t(missing) : '');
    const [draft] = readDrafts();
    const title = draft?.lesson.title || t('lessons.untitled');
    if (draft) this.setText('.make', t('lessons.resume', { title }));
    const language = document.documentElement.lang.startsWith('zh') ? 'zh' : 'en';
    this.find('.leave', HTMLAnchorElement).href = `#v=1&lang=${language}`;
    document.title = `${t('lessons.title')} · qkv`;
    const items = all.map((listed, i) => itemOf(listed, { at: i, language }));
    const list = (name: string) => this.find(`.lesson-list.${name}`, HTMLElement);
    const inChapter = (i: number) => all[i]?.chapter !== null;
    list('for-class').replaceChildren(...items.filter((_, i) => !inChapter(i)));
    list('by-chapter').replaceChildren(...items.filter((_, i) => inChapter(i)));
    const answers = new AnswersBar(null, () => undefined);
    this.find('.lesson-foot', HTMLElement).replaceChildren(answers.element);
  }
}

function itemOf(
  { name, chapter, lesson }: Listed,
  { at, language }: { at: number; language: Language },
): HTMLElement {
  const item = document.createElement('li');
  const link = writeAddress({ name, code: null, step: 1 }, language);
  item.innerHTML = `
    <p class="lesson-kind"></p>
    <h2><a></a></h2>
    <p class="hint"></p>
    <ul></ul>
    <p class="lesson-link"></p>
    <p class="lesson-tools"><button type="button" class="button" data-adapt="${at}"
      data-t="lessons.adapt" aria-describedby="lesson-${at}"></button></p>`;
  translate(item);
  const put = (selector: string, ...nodes: readonly (Node | string)[]) =>
    item.querySelector(selector)?.append(...nodes);
  put(
    '.lesson-kind',
    chapter === null ? t('lessons.wholeClass') : textOf(`chapters.${chapter}.name`),
  );
  put('.lesson-link', (location.href.split('#')[0] ?? '') + link);
  const anchor = item.querySelector('a');
  anchor?.setAttribute('href', link);
  anchor?.setAttribute('id', `lesson-${at}`);
  anchor?.append(...richNodes(lesson.title));
  const { minutes, steps, goals } = lesson;
  put('.hint', t('lessons.kindMinutes', { minutes, steps: steps.length }));
  const goal = (text: string) => {
    const li = document.createElement('li');
    li.append(...richNodes(text));
    return li;
  };
  put('ul', ...goals.map(goal));
  return item;
}

customElements.define('qkv-lessons', LessonIndex);
