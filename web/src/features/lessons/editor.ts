import { translate, type Language } from '../../i18n/i18n';
import { find } from '../../ui/dom';
import { frameOf } from '../../ui/frame';
import { formatFragment } from '../../state/state';
import { PANEL_IDS } from '../index';
import { writeAddress } from './address';
import { StepForm } from './editor_step';
import type { Host } from './host';
import { readLesson, type Lesson } from './lesson';
import { t } from './texts';

const HTML = `
  <form method="dialog" class="editor">
    <h2 id="editor-title" data-t="lessons.editor"></h2>
    <p data-t="lessons.editorLead"></p>
    <label class="field"><span data-t="lessons.name"></span><input type="text" name="title" maxlength="120"></label>
    <label class="field short"><span data-t="lessons.minutes"></span><input type="number" name="minutes" min="0" max="600"></label>
    <label class="field"><span data-t="lessons.goalsLines"></span><textarea name="goals" rows="3"></textarea></label>
    <ol class="editor-steps"></ol>
    <p class="lesson-tools">
      <button type="button" class="button" data-do="add" data-t="lessons.addStep"></button>
    </p>
    <p class="lesson-tools">
      <button type="button" class="button" data-do="link" data-t="tools.link"></button>
      <button type="button" class="button" data-do="embed" data-t="tools.embed"></button>
      <button type="button" class="button" data-do="try" data-t="lessons.try"></button>
      <button type="button" class="button" data-do="close" data-t="lessons.close"></button>
    </p>
    <p class="editor-said hint" role="status"></p>
  </form>`;

/** Puts a lesson together from what is on the screen; nothing of it is kept but in its link. */
export class LessonEditor extends HTMLElement {
  #host: Host | null = null;
  #write: ((lesson: Lesson) => Promise<string>) | null = null;
  #steps: StepForm[] = [];
  readonly #dialog = document.createElement('dialog');

  connectedCallback(): void {
    if (this.#dialog.isConnected) return;
    this.#dialog.className = 'editor-dialog';
    this.#dialog.setAttribute('aria-labelledby', 'editor-title');
    this.#dialog.innerHTML = HTML;
    this.append(this.#dialog);
    this.#dialog.addEventListener('click', ({ target }) => {
      const what = target instanceof HTMLElement ? target.dataset['do'] : undefined;
      if (what !== undefined) void this.#act(what);
    });
    // Enter in a box is no answer to the dialog.
    find(this.#dialog, 'form', HTMLFormElement).addEventListener('submit', (event) =>
      event.preventDefault(),
    );
  }

  #field(name: string): HTMLInputElement | HTMLTextAreaElement {
    const field = this.#dialog.querySelector(`[name=${name}]`);
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) return field;
    throw new Error(`the editor has no field ${name}`);
  }

  /** A copy of a lesson; null: what was begun before, or one step with what is on the screen. */
  begin(lesson: Lesson | null, host: Host, write: (lesson: Lesson) => Promise<string>): void {
    this.#host = host;
    this.#write = write;
    if (lesson) {
      this.#field('title').value = lesson.title;
      this.#field('minutes').value = String(lesson.minutes);
      this.#field('goals').value = lesson.goals.join('\n');
      this.#steps = lesson.steps.map((step) => new StepForm(step, this.#screen));
    } else if (this.#steps.length === 0) {
      this.#add();
    }
    this.#draw();
    this.#say('');
    this.#dialog.showModal();
  }

  /** The state of the page, as a step keeps it. */
  readonly #screen = (): string => {
    const state = this.#host?.view().state;
    if (!state) return '';
    const to = new URLSearchParams(
      formatFragment({ ...state, controls: true, panel: null }).slice(1),
    );
    for (const key of ['v', 'lang']) to.delete(key);
    return to.toString();
  };

  #add(): void {
    const inSight = PANEL_IDS.find((id) => {
      const box = document.getElementById(id)?.getBoundingClientRect();
      return box !== undefined && box.height > 0 && box.bottom > innerHeight / 3;
    });
    const show = ['settings', inSight ?? 'map'] as const;
    const step = {
      title: '',
      text: '',
      show,
      state: this.#screen(),
      lock: [],
      guess: false,
      exercises: [],
    };
    this.#steps.push(new StepForm(step, this.#screen));
  }

  #draw(): void {
    const list = find(this.#dialog, '.editor-steps', HTMLElement);
    list.replaceChildren(
      ...this.#steps.map((step, i) => {
        step.onMove = (by) => this.#move(i, by);
        step.element.dataset['place'] = String(i + 1);
        return step.element;
      }),
    );
    translate(this.#dialog);
    for (const step of this.#steps) step.draw();
  }

  /** Up, down, or away. */
  #move(at: number, by: -1 | 1 | 0): void {
    const [step] = this.#steps.splice(at, 1);
    if (step && by !== 0) this.#steps.splice(Math.max(0, at + by), 0, step);
    const held = document.activeElement;
    this.#draw();
    // All steps were put in anew, which takes the focus from the button that was pressed; that of a step that is gone goes to a neighbour.
    const place = this.#steps[Math.min(at, this.#steps.length - 1)];
    const next = by === 0 ? place?.element.querySelector('input') : held;
    if (next instanceof HTMLElement) next.focus();
  }

  get lesson(): Lesson | null {
    return readLesson({
      title: this.#field('title').value,
      minutes: Number(this.#field('minutes').value),
      goals: this.#field('goals').value.split('\n'),
      steps: this.#steps.map((step) => step.step),
    });
  }

  #say(text: string): void {
    find(this.#dialog, '.editor-said', HTMLElement).textContent = text;
  }

  async #act(what: string): Promise<void> {
    if (what === 'close') {
      this.#dialog.close();
      return;
    }
    if (what === 'add') {
      this.#add();
      this.#draw();
      this.#steps.at(-1)?.element.querySelector('input')?.focus();
      return;
    }
    const { lesson } = this;
    if (!lesson || !this.#write) {
      this.#say(t('lessons.empty'));
      return;
    }
    const code = await this.#write(lesson);
    const language: Language = this.#host?.view().state.language ?? 'en';
    const fragment = writeAddress({ name: null, code, step: 1 }, language);
    if (what === 'try') {
      this.#dialog.close();
      location.assign(fragment);
      return;
    }
    await this.#copy(what, fragment, lesson.title);
  }

  async #copy(what: string, fragment: string, title: string): Promise<void> {
    const page = location.href.replace(/[?#].*/, '');
    const text =
      what === 'link' ? page + fragment : frameOf(`${page}?embed=lesson${fragment}`, title, 800);
    try {
      await navigator.clipboard.writeText(text);
      this.#say(t('lessons.copied', { count: text.length }));
    } catch {
      this.#say(text); // no permission, or not a secure page
    }
  }
}

customElements.define('qkv-lesson-editor', LessonEditor);
