import { translate, type Language } from '../../../i18n/i18n';
import { find, setText } from '../../../ui/dom';
import { frameOf } from '../../../ui/embed_code';
import { formatFragment } from '../../../state/state';
import { PANEL_IDS } from '../../index';
import { writeAddress } from './lesson_address';
import { discardDraft, keepDraft, newDraftId, readDrafts, type Draft } from './drafts';
import { StepForm } from './step_form';
import { OrderList, reordered } from './order_list';
import type { Host } from './page_api';
import { readLesson, type Lesson } from './lesson';
import { t } from '../texts';

const HTML = `
  <form method="dialog" class="editor">
    <h2 id="editor-title" data-t="lessons.editor"></h2>
    <p class="beside" data-t="lessons.editorBeside"></p>
    <p class="over" data-t="lessons.editorLead"></p>
    <p class="lesson-tools editor-drafts">
      <label class="minus"><span data-t="lessons.drafts"></span> <select name="draft"></select></label>
      <button type="button" class="button" data-do="fresh" data-t="lessons.fresh"></button>
      <button type="button" class="button" data-do="discard" data-t="lessons.discard"></button>
      <button type="button" class="button" data-do="undo" data-t="lessons.undiscard" hidden></button>
    </p>
    <p class="hint editor-kept" role="status"></p>
    <label class="field"><span data-t="lessons.name"></span><input type="text" name="title" maxlength="120"></label>
    <label class="field short"><span data-t="lessons.minutes"></span><input type="number" name="minutes" min="0" max="600"></label>
    <label class="field"><span data-t="lessons.goalsLines"></span><textarea name="goals" rows="3"></textarea></label>
    <div class="editor-order"><h3 data-t="lessons.stepsOrder"></h3></div>
    <ol class="editor-steps"></ol>
    <p class="lesson-tools">
      <button type="button" class="button" data-do="add" data-t="lessons.addStep"></button>
    </p>
    <div class="editor-end">
      <p class="lesson-tools">
        <button type="button" class="button" data-do="link" data-t="tools.link"></button>
        <button type="button" class="button" data-do="embed" data-t="tools.embed"></button>
        <button type="button" class="button" data-do="try" data-t="lessons.try"></button>
        <button type="button" class="button" data-do="close" data-t="lessons.close"></button>
      </p>
      <p class="editor-said hint" role="status"></p>
    </div>
  </form>`;

/** From here on the editor stands beside the page. */
const WIDE = '(min-width: 72rem)';

