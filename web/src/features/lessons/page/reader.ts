import { html, nothing, type TemplateResult } from 'lit-html';
import type { Language } from '../../../i18n/i18n';
import { button } from '../../../ui/lit/controls';
import { richText } from '../../../ui/lit/texts';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
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
import { t, type Key } from '../texts';

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
  const guesses = PANEL_IDS.flatMap((id) => Object.keys(asksOf(id)).map((name) => [name, false]));
  return formatFragment({
    ...state,
    panel: null,
    opened: null,
    controls: true,
    ...(Object.fromEntries(guesses) as object),
  });
}

/** A step as it is read. */
interface OpenStep {
  readonly step: Step;
  readonly exercises: readonly ExerciseItem[];
  /** For paper: once the step is left, its panels are elsewhere. */
  figures: readonly HTMLImageElement[];
  /** Whether they have the place of the panels on paper. */
  isCaptured: boolean;
}

/** A lesson: its steps one after the other, each with its text, the panels it is about, and exercises. */
export class LessonReader extends LitPanel {
  host: Host | null = null;
  locks: Locks | null = null;
  /** Where panels are while no step shows them. */
  store: HTMLElement | null = null;
  /** From 0; -1 before the first. */
  at = -1;
  #opened: Opened | null = null;
  #openSteps: readonly OpenStep[] = [];
  /** Whether this state is another than that of this step. */
  #compared: { readonly state: State; readonly step: Step; readonly moved: boolean } | null = null;
  /** Another number for every step that is gone to. */
  #going = 0;
  #answers: AnswersBar | null = null;
  /** Whether notes and solutions are shown, for teachers. */
  #notes = false;
  #isPrinting = false;
  #address = '';

  /** Its texts change only with the language, when it is opened anew. */
  protected inputs(): readonly unknown[] {
    return [this.#opened, this.at, this.#moved, this.#address];
  }

  override update(view: View): void {
    const step = this.#step;
    if (step) this.#compare(view.state, step);
    if (step && this.#notes) this.#showSolutions(view);
    super.update(view);
  }

  /** A lesson that is left stays as it is until the page has its place. */
  protected override refresh(): void {
    if (this.#opened) super.refresh();
  }

  protected render(): TemplateResult {
    const opened = this.#opened;
    return html`
      ${opened && this.#head(opened)}
      <div class="lesson-body">${this.#openSteps.map((one, at) => this.#section(one, at))}</div>
      <div class="lesson-foot">${this.#answers?.element}</div>
      <p class="lesson-link">${this.#address}</p>`;
  }

  #head({ lesson: { title, goals, minutes, steps } }: Opened): TemplateResult {
    const kind = minutes > 0 ? 'lessons.kindMinutes' : 'lessons.kind';
    const link = (step: Step, at: number) => html`
      <li><button type="button" class="step-link" data-to=${at} aria-current=${at === this.at ? 'step' : nothing}
        @click=${() => this.#visit(at)}>${richText(stepName(step, at))}</button></li>`;
    return html`<header class="lesson-head">
      <p class="lesson-kind">${t(kind, { minutes, steps: steps.length })}</p>
      <h1 id="lesson-title" tabindex="-1">${richText(title)}</h1>
      <div class="lesson-goals" ?hidden=${goals.length === 0}><h2>${t('lessons.goals')}</h2><ul>${goals.map((goal) => html`<li>${richText(goal)}</li>`)}</ul></div>
      <p class="lesson-tools">
        <a class="button all" href="#v=1&amp;lesson=index">${t('lessons.all')}</a>
        ${button('print', t('lessons.print'), () => void this.#print())}
        ${button('adapt', t('lessons.adapt'), () => this.#opened?.adapt())}
        <button type="button" class="button for-teachers" aria-pressed=${String(this.#notes)} @click=${() => this.#turnNotes()}>${t('lessons.forTeachers')}</button>
        ${button('leave', t('lessons.leave'), () => this.#leave())}
      </p>
      <p class="lesson-status hint" role="status">${this.#isPrinting ? t('lessons.printing') : ''}</p>
      <nav aria-label=${t('lessons.steps')}><ol class="lesson-steps">${steps.map(link)}</ol></nav>
    </header>`;
  }

  /** Into the panels of a step nothing is rendered: go() puts them there. */
  #section({ step, exercises, figures, isCaptured }: OpenStep, at: number): TemplateResult {
    const { text, notes = '' } = step;
    const isCurrent = at === this.at;
    const state = (isCurrent ? ' current' : '') + (isCaptured ? ' captured' : '');
    const to = (place: number, words: Key, more = '') =>
      html`<button type="button" class="button${more}" data-to=${place} @click=${() => this.#visit(place)}>${t(words)}</button>`;
    return html`<section class="lesson-step${state}" aria-labelledby="step-${at}">
      <div class="lesson-text"><h2 id="step-${at}" tabindex="-1">${richText(stepName(step, at))}</h2>${paragraphs(text)}</div>
      <aside class="lesson-notes" aria-labelledby="notes-${at}" ?hidden=${!this.#notes || notes === ''}><h3 id="notes-${at}">${t('lessons.notes')}</h3>${paragraphs(notes)}</aside>
      <p class="lesson-tools back" ?hidden=${!isCurrent || !this.#moved}><button type="button" class="button" @click=${() => this.#restore()}>${t('lessons.restore')}</button></p>
      <div class="lesson-panels"></div>
      <div class="lesson-figures">${figures}</div>
      <div class="lesson-exercises" ?hidden=${exercises.length === 0}><h3>${t('lessons.exercises')}</h3><ol>${exercises.map(({ element }) => element)}</ol></div>
      <p class="lesson-tools">
        ${at > 0 ? to(at - 1, 'lessons.previous') : nothing}
        ${at < this.#openSteps.length - 1 ? to(at + 1, 'lessons.next', ' next') : nothing}
      </p>
    </section>`;
  }

  // ---- for teachers ----

  #turnNotes(): void {
    this.#notes = !this.#notes;
    if (this.#notes) this.#showSolutions(this.#viewNow());
    else for (const item of this.#exercises) item.showSolution(null);
    this.refresh();
  }

  /** Those of this step: what belongs to the others is not computed now. */
  #showSolutions(view: View): void {
    for (const item of this.#openSteps[this.at]?.exercises ?? []) item.showSolution(view);
  }

  get #exercises(): readonly ExerciseItem[] {
    return this.#openSteps.flatMap(({ exercises }) => exercises);
  }

  // ---- the settings of a step ----

  /** What is read; nothing of a lesson that is left. */
  get #step(): Step | undefined {
    return this.#opened?.lesson.steps[this.at];
  }

