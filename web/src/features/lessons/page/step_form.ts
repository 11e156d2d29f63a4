import { translate } from '../../../i18n/i18n';
import { find } from '../../../ui/dom';
import { ExerciseForm } from './exercise_form';
import { SHOWABLE, type Showable, type Step } from './lesson';
import { LOCKABLE } from './lockable_controls';
import { OrderList, reordered } from './order_list';
import { t } from '../texts';

const HTML = `
  <fieldset class="editor-step">
    <legend></legend>
    <label class="field"><span data-t="lessons.stepTitle"></span><input type="text" maxlength="120" data-field-of="title"></label>
    <label class="field"><span data-t="lessons.stepText"></span><textarea rows="4" data-field-of="text"></textarea></label>
    <details class="tick-set step-panels"><summary><span data-t="lessons.panels"></span> <b></b></summary><div></div></details>
    <div class="step-order"></div>
    <label class="check"><input type="checkbox" data-field-of="guess"> <span data-t="lessons.guess"></span></label>
    <details class="tick-set step-locks"><summary><span data-t="lessons.lock"></span> <b></b></summary><div></div></details>
    <label class="field"><span data-t="lessons.stepNotes"></span><textarea rows="2" data-field-of="notes"></textarea></label>
    <ol class="editor-exercises"></ol>
    <div class="exercise-order"></div>
    <p class="lesson-tools">
      <button type="button" class="button" data-step="exercise" data-t="lessons.addExercise"></button>
      <button type="button" class="button" data-step="state" data-t="lessons.takeState"></button>
      <button type="button" class="button" data-step="up" data-t="lessons.up"></button>
      <button type="button" class="button" data-step="down" data-t="lessons.down"></button>
      <button type="button" class="button" data-step="remove" data-t="lessons.remove"></button>
    </p>
    <p class="hint state-note" role="status"></p>
  </fieldset>`;

const tick = (value: string) =>
  `<label class="check"><input type="checkbox" value="${value}"> <span></span></label>`;

/** The name of what a step can show. */
function showableName(id: Showable): string {
  if (id === 'settings') return t('controls.title');
  if (id === 'sentence') return t('sentence.title');
  return document.getElementById(`${id}-title`)?.textContent ?? id;
}