/** Puts a lesson together from what is on the screen. What is written stays on the device until it is discarded; others have it by its link. */
export class LessonEditor extends HTMLElement {
  #host: Host | null = null;
  #write: ((lesson: Lesson) => Promise<string>) | null = null;
  #steps: StepForm[] = [];
  /** Of the draft that is written; null: nothing of it has been changed yet. */
  #draft: string | null = null;
  #discarded: Draft | null = null;
  readonly #dialog = document.createElement('dialog');
  readonly #wide = matchMedia(WIDE);
  /** What had the focus before the editor opened. */
  #opener: Element | null = null;
  readonly #order = new OrderList((from, to) => this.#reorder(from, to), {
    open: (at) => this.#goTo(at),
  });

  connectedCallback(): void {
    if (this.#dialog.isConnected) return;
    this.#dialog.className = 'editor-dialog';
    this.#dialog.setAttribute('aria-labelledby', 'editor-title');
    this.#dialog.innerHTML = HTML;
    this.append(this.#dialog);
    find(this.#dialog, '.editor-order', HTMLElement).append(this.#order.element);
    this.#wide.addEventListener('change', () => {
      if (this.#dialog.open) this.#show();
    });
    this.#dialog.addEventListener('close', () => {
      if (!this.#dialog.open) delete document.documentElement.dataset['editor'];
    });
    this.#dialog.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.#isBeside()) this.#close(); // over the page, the browser does it
    });
    this.#dialog.addEventListener('click', ({ target }) => {
      const what = target instanceof HTMLElement ? target.dataset['do'] : undefined;
      if (what !== undefined) void this.#act(what);
      // Buttons of a step and of a question change it, too.
      else if (target instanceof Element && target.closest('[data-step], button[data-part]'))
        this.#keep();
    });
    for (const name of ['input', 'change']) {
      this.#dialog.addEventListener(name, ({ target }) => {
        if (target instanceof HTMLSelectElement && target.name === 'draft')
          this.#take(target.value);
        else this.#keep();
      });
    }
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

  /** A copy of a lesson; null: what was begun before, here or on an earlier visit, or one step with what is on the screen. */
  begin(lesson: Lesson | null, host: Host, write: (lesson: Lesson) => Promise<string>): void {
    this.#host = host;
    this.#write = write;
    const [newest] = readDrafts();
    if (lesson) this.#fill(lesson, null);
    else if (this.#steps.length === 0) {
      if (newest) this.#fill(newest.lesson, newest.id);
      else this.#fill(null, null);
    }
    this.#say('');
    this.#draw();
    if (!this.#dialog.contains(document.activeElement)) this.#opener = document.activeElement;
    this.#show();
  }

  /** Beside the page, which can be used meanwhile, or over it where there is no room. */
  #show(): void {
    const { dataset } = document.documentElement;
    if (this.#dialog.open) this.#dialog.close();
    if (this.#wide.matches) {
      dataset['editor'] = 'beside';
      this.#dialog.show();
    } else {
      delete dataset['editor'];
      this.#dialog.showModal();
    }
  }

  #isBeside(): boolean {
    return document.documentElement.dataset['editor'] === 'beside';
  }

  #close(): void {
    const was = this.#isBeside();
    this.#dialog.close();
    if (was && this.#opener instanceof HTMLElement) this.#opener.focus();
  }

  /** Puts a lesson into the form: null: a new one, whose only step is what is on the screen. */
  #fill(lesson: Lesson | null, draft: string | null): void {
    this.#draft = draft;
    this.#field('title').value = lesson?.title ?? '';
    this.#field('minutes').value = lesson ? String(lesson.minutes) : '';
    this.#field('goals').value = lesson?.goals.join('\n') ?? '';
    this.#steps = (lesson?.steps ?? []).map((step) => new StepForm(step, this.#screen));
    if (this.#steps.length === 0) this.#add();
  }

  /** What has been written so far stays on this device, from its first change on. */
  #keep(): void {
    this.#draft ??= newDraftId();
    const isKept = keepDraft({ id: this.#draft, lesson: this.#written });
    this.#drawOrder();
    this.#drawDrafts(isKept ? 'lessons.kept' : 'lessons.notKept');
  }

  #take(id: string): void {
    const draft = readDrafts().find((one) => one.id === id);
    if (draft) this.#fill(draft.lesson, id);
    this.#draw();
  }

  #discard(): void {
    const id = this.#draft;
    if (id === null) return;
    this.#discarded = { id, lesson: this.#written };
    discardDraft(id);
    const [newest] = readDrafts();
    this.#fill(newest?.lesson ?? null, newest?.id ?? null);
    this.#draw();
  }

  #undo(): void {
    const draft = this.#discarded;
    if (!draft) return;
    this.#discarded = null;
    keepDraft(draft);
    this.#take(draft.id);
  }

  /** The drafts of this device, of which the one that is written is chosen. */
  #drawDrafts(kept: 'lessons.kept' | 'lessons.notKept' | null): void {
    const drafts = readDrafts();
    const select = find(this.#dialog, '[name=draft]', HTMLSelectElement);
    const names = drafts.map(({ id, lesson }) => [id, lesson.title || t('lessons.untitled')]);
    if (!drafts.some(({ id }) => id === this.#draft)) names.unshift(['', t('lessons.unchanged')]);
    select.replaceChildren(...names.map(([id = '', name = '']) => new Option(name, id)));
    select.value = this.#draft ?? '';
    find(this.#dialog, '.editor-drafts label', HTMLElement).hidden = drafts.length === 0;
    const button = (what: string) => find(this.#dialog, `[data-do=${what}]`, HTMLElement);
    button('discard').hidden = this.#draft === null;
    button('fresh').hidden = drafts.length === 0;
    button('undo').hidden = this.#discarded === null;
    setText(find(this.#dialog, '.editor-kept', HTMLElement), kept ? t(kept) : '');
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
    this.#drawOrder();
    this.#drawDrafts(this.#draft === null ? null : 'lessons.kept');
  }

  #drawOrder(): void {
    const names = this.#steps.map(
      ({ step: { title } }, i) => `${i + 1}. ${title || t('lessons.step')}`,
    );
    this.#order.draw(names);
  }

  #reorder(from: number, to: number): void {
    this.#steps = reordered(this.#steps, from, to);
    this.#draw();
    this.#keep();
  }

  #goTo(at: number): void {
    const field = this.#steps[at]?.element.querySelector('input');
    field?.closest('li')?.scrollIntoView({ block: 'start' });
    field?.focus({ preventScroll: true });
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
    this.#keep();
  }

  /** What stands in the form, whether it makes a lesson yet or not. */
  get #written(): Lesson {
    return {
      title: this.#field('title').value,
      minutes: Number(this.#field('minutes').value),
      goals: this.#field('goals').value.split('\n'),
      steps: this.#steps.map((step) => step.step),
    };
  }

  get lesson(): Lesson | null {
    return readLesson(this.#written);
  }

  #say(text: string): void {
    find(this.#dialog, '.editor-said', HTMLElement).textContent = text;
  }

  /** Another draft takes the place of the one that is written. */
  #rearrange(what: 'fresh' | 'discard' | 'undo'): void {
    if (what === 'discard') this.#discard();
    else if (what === 'undo') this.#undo();
    else {
      this.#fill(null, null);
      this.#draw();
    }
    find(this.#dialog, '[name=title]', HTMLInputElement).focus();
  }

  async #act(what: string): Promise<void> {
    if (what === 'close') {
      this.#close();
      return;
    }
    if (what === 'fresh' || what === 'discard' || what === 'undo') {
      this.#rearrange(what);
      return;
    }
    if (what === 'add') {
      this.#add();
      this.#draw();
      this.#keep();
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
      if (!this.#isBeside()) this.#dialog.close();
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
