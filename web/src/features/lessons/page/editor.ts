import { html, render, type TemplateResult } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { live } from 'lit-html/directives/live.js';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Language } from '../../../i18n/i18n';
import { frameOf } from '../../../ui/embed_code';
import { options, withValue } from '../../../ui/lit/controls';
import { formatFragment } from '../../../state/state';
import { PANEL_IDS } from '../../index';
import { Panel, type View } from '../../panel';
import { writeAddress } from './lesson_address';
import { discardDraft, keepDraft, newDraftId, readDrafts, type Draft } from './drafts';
import { stepBoxes, stepForm, stepOf, type StepBoxes } from './step_form';
import { orderList, reordered } from './order_list';
import type { Host } from './page_api';
import { readLesson, type Lesson } from './lesson';
import { t, type Key } from '../texts';

/** From here on the editor stands beside the page. */
const WIDE = '(min-width: 72rem)';

/** What stands in the boxes of a lesson. */
interface LessonBoxes {
  title: string;
  minutes: string;
  goals: string;
  steps: StepBoxes[];
}

/** A button of the editor, of which `name` says what it does. */
const tool = (name: string, words: Key, press: () => void, isHidden = false) =>
  html`<button type="button" class="button" data-do=${name} ?hidden=${isHidden} @click=${press}>${t(words)}</button>`;

/** Puts a lesson together from what is on the screen. What is written stays on the device until it is discarded; others have it by its link. */
export class LessonEditor extends Panel {
  #host: Host | null = null;
  #write: ((lesson: Lesson) => Promise<string>) | null = null;
  #boxes: LessonBoxes = { title: '', minutes: '', goals: '', steps: [] };
  /** Of the draft that is written; null: nothing of it has been changed yet. */
  #draft: string | null = null;
  /** Whether its latest change could be stored. */
  #isKept = true;
  #discarded: Draft | null = null;
  #said = { text: '' };
  readonly #wide = matchMedia(WIDE);
  /** What had the focus before the editor opened. */
  #opener: Element | null = null;

  protected template(): string {
    return '<dialog class="editor-dialog" aria-labelledby="editor-title"></dialog>';
  }

