import { richNodes } from '../../../i18n/markup';
import { translate, type Language } from '../../../i18n/i18n';
import { Panel, type View } from '../../panel';
import { formatFragment, type State } from '../../../state/state';
import { asksOf, PANEL_IDS } from '../../index';
import { loadPanel } from '../../load';
import { answerAt, keepAnswer, type Place } from './answers';
import { AnswersBar } from './answers_bar';
import { ExerciseItem, plainOfRich } from './exercise';
import { pictureOf, settled } from './print_figures';
import type { Host } from './page_api';
import { panelsOf, stateOf, type Exercise, type Lesson, type Showable, type Step } from './lesson';
import { allowed, type Locks } from './locks';
import { t } from '../texts';

/** What the reader needs from who opened it. */
export interface Opened {
  readonly lesson: Lesson;
  /** What tells it from others, in what is kept of its answers. */
  readonly id: string;
  readonly language: Language;
  /** The address of the lesson as it stands. */
  readonly link: () => string;
  readonly adapt: () => void;
  readonly leave: () => void;
}

const elementOf = (id: Showable): HTMLElement | null => {
  if (id === 'settings') return document.querySelector('.instruments');
  if (id === 'sentence') return document.querySelector('section.sentence');
  return document.getElementById(id);
};

/** What a panel asks is a question to the reader, not a setting. */
function settingsOf(state: State): string {
  const asked = PANEL_IDS.flatMap((id) => Object.keys(asksOf(id)).map((name) => [name, false]));
  return formatFragment({
    ...state,
    panel: null,
    opened: null,
    controls: true,
    ...(Object.fromEntries(asked) as object),
  });
}

/** A lesson: its steps one after the other, each with its text, the panels it is about, and exercises. */
export class LessonReader extends Panel {
  host: Host | null = null;
  locks: Locks | null = null;
  /** Where panels are while no step shows them. */
  store: HTMLElement | null = null;
  /** From 0; -1 before the first. */
  at = -1;
  #opened: Opened | null = null;
  #view: View | null = null;
  /** Whether this state is another than that of this step. */
  #compared: { readonly state: State; readonly step: Step; readonly moved: boolean } | null = null;
  /** Another number for every step that is gone to. */
  #going = 0;
  /** The exercises, step by step. */
  #exercises: readonly (readonly ExerciseItem[])[] = [];
  #answers: AnswersBar | null = null;
  /** Whether notes and solutions are shown, for teachers. */
  #notes = false;

  protected template(): string {
    return `
      <header class="lesson-head">
        <p class="lesson-kind"></p>
        <h1 id="lesson-title" tabindex="-1"></h1>
        <div class="lesson-goals"><h2 data-t="lessons.goals"></h2><ul></ul></div>
        <p class="lesson-tools">
          <a class="button all" href="#v=1&amp;lesson=index" data-t="lessons.all"></a>
          <button type="button" class="button print" data-t="lessons.print"></button>
          <button type="button" class="button adapt" data-t="lessons.adapt"></button>
          <button type="button" class="button for-teachers" aria-pressed="false" data-t="lessons.forTeachers"></button>
          <button type="button" class="button leave" data-t="lessons.leave"></button>
        </p>
        <p class="lesson-status hint" role="status"></p>
        <nav data-t-label="lessons.steps"><ol class="lesson-steps"></ol></nav>
      </header>
      <div class="lesson-body"></div>
      <div class="lesson-foot"></div>
      <p class="lesson-link"></p>`;
  }

