import { html, type TemplateResult } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { live } from 'lit-html/directives/live.js';
import { repeat } from 'lit-html/directives/repeat.js';
import { withChecked, withValue } from '../../../ui/lit/controls';
import { exerciseBoxes, exerciseForm, exerciseOf, type ExerciseBoxes } from './exercise_form';
import { SHOWABLE, type Showable, type Step } from './lesson';
import { LOCKABLE } from './lockable_controls';
import { orderList, reordered } from './order_list';
import { t } from '../texts';

const LOCKS = ['all', ...LOCKABLE] as const;
type Lock = (typeof LOCKS)[number];

/** What stands in the boxes of a step. */
export interface StepBoxes {
  title: string;
  text: string;
  notes: string;
  /** In the order in which they were ticked. */
  show: readonly Showable[];
  state: string;
  /** In the order of LOCKS. */
  locks: readonly Lock[];
  guess: boolean;
  exercises: readonly ExerciseBoxes[];
  /** How often the state was taken from the screen. */
  taken: number;
}

export const stepBoxes = ({ lock, exercises, ...rest }: Step): StepBoxes => ({
  ...{ notes: '', ...rest, taken: 0 },
  locks: LOCKS.filter((name) => (lock === true ? name === 'all' : lock.includes(name))),
  exercises: exercises.map(exerciseBoxes),
});

export function stepOf(boxes: StepBoxes): Step {
  const { title, text, show, state, locks, guess, exercises, notes } = boxes;
  return {
    ...{ title, text, show, state, guess },
    lock: locks.includes('all') ? true : locks,
    exercises: exercises.map(exerciseOf),
    ...(notes.trim() === '' ? {} : { notes }),
  };
}

/** The name of what a step can show. */
function showableName(id: Showable): string {
  if (id === 'settings') return t('controls.title');
  if (id === 'sentence') return t('sentence.title');
  return document.getElementById(`${id}-title`)?.textContent ?? id;
}

const lockName = (name: Lock) => t(name === 'all' ? 'lessons.lockAll' : `lessons.f.${name}`);

interface Ticks<Value extends string> {
  readonly all: readonly Value[];
  readonly nameOf: (value: Value) => string;
  readonly ticked: readonly Value[];
  readonly take: (value: Value, checked: boolean) => void;
}

/** Boxes to tick, folded away behind how many of them are. */
function tickSet<Value extends string>(
  className: string,
  words: string,
  { all, nameOf, ticked, take }: Ticks<Value>,
): TemplateResult {
  const box = (value: Value) => html`
    <label class="check"><input type="checkbox" value=${value} .checked=${live(ticked.includes(value))} @change=${withChecked((checked) => take(value, checked))}> <span>${nameOf(value)}</span></label>`;
  return html`<details class="tick-set ${className}"><summary><span>${words}</span> <b>(${ticked.length})</b></summary><div>${all.map(box)}</div></details>`;
}

interface Acts {
  /** After every change of what stands in the boxes: renders the form again. */
  readonly changed: () => void;
  /** Up, down, or away. */
  readonly move: (by: -1 | 1 | 0) => void;
  /** The state of the page. */
  readonly screen: () => string;
}
type Put = (patch: Partial<StepBoxes>) => void;

/** A step in the editor. */
export function stepForm(boxes: StepBoxes, at: number, acts: Acts): TemplateResult {
  const put: Put = (patch) => {
    Object.assign(boxes, patch);
    acts.changed();
  };
  const { title, text, notes, guess, taken } = boxes;
  return html`<li><fieldset class="editor-step">
    <legend>${t('lessons.step')} ${at + 1}</legend>
    <label class="field"><span>${t('lessons.stepTitle')}</span><input type="text" maxlength="120" data-field-of="title" .value=${live(title)} @input=${withValue((typed) => put({ title: typed }))}></label>
    <label class="field"><span>${t('lessons.stepText')}</span><textarea rows="4" data-field-of="text" .value=${live(text)} @input=${withValue((typed) => put({ text: typed }))}></textarea></label>
    ${panels(boxes, put)}
    <label class="check"><input type="checkbox" data-field-of="guess" .checked=${live(guess)} @change=${withChecked((checked) => put({ guess: checked }))}> <span>${t('lessons.guess')}</span></label>
    ${locked(boxes, put)}
    <label class="field"><span>${t('lessons.stepNotes')}</span><textarea rows="2" data-field-of="notes" .value=${live(notes)} @input=${withValue((typed) => put({ notes: typed }))}></textarea></label>
    ${questions(boxes, put, acts.changed)}
    ${tools(boxes, put, acts)}
    <p class="hint state-note" role="status">${keyed(taken, taken > 0 ? t('lessons.stateTaken') : '')}</p>
  </fieldset></li>`;
}

function panels({ show }: StepBoxes, put: Put): TemplateResult {
  const take = (id: Showable, checked: boolean) => {
    const others = show.filter((name) => name !== id);
    put({ show: checked ? [...others, id] : others });
  };
  return html`
    ${tickSet('step-panels', t('lessons.panels'), { all: SHOWABLE, nameOf: showableName, ticked: show, take })}
    <div class="step-order">${orderList({
      names: show.map(showableName),
      moved: (from, to) => put({ show: reordered(show, from, to) }),
    })}</div>`;
}

function locked({ locks }: StepBoxes, put: Put): TemplateResult {
  const take = (lock: Lock, checked: boolean) =>
    put({ locks: LOCKS.filter((name) => (name === lock ? checked : locks.includes(name))) });
  const ticks = { all: LOCKS, nameOf: lockName, ticked: locks, take };
  return tickSet('step-locks', t('lessons.lock'), ticks);
}

function questions({ exercises }: StepBoxes, put: Put, changed: () => void): TemplateResult {
  const form = (one: ExerciseBoxes) =>
    exerciseForm(one, changed, () => put({ exercises: exercises.filter((each) => each !== one) }));
  return html`
    <ol class="editor-exercises">${repeat(exercises, (one) => one, form)}</ol>
    <div class="exercise-order">${orderList({
      names: exercises.map(({ text }, i) => `${i + 1}. ${text}`),
      moved: (from, to) => put({ exercises: reordered(exercises, from, to) }),
      least: 2,
    })}</div>`;
}

function tools({ exercises, taken }: StepBoxes, put: Put, { move, screen }: Acts): TemplateResult {
  const tool = (name: string, words: string, press: (event: Event) => void) =>
    html`<button type="button" class="button" data-step=${name} @click=${press}>${words}</button>`;
  const add = ({ currentTarget }: Event) => {
    const step = (currentTarget as Element).closest('.editor-step');
    put({ exercises: [...exercises, exerciseBoxes({ text: '' })] });
    step?.querySelector<HTMLElement>('.editor-exercises > :last-child textarea')?.focus();
  };
  return html`<p class="lesson-tools">
    ${tool('exercise', t('lessons.addExercise'), add)}
    ${tool('state', t('lessons.takeState'), () => put({ state: screen(), taken: taken + 1 }))}
    ${tool('up', t('lessons.up'), () => move(-1))}
    ${tool('down', t('lessons.down'), () => move(1))}
    ${tool('remove', t('lessons.remove'), () => move(0))}
  </p>`;
}