  /** Two links are written to compare them: not at every frame of a step that nobody touches. */
  #compare(state: State, step: Step): void {
    if (this.#compared?.state === state && this.#compared.step === step) return;
    const moved = settingsOf(state) !== settingsOf(stateOf(step, state.language));
    this.#compared = { state, step, moved };
  }

  /** Whether the reader had left the settings of the step when it was drawn. */
  get #moved(): boolean {
    return this.#compared?.step === this.#step && this.#compared?.moved === true;
  }

  #restore(): void {
    const step = this.#step;
    if (step) this.host?.begin(stateOf(step, this.#viewNow().state.language));
  }

  #viewNow(): View {
    const view = this.host?.view();
    if (!view) throw new Error('a lesson without a page');
    return view;
  }

  // ---- the lesson ----

  /** Puts a lesson onto the page, at one of its steps. */
  open(opened: Opened, step: number): void {
    const { lesson, id } = opened;
    this.#stow();
    this.#opened = opened;
    this.at = -1;
    this.#isPrinting = false;
    this.#openSteps = lesson.steps.map((one, i) => ({
      ...{ step: one, figures: [], isCaptured: false },
      exercises: one.exercises.map((exercise, e) =>
        this.#item(exercise, { step: i, exercise: e }, opened),
      ),
    }));
    this.#answers = new AnswersBar(id, () => {
      for (const item of this.#exercises) item.restore();
    });
    document.title = `${plainOfRich(lesson.title)} · qkv`;
    this.update(this.#viewNow());
    void this.go(step);
  }

  #item(
    exercise: Exercise,
    at: Pick<Place, 'step' | 'exercise'>,
    { id, lesson }: Opened,
  ): ExerciseItem {
    const [title, question] = [lesson.title, exercise.text].map(plainOfRich);
    const of = { lesson: id, ...at, title: title ?? '', question: question ?? '' };
    return new ExerciseItem(exercise, {
      view: () => this.#viewNow(),
      moved: () => this.#moved,
      kept: () => answerAt(of),
      keep: (given) => this.#answers?.draw(keepAnswer(of, given)),
    });
  }

  /** What is under way for this lesson comes to nothing. */
  close(): void {
    this.#opened = null;
  }

  #leave(): void {
    const leave = this.#opened?.leave;
    this.close(); // the address changes at once: nothing under way may change it back
    leave?.();
  }

  /** Whether this lesson is still the one that is read. */
  #reads(opened: Opened): boolean {
    return this.isConnected && this.#opened === opened;
  }

  // ---- from step to step ----

  /** All panels back to where nothing shows them. */
  #stow(): void {
    for (const id of ['settings', 'sentence', ...PANEL_IDS] as const) {
      const element = elementOf(id);
      if (element && this.contains(element)) this.store?.append(element);
    }
  }

  #visit(step: number): void {
    void this.go(step, { focus: true, visit: true });
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
    const reading = this.#openSteps[step];
    if (!reading) return;
    this.#stow();
    this.at = step;
    reading.isCaptured = false;
    this.refresh();
    const plan = reading.step;
    const place = this.find('.lesson-step.current > .lesson-panels', HTMLElement);
    for (const id of plan.show) {
      const element = elementOf(id);
      if (element) place.append(element);
    }
    this.#hold(plan, opened, host, visit);
    host.begin(state ?? stateOf(plan, host.view().state.language));
    this.#address = location.href;
    this.update(host.view());
    if (focus) this.find(`#step-${step}`, HTMLElement).focus();
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

  async #keepFigures(): Promise<void> {
    const [left, host] = [this.#openSteps[this.at], this.host];
    if (!left || !host) return;
    const pictures = await Promise.all(panelsOf(left.step).map((id) => pictureOf(id, host)));
    left.figures = pictures.filter((picture) => picture !== null);
    left.isCaptured = left.figures.length > 0;
  }

  /** Goes through all steps, so that each has its figures; then back to where the reader was. */
  async #print(): Promise<void> {
    const [opened, host] = [this.#opened, this.host];
    if (!opened || !host) return;
    const [at, { state }] = [this.at, this.#viewNow()];
    this.#isPrinting = true;
    this.refresh();
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
    this.#isPrinting = false;
    this.refresh();
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

const paragraphs = (text: string) =>
  text
    .split(/\n\s*\n/)
    .filter(Boolean)
    .map((paragraph) => html`<p>${richText(paragraph)}</p>`);

const stepName = ({ title }: Step, at: number) => `${at + 1}. ${title || t('lessons.step')}`;

customElements.define('qkv-lesson', LessonReader);