  protected override ready(): void {
    const on = (selector: string, act: () => void) =>
      this.find(selector, HTMLElement).addEventListener('click', act);
    on('.adapt', () => this.#opened?.adapt());
    on('.leave', () => {
      const leave = this.#opened?.leave;
      this.close(); // the address changes at once: nothing under way may change it back
      leave?.();
    });
    on('.print', () => void this.#print());
    on('.for-teachers', () => {
      this.#notes = !this.#notes;
      this.#showNotes();
    });
    this.addEventListener('click', ({ target }) => {
      const button = target instanceof Element ? target.closest<HTMLElement>('[data-to]') : null;
      const to = button?.dataset['to'];
      if (to !== undefined) void this.go(Number(to), { focus: true, visit: true });
    });
  }

  update(view: View): void {
    this.#view = view;
    const step = this.#opened?.lesson.steps[this.at];
    if (!step) return;
    const back = this.querySelector<HTMLElement>('.lesson-step.current .back');
    if (back) back.hidden = !this.#moved();
    if (this.#notes) this.#showSolutions(view);
  }

  #showNotes(): void {
    this.find('.for-teachers', HTMLElement).setAttribute('aria-pressed', String(this.#notes));
    for (const notes of this.querySelectorAll<HTMLElement>('.lesson-notes')) {
      notes.hidden = !this.#notes || notes.dataset['empty'] !== undefined;
    }
    if (this.#notes) this.#showSolutions(this.#viewNow());
    else for (const item of this.#exercises.flat()) item.showSolution(null);
  }

  /** Those of this step: what belongs to the others is not computed now. */
  #showSolutions(view: View): void {
    for (const item of this.#exercises[this.at] ?? []) item.showSolution(view);
  }

  #moved(): boolean {
    const [view, step, opened] = [this.#view, this.#opened?.lesson.steps[this.at], this.#opened];
    if (!view || !step || !opened) return false;
    const { state } = view;
    // Two links are written to compare them: not at every frame of a step that nobody touches.
    if (this.#compared?.state !== state || this.#compared.step !== step) {
      const moved = settingsOf(state) !== settingsOf(stateOf(step, state.language));
      this.#compared = { state, step, moved };
    }
    return this.#compared.moved;
  }

  /** Puts a lesson onto the page, at one of its steps. */
  open(opened: Opened, step: number): void {
    this.#opened = opened;
    this.at = -1;
    this.#stow();
    translate(this);
    const { lesson } = opened;
    this.setText('.lesson-status', '');
    const kind = lesson.minutes > 0 ? 'lessons.kindMinutes' : 'lessons.kind';
    this.setText('.lesson-kind', t(kind, { minutes: lesson.minutes, steps: lesson.steps.length }));
    this.find('h1', HTMLElement).replaceChildren(...richNodes(lesson.title));
    document.title = `${this.find('h1', HTMLElement).textContent} · qkv`;
    const goals = this.find('.lesson-goals', HTMLElement);
    goals.hidden = lesson.goals.length === 0;
    this.find('.lesson-goals ul', HTMLElement).replaceChildren(...lesson.goals.map(listItem));
    this.find('.lesson-steps', HTMLElement).replaceChildren(...lesson.steps.map(stepLink));
    this.#exercises = lesson.steps.map((one, i) =>
      one.exercises.map((exercise, e) => this.#item(exercise, { step: i, exercise: e }, opened)),
    );
    const body = this.find('.lesson-body', HTMLElement);
    body.replaceChildren(
      ...lesson.steps.map((one, i) => this.#section(one, i, lesson.steps.length - 1)),
    );
    this.#answers = new AnswersBar(opened.id, () => {
      for (const item of this.#exercises.flat()) item.restore();
    });
    this.find('.lesson-foot', HTMLElement).replaceChildren(this.#answers.element);
    void this.go(step);
  }

  /** What is under way for this lesson comes to nothing. */
  close(): void {
    this.#opened = null;
  }

  /** Whether this lesson is still the one that is read. */
  #reads(opened: Opened): boolean {
    return this.isConnected && this.#opened === opened;
  }

  #item(
    exercise: Exercise,
    at: Pick<Place, 'step' | 'exercise'>,
    { id, lesson }: Opened,
  ): ExerciseItem {
    const [title, question] = [lesson.title, exercise.text].map(plainOfRich);
    const asked = { lesson: id, ...at, title: title ?? '', question: question ?? '' };
    return new ExerciseItem(exercise, {
      view: () => this.#viewNow(),
      moved: () => this.#moved(),
      kept: () => answerAt(asked),
      keep: (given) => this.#answers?.draw(keepAnswer(asked, given)),
    });
  }

  #section(step: Step, at: number, last: number): HTMLElement {
    const section = document.createElement('section');
    section.className = 'lesson-step';
    section.setAttribute('aria-labelledby', `step-${at}`);
    section.innerHTML = `
      <div class="lesson-text"><h2 id="step-${at}" tabindex="-1"></h2></div>
      <aside class="lesson-notes" aria-labelledby="notes-${at}" hidden><h3 id="notes-${at}" data-t="lessons.notes"></h3></aside>
      <p class="lesson-tools back" hidden><button type="button" class="button" data-t="lessons.restore"></button></p>
      <div class="lesson-panels"></div>
      <div class="lesson-figures"></div>
      <div class="lesson-exercises"><h3 data-t="lessons.exercises"></h3><ol></ol></div>
      <p class="lesson-tools">
        ${at > 0 ? `<button type="button" class="button" data-to="${at - 1}" data-t="lessons.previous"></button>` : ''}
        ${at < last ? `<button type="button" class="button next" data-to="${at + 1}" data-t="lessons.next"></button>` : ''}
      </p>`;
    translate(section);
    const find = (selector: string) => section.querySelector<HTMLElement>(selector);
    find('h2')?.append(...richNodes(stepName(step, at)));
    find('.lesson-text')?.append(...paragraphs(step.text));
    const notes = find('.lesson-notes');
    if (step.notes) notes?.append(...paragraphs(step.notes));
    else notes?.setAttribute('data-empty', '');
    find('ol')?.append(...(this.#exercises[at] ?? []).map(({ element }) => element));
    const exercises = find('.lesson-exercises');
    if (exercises) exercises.hidden = step.exercises.length === 0;
    find('.back button')?.addEventListener('click', () => this.#restore());
    return section;
  }

  #viewNow(): View {
    const view = this.host?.view();
    if (!view) throw new Error('a lesson without a page');
    return view;
  }

  #restore(): void {
    const step = this.#opened?.lesson.steps[this.at];
    if (step) this.host?.begin(stateOf(step, this.#viewNow().state.language));
  }

  // ---- from step to step ----

  /** All panels back to where nothing shows them. */
  #stow(): void {
    for (const id of ['settings', 'sentence', ...PANEL_IDS] as const) {
      const element = elementOf(id);
      if (element && this.contains(element)) this.store?.append(element);
    }
  }

  /** `visit`: the reader goes there, and comes back here by the browser's Back. */
  async go(
    to: number,
    {
      focus = false,
      visit = false,
      state,
    }: { focus?: boolean; visit?: boolean; state?: State } = {},
  ): Promise<void> {
    const [opened, host] = [this.#opened, this.host];
    if (!opened || !host) return;
    const step = Math.min(Math.max(0, to), opened.lesson.steps.length - 1);
    const going = ++this.#going;
    if (this.at >= 0 && this.at !== step) await this.#keepFigures();
    if (!this.#reads(opened) || going !== this.#going) return; // who went on meanwhile is there already
    this.#stow();
    this.at = step;
    const plan = opened.lesson.steps[step];
    const sections = [...this.querySelectorAll<HTMLElement>('.lesson-step')];
    const section = sections[step];
    if (!plan || !section) return;
    sections.forEach((one, i) => one.classList.toggle('current', i === step));
    this.querySelectorAll('.lesson-steps button').forEach((button, i) => {
      if (i === step) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    });
    section.classList.remove('captured');
    const place = section.querySelector('.lesson-panels');
    for (const id of plan.show) {
      const element = elementOf(id);
      if (element) place?.append(element);
    }
    this.#hold(plan, opened, host, visit);
    host.begin(state ?? stateOf(plan, host.view().state.language));
    this.setText('.lesson-link', location.href);
    if (focus) section.querySelector('h2')?.focus();
    await this.#load(plan);
  }

  #hold(plan: Step, opened: Opened, host: Host, visit: boolean): void {
    const panels = panelsOf(plan);
    host.hold = {
      allow: (patch) => allowed(plan.lock, patch),
      fragment: opened.link,
      panels: new Set(panels),
    };
    if (this.locks) this.locks.lock = plan.lock;
    this.#showNotes();
    const address = location.pathname + searchOf() + opened.link();
    const isNew = !location.href.endsWith(address);
    if (visit && isNew) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
    for (const id of panels) {
      const section = document.getElementById(id);
      if (section) host.show(section, true);
    }
  }

  async #load(plan: Step): Promise<void> {
    const { language } = this.#viewNow().state;
    const came = await Promise.allSettled(panelsOf(plan).map((id) => loadPanel(id, language)));
    // Those that came are shown; app/panel_watcher.ts asks again for the others.
    for (const one of came) if (one.status === 'rejected') console.error(one.reason);
    if (this.isConnected) this.host?.panelAdded();
  }

  // ---- on paper ----

  /** The figures of this step, for paper: once left, its panels are elsewhere. */
  async #keepFigures(): Promise<void> {
    const [opened, host] = [this.#opened, this.host];
    const section = this.querySelectorAll('.lesson-step')[this.at];
    const step = opened?.lesson.steps[this.at];
    if (!section || !step || !host) return;
    const pictures = await Promise.all(panelsOf(step).map((id) => pictureOf(id, host)));
    const shown = pictures.filter((picture) => picture !== null);
    section.querySelector('.lesson-figures')?.replaceChildren(...shown);
    section.classList.toggle('captured', shown.length > 0);
  }

  /** Goes through all steps, so that each has its figures; then back to where the reader was. */
  async #print(): Promise<void> {
    const [opened, host] = [this.#opened, this.host];
    if (!opened || !host) return;
    const [at, { state }] = [this.at, this.#viewNow()];
    this.setText('.lesson-status', t('lessons.printing'));
    for (let step = 0; step < opened.lesson.steps.length; step++) {
      if (step === at) continue;
      await this.go(step);
      await settled(host);
      if (!this.#reads(opened)) return;
    }
    await this.go(at, { state });
    await settled(host);
    if (!this.#reads(opened)) return;
    await this.#keepFigures();
    if (!this.#reads(opened)) return;
    this.setText('.lesson-status', '');
    window.print();
  }
}

/** The embed stays in the address, the lesson of the query has gone into the fragment. */
export function searchOf(): string {
  const search = new URLSearchParams(location.search);
  for (const key of ['lesson', 'step', 'lang']) search.delete(key);
  const rest = search.toString();
  return rest === '' ? '' : `?${rest}`;
}

function paragraphs(text: string): HTMLElement[] {
  return text
    .split(/\n\s*\n/)
    .filter(Boolean)
    .map((paragraph) => {
      const p = document.createElement('p');
      p.append(...richNodes(paragraph));
      return p;
    });
}

function listItem(text: string): HTMLElement {
  const item = document.createElement('li');
  item.append(...richNodes(text));
  return item;
}

const stepName = ({ title }: Step, at: number) => `${at + 1}. ${title || t('lessons.step')}`;

function stepLink(step: Step, at: number): HTMLElement {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'step-link';
  button.dataset['to'] = String(at);
  button.append(...richNodes(stepName(step, at)));
  item.append(button);
  return item;
}

customElements.define('qkv-lesson', LessonReader);