/** A step in the editor. */
export class StepForm {
  readonly element = document.createElement('li');
  onMove: (by: -1 | 1 | 0) => void = () => undefined;
  /** In the order in which they were ticked. */
  #show: readonly Showable[];
  #state: string;
  #exercises: ExerciseForm[];
  readonly #showOrder = new OrderList((from, to) => {
    this.#show = reordered(this.#show, from, to);
    this.#changed();
  });
  readonly #exerciseOrder = new OrderList(
    (from, to) => {
      this.#exercises = reordered(this.#exercises, from, to);
      this.#changed();
    },
    { least: 2 },
  );

  constructor(step: Step, screen: () => string) {
    this.#show = step.show;
    this.#state = step.state;
    this.#exercises = step.exercises.map((exercise) => new ExerciseForm(exercise));
    this.element.innerHTML = HTML;
    find(this.element, '.step-panels div', HTMLElement).innerHTML = SHOWABLE.map(tick).join('');
    find(this.element, '.step-locks div', HTMLElement).innerHTML = ['all', ...LOCKABLE]
      .map(tick)
      .join('');
    this.#field('title').value = step.title;
    this.#field('text').value = step.text;
    this.#field('notes').value = step.notes ?? '';
    find(this.element, '.step-order', HTMLElement).append(this.#showOrder.element);
    find(this.element, '.exercise-order', HTMLElement).append(this.#exerciseOrder.element);
    find(this.element, '[data-field-of=guess]', HTMLInputElement).checked = step.guess;
    for (const box of this.#boxes('.step-panels'))
      box.checked = step.show.some((id) => id === box.value);
    for (const box of this.#boxes('.step-locks')) {
      box.checked = step.lock === true ? box.value === 'all' : step.lock.includes(box.value);
    }
    this.element.addEventListener('change', ({ target }) => {
      if (target instanceof HTMLInputElement && target.closest('.step-panels')) this.#tick(target);
      else if (target !== this.element) this.#note();
    });
    this.element.addEventListener('click', ({ target }) => {
      const what = target instanceof HTMLElement ? target.dataset['step'] : undefined;
      if (what !== undefined) this.#act(what, screen);
    });
  }

  /** What no box says of itself: the draft has changed. */
  #changed(): void {
    this.draw();
    this.element.dispatchEvent(new Event('change', { bubbles: true }));
  }

  #field(name: string): HTMLInputElement | HTMLTextAreaElement {
    return this.element.querySelector(`[data-field-of=${name}]`) as HTMLInputElement;
  }

  #boxes(of: string): HTMLInputElement[] {
    return [...this.element.querySelectorAll<HTMLInputElement>(`${of} input`)];
  }

  #tick({ value, checked }: HTMLInputElement): void {
    const id = SHOWABLE.find((name) => name === value);
    if (!id) return;
    const others = this.#show.filter((name) => name !== id);
    this.#show = checked ? [...others, id] : others;
    this.draw();
  }

  #act(what: string, screen: () => string): void {
    if (what === 'up' || what === 'down') this.onMove(what === 'up' ? -1 : 1);
    else if (what === 'remove') this.onMove(0);
    else if (what === 'state') {
      this.#state = screen();
      find(this.element, '.state-note', HTMLElement).textContent = t('lessons.stateTaken');
    } else if (what === 'exercise') {
      const exercise = new ExerciseForm({ text: '' });
      this.#exercises.push(exercise);
      this.draw();
      exercise.element.querySelector('textarea')?.focus();
    }
  }

  /** Names and lists as they are now, in the language of the page. */
  draw(): void {
    const place = this.element.dataset['place'] ?? '';
    find(this.element, 'legend', HTMLElement).textContent = `${t('lessons.step')} ${place}`;
    for (const box of this.#boxes('.step-panels')) {
      const id = SHOWABLE.find((name) => name === box.value);
      if (id && box.nextElementSibling) box.nextElementSibling.textContent = showableName(id);
    }
    for (const box of this.#boxes('.step-locks')) {
      const field = LOCKABLE.find((known) => known === box.value);
      const name = t(field ? `lessons.f.${field}` : 'lessons.lockAll');
      if (box.nextElementSibling) box.nextElementSibling.textContent = name;
    }
    this.#showOrder.draw(this.#show.map(showableName));
    this.#note();
    this.#exercises.forEach((exercise) => {
      exercise.onRemove = () => {
        this.#exercises = this.#exercises.filter((other) => other !== exercise);
        this.draw();
      };
    });
    find(this.element, '.editor-exercises', HTMLElement).replaceChildren(
      ...this.#exercises.map(({ element }) => element),
    );
    translate(this.element);
    for (const exercise of this.#exercises) exercise.draw();
  }

  /** How many boxes of a folded list are ticked, and what the questions say. */
  #note(): void {
    const questions = this.#exercises.map(({ exercise: { text } }, i) => `${i + 1}. ${text}`);
    this.#exerciseOrder.draw(questions);
    for (const list of ['.step-panels', '.step-locks']) {
      const ticked = this.#boxes(list).filter(({ checked }) => checked).length;
      find(this.element, `${list} b`, HTMLElement).textContent = `(${ticked})`;
    }
  }

  get step(): Step {
    const locked = this.#boxes('.step-locks').flatMap(({ checked, value }) =>
      checked ? [value] : [],
    );
    const notes = this.#field('notes').value;
    return {
      title: this.#field('title').value,
      text: this.#field('text').value,
      show: this.#show,
      state: this.#state,
      lock: locked.includes('all') ? true : locked,
      guess: find(this.element, '[data-field-of=guess]', HTMLInputElement).checked,
      exercises: this.#exercises.map(({ exercise }) => exercise),
      ...(notes.trim() === '' ? {} : { notes }),
    };
  }
}
