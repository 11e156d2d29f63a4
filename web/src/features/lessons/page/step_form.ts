import { translate } from '../../../i18n/i18n';
import { find } from '../../../ui/dom';
import { ExerciseForm } from './exercise_form';
import { SHOWABLE, type Showable, type Step } from './lesson';
import { LOCKABLE } from './lockable_controls';
import { t } from '../texts';

const HTML = `
  <fieldset class="editor-step">
    <legend></legend>
    <label class="field"><span data-t="lessons.stepTitle"></span><input type="text" maxlength="120" data-field-of="title"></label>
    <label class="field"><span data-t="lessons.stepText"></span><textarea rows="4" data-field-of="text"></textarea></label>
    <fieldset class="tick-set step-panels"><legend data-t="lessons.panels"></legend><div></div></fieldset>
    <p class="order hint"></p>
    <label class="check"><input type="checkbox" data-field-of="guess"> <span data-t="lessons.guess"></span></label>
    <fieldset class="tick-set step-locks"><legend data-t="lessons.lock"></legend><div></div></fieldset>
    <ol class="editor-exercises"></ol>
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
    find(this.element, '[data-field-of=guess]', HTMLInputElement).checked = step.guess;
    for (const box of this.#boxes('.step-panels'))
      box.checked = step.show.some((id) => id === box.value);
    for (const box of this.#boxes('.step-locks')) {
      box.checked = step.lock === true ? box.value === 'all' : step.lock.includes(box.value);
    }
    this.element.addEventListener('change', ({ target }) => {
      if (target instanceof HTMLInputElement && target.closest('.step-panels')) this.#tick(target);
    });
    this.element.addEventListener('click', ({ target }) => {
      const what = target instanceof HTMLElement ? target.dataset['step'] : undefined;
      if (what !== undefined) this.#act(what, screen);
    });
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
    const order = this.#show.map(showableName).join(' → ');
    find(this.element, '.order', HTMLElement).textContent = t('lessons.order', { order });
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

  get step(): Step {
    const locked = this.#boxes('.step-locks').flatMap(({ checked, value }) =>
      checked ? [value] : [],
    );
    return {
      title: this.#field('title').value,
      text: this.#field('text').value,
      show: this.#show,
      state: this.#state,
      lock: locked.includes('all') ? true : locked,
      guess: find(this.element, '[data-field-of=guess]', HTMLInputElement).checked,
      exercises: this.#exercises.map(({ exercise }) => exercise),
    };
  }
}
