import { richNodes } from '../../../i18n/markup';
import { translate } from '../../../i18n/i18n';
import { Panel } from '../../panel';
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
      <ol class="lesson-list"></ol>`;
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
    const items = all.map(({ name, lesson }, i) => {
      const item = document.createElement('li');
      const link = writeAddress({ name, code: null, step: 1 }, language);
      item.innerHTML = `
        <h2><a></a></h2>
        <p class="hint"></p>
        <ul></ul>
        <p class="lesson-link"></p>
        <p class="lesson-tools"><button type="button" class="button" data-adapt="${i}"
          data-t="lessons.adapt" aria-describedby="lesson-${i}"></button></p>`;
      translate(item);
      item.querySelector('.lesson-link')?.append((location.href.split('#')[0] ?? '') + link);
      const anchor = item.querySelector('a');
      anchor?.setAttribute('href', link);
      anchor?.setAttribute('id', `lesson-${i}`);
      anchor?.append(...richNodes(lesson.title));
      const { minutes, steps } = lesson;
      item
        .querySelector('.hint')
        ?.append(t('lessons.kindMinutes', { minutes, steps: steps.length }));
      item.querySelector('ul')?.append(
        ...lesson.goals.map((goal) => {
          const li = document.createElement('li');
          li.append(...richNodes(goal));
          return li;
        }),
      );
      return item;
    });
    this.find('.lesson-list', HTMLElement).replaceChildren(...items);
  }
}

customElements.define('qkv-lessons', LessonIndex);