  protected override ready(): void {
    this.#wide.addEventListener('change', () => {
      if (this.#dialog.open) this.#show();
    });
    this.#dialog.addEventListener('close', () => {
      if (!this.#dialog.open) delete document.documentElement.dataset['editor'];
    });
    this.#dialog.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.#isBeside()) this.#close(); // over the page, the browser does it
    });
  }

  get #dialog(): HTMLDialogElement {
    return this.find('dialog', HTMLDialogElement);
  }

  /** In another language of the page its texts are others. */
  update({ look }: View): void {
    if (this.changed(look)) this.#draw();
  }

  /** A copy of a lesson; null: what was begun before, here or on an earlier visit, or one step with what is on the screen. */
  begin(lesson: Lesson | null, host: Host, write: (lesson: Lesson) => Promise<string>): void {
    this.#host = host;
    this.#write = write;
    const [newest] = readDrafts();
    if (lesson) this.#fill(lesson, null);
    else if (this.#boxes.steps.length === 0) this.#fill(newest?.lesson ?? null, newest?.id ?? null);
    this.#say('');
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

  // ---- drafts ----

  /** Puts a lesson into the form: null: a new one, whose only step is what is on the screen. */
  #fill(lesson: Lesson | null, draft: string | null): void {
    const steps = lesson?.steps.map(stepBoxes) ?? [];
    this.#boxes = {
      title: lesson?.title ?? '',
      minutes: lesson ? String(lesson.minutes) : '',
      goals: lesson?.goals.join('\n') ?? '',
      steps: steps.length > 0 ? steps : [this.#newStep()],
    };
    [this.#draft, this.#isKept] = [draft, true];
  }

  /** What has been written so far stays on this device, from its first change on. */
  readonly #changed = (): void => {
    this.#draft ??= newDraftId();
    this.#isKept = keepDraft({ id: this.#draft, lesson: this.#written });
    this.#draw();
  };

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
  }

  #undo(): void {
    const draft = this.#discarded;
    if (!draft) return;
    this.#discarded = null;
    keepDraft(draft);
    this.#take(draft.id);
  }

  // ---- what is on the screen ----

  #draw(): void {
    render(this.#form(), this.#dialog);
  }

  #form(): TemplateResult {
    const { title, minutes, goals, steps } = this.#boxes;
    const put = (name: 'title' | 'minutes' | 'goals') =>
      withValue((typed) => {
        this.#boxes[name] = typed;
        this.#changed();
      });
    const step = (one: StepBoxes, at: number) =>
      stepForm(one, at, {
        ...{ changed: this.#changed, screen: this.#screen },
        move: (by) => this.#move(at, by),
      });
    // Enter in a box is no answer to the dialog.
    return html`<form method="dialog" class="editor" @submit=${(event: Event) => event.preventDefault()}>
      <h2 id="editor-title">${t('lessons.editor')}</h2>
      <p class="beside">${t('lessons.editorBeside')}</p>
      <p class="over">${t('lessons.editorLead')}</p>
      ${this.#drafts()}
      <label class="field"><span>${t('lessons.name')}</span><input type="text" name="title" maxlength="120" .value=${live(title)} @input=${put('title')}></label>
      <label class="field short"><span>${t('lessons.minutes')}</span><input type="number" name="minutes" min="0" max="600" .value=${live(minutes)} @input=${put('minutes')}></label>
      <label class="field"><span>${t('lessons.goalsLines')}</span><textarea name="goals" rows="3" .value=${live(goals)} @input=${put('goals')}></textarea></label>
      <div class="editor-order"><h3>${t('lessons.stepsOrder')}</h3>${orderList({
        names: steps.map((one, at) => `${at + 1}. ${one.title || t('lessons.step')}`),
        moved: (from, to) => {
          this.#boxes.steps = reordered(steps, from, to);
          this.#changed();
        },
        open: (at) => this.#goTo(at),
      })}</div>
      <ol class="editor-steps">${repeat(steps, (one) => one, step)}</ol>
      <p class="lesson-tools">${tool('add', 'lessons.addStep', () => this.#add())}</p>
      <div class="editor-end">
        <p class="lesson-tools">
          ${tool('link', 'tools.link', () => void this.#handOut('link'))}
          ${tool('embed', 'tools.embed', () => void this.#handOut('embed'))}
          ${tool('try', 'lessons.try', () => void this.#handOut('try'))}
          ${tool('close', 'lessons.close', () => this.#close())}
        </p>
        <p class="editor-said hint" role="status">${keyed(this.#said, this.#said.text)}</p>
      </div>
    </form>`;
  }

  /** The drafts of this device, of which the one that is written is chosen. */
  #drafts(): TemplateResult {
    const drafts = readDrafts();
    const names = drafts.map(
      ({ id, lesson }) => [id, lesson.title || t('lessons.untitled')] as const,
    );
    const isStored = drafts.some(({ id }) => id === this.#draft);
    const choices = isStored ? names : [['', t('lessons.unchanged')] as const, ...names];
    const kept = t(this.#isKept ? 'lessons.kept' : 'lessons.notKept');
    /** Another draft takes the place of the one that is written. */
    const instead = (act: () => void) => () => {
      act();
      this.#draw();
      this.find('[name=title]', HTMLInputElement).focus();
    };
    return html`
      <p class="lesson-tools editor-drafts">
        <label class="minus" ?hidden=${drafts.length === 0}><span>${t('lessons.drafts')}</span> <select name="draft"
          @change=${withValue((id) => this.#take(id))}>${options(choices, this.#draft ?? '')}</select></label>
        ${tool(
          'fresh',
          'lessons.fresh',
          instead(() => this.#fill(null, null)),
          drafts.length === 0,
        )}
        ${tool(
          'discard',
          'lessons.discard',
          instead(() => this.#discard()),
          this.#draft === null,
        )}
        ${tool(
          'undo',
          'lessons.undiscard',
          instead(() => this.#undo()),
          this.#discarded === null,
        )}
      </p>
      <p class="hint editor-kept" role="status">${this.#draft === null ? '' : kept}</p>`;
  }

  #say(text: string): void {
    this.#said = { text };
    this.#draw();
  }

  // ---- steps ----

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

  #newStep(): StepBoxes {
    const inSight = PANEL_IDS.find((id) => {
      const box = document.getElementById(id)?.getBoundingClientRect();
      return box !== undefined && box.height > 0 && box.bottom > innerHeight / 3;
    });
    return stepBoxes({
      ...{ title: '', text: '', show: ['settings', inSight ?? 'map'], state: this.#screen() },
      ...{ lock: [], guess: false, exercises: [] },
    });
  }

  #add(): void {
    this.#boxes.steps.push(this.#newStep());
    this.#changed();
    this.#firstBoxOf(this.#boxes.steps.length - 1)?.focus();
  }

  #firstBoxOf(step: number): HTMLInputElement | null | undefined {
    return this.querySelectorAll('.editor-steps > li')[step]?.querySelector('input');
  }

  #goTo(step: number): void {
    const box = this.#firstBoxOf(step);
    box?.closest('li')?.scrollIntoView({ block: 'start' });
    box?.focus({ preventScroll: true });
  }

  /** Up, down, or away. */
  #move(at: number, by: -1 | 1 | 0): void {
    const held = document.activeElement;
    const { steps } = this.#boxes;
    const [step] = steps.splice(at, 1);
    if (step && by !== 0) steps.splice(Math.max(0, at + by), 0, step);
    this.#changed();
    // A button that is moved with its step loses the focus; that of a step that is gone goes to a neighbour.
    const next = by === 0 ? this.#firstBoxOf(Math.min(at, steps.length - 1)) : held;
    if (next instanceof HTMLElement) next.focus();
  }

  // ---- the lesson ----

  /** What stands in the form, whether it makes a lesson yet or not. */
  get #written(): Lesson {
    const { title, minutes, goals, steps } = this.#boxes;
    return { title, minutes: Number(minutes), goals: goals.split('\n'), steps: steps.map(stepOf) };
  }

  get lesson(): Lesson | null {
    return readLesson(this.#written);
  }

  /** Hands the lesson out, once it is one. */
  async #handOut(how: 'link' | 'embed' | 'try'): Promise<void> {
    const { lesson } = this;
    if (!lesson || !this.#write) {
      this.#say(t('lessons.empty'));
      return;
    }
    const code = await this.#write(lesson);
    const language: Language = this.#host?.view().state.language ?? 'en';
    const fragment = writeAddress({ name: null, code, step: 1 }, language);
    if (how === 'try') {
      if (!this.#isBeside()) this.#dialog.close();
      location.assign(fragment);
      return;
    }
    const page = location.href.replace(/[?#].*/, '');
    await this.#copy(
      how === 'link'
        ? page + fragment
        : frameOf(`${page}?embed=lesson${fragment}`, lesson.title, 800),
    );
  }

  async #copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.#say(t('lessons.copied', { count: text.length }));
    } catch {
      this.#say(text); // no permission, or not a secure page
    }
  }
}

customElements.define('qkv-lesson-editor', LessonEditor);
