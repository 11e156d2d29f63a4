import { translate } from '../../../i18n/i18n';
import { find, setText } from '../../../ui/dom';
import type { Exercise } from './lesson';
import { readAnswer } from './parse_answer';
import { QUANTITY_NAMES } from './quantities';
import { t, type Key } from '../texts';

const KINDS = ['open', 'number', 'value', 'text', 'choice'] as const;
type Kind = (typeof KINDS)[number];

const HTML = `
  <fieldset class="editor-exercise">
    <legend data-t="lessons.exercise"></legend>
    <label class="field"><span data-t="lessons.exerciseText"></span><textarea rows="2" data-part="text"></textarea></label>
    <label class="field short"><span data-t="lessons.answerKind"></span><select data-part="kind">${KINDS.map(
      (kind) => `<option value="${kind}" data-t="lessons.kind.${kind}"></option>`,
    ).join('')}</select></label>
    <div data-for="number">
      <label class="field"><span data-t="lessons.number"></span><select data-part="number">${QUANTITY_NAMES.map(
        (name) => `<option value="${name}"></option>`,
      ).join('')}</select></label>
      <label class="field short"><span data-t="lessons.place"></span><input type="text" data-part="place" size="6" placeholder="0"></label>
    </div>
    <div data-for="value">
      <label class="field short"><span data-t="lessons.ownNumber"></span><input type="text" inputmode="decimal" data-part="value" size="10"></label>
      <label class="field short"><span data-t="lessons.ownOff"></span><input type="text" inputmode="decimal" data-part="off" size="10"></label>
    </div>
    <div data-for="text">
      <label class="field"><span data-t="lessons.ownTexts"></span><textarea rows="2" data-part="answers"></textarea></label>
      <p class="hint" data-t="lessons.textRule"></p>
    </div>
    <div data-for="choice">
      <label class="field"><span data-t="lessons.choicesLines"></span><textarea rows="3" data-part="choices"></textarea></label>
      <label class="field short"><span data-t="lessons.rightLine"></span><input type="number" data-part="right" min="1" max="8" value="1"></label>
    </div>
    <p class="hint incomplete" role="status"></p>
    <p class="lesson-tools"><button type="button" class="button" data-part="remove" data-t="lessons.remove"></button></p>
  </fieldset>`;

function kindOf({ choices, number, value, answers }: Exercise): Kind {
  if (choices) return 'choice';
  if (number !== undefined) return 'number';
  if (value !== undefined) return 'value';
  return answers ? 'text' : 'open';
}

/** An exercise in the editor. */
export class ExerciseForm {
  readonly element = document.createElement('li');
  onRemove: () => void = () => undefined;
  /** How far an answer may be off, which the editor leaves as it was. */
  readonly #within: number | undefined;

  constructor(exercise: Exercise) {
    const { text, number, within, choices, right, value, off, answers } = exercise;
    this.element.innerHTML = HTML;
    this.#within = within;
    const [name = '', place = ''] = (number ?? '').split(':');
    this.#put('text', text);
    this.#put('kind', kindOf(exercise));
    this.#put('value', value === undefined ? '' : String(value));
    this.#put('off', off === undefined ? '' : String(off));
    this.#put('answers', (answers ?? []).join('\n'));
    if (name !== '') this.#put('number', name);
    this.#put('place', place);
    this.#put('choices', (choices ?? []).join('\n'));
    this.#put('right', String((right ?? 0) + 1));
    for (const event of ['input', 'change'])
      this.element.addEventListener(event, () => this.#fold());
    find(this.element, '[data-part=remove]', HTMLElement).addEventListener('click', () =>
      this.onRemove(),
    );
    this.#fold();
  }

  #part(name: string): HTMLInputElement {
    // Boxes, lists and areas alike have a value.
    return this.element.querySelector(`[data-part=${name}]`) as HTMLInputElement;
  }

  #put(name: string, value: string): void {
    this.#part(name).value = value;
  }

  /** Only what this kind of answer needs. */
  #fold(): void {
    const kind = this.#part('kind').value;
    for (const part of this.element.querySelectorAll<HTMLElement>('[data-for]')) {
      part.hidden = part.dataset['for'] !== kind;
    }
    // Of an own number that is none the question would silently become an open one.
    const isMissing = kind === 'value' && this.#numbers().value === undefined;
    setText(
      find(this.element, '.incomplete', HTMLElement),
      isMissing && this.#part('value').value !== '' ? t('lessons.ownNoNumber') : '',
    );
  }

  /** The author's own number, and how far an answer may be off. */
  #numbers(): Pick<Exercise, 'value' | 'off'> {
    const [value] = readAnswer(this.#part('value').value);
    const [off] = readAnswer(this.#part('off').value);
    if (value === undefined) return {};
    return { value, ...(off === undefined || off < 0 ? {} : { off }) };
  }

  #lines(name: string): string[] {
    return this.#part(name)
      .value.split('\n')
      .filter((line) => line.trim() !== '');
  }

  draw(): void {
    translate(this.element);
    for (const option of this.element.querySelectorAll('option')) {
      const name = QUANTITY_NAMES.find((known) => known === option.value);
      if (name) option.textContent = t(`lessons.q.${name}` satisfies Key);
    }
  }

  get exercise(): Exercise {
    const text = this.#part('text').value;
    const kind = this.#part('kind').value;
    if (kind === 'number') {
      const place = this.#part('place').value.replace(/\s|，/g, (c) => (c === '，' ? ',' : ''));
      const number = this.#part('number').value + (place === '' ? '' : `:${place}`);
      return { text, number, ...(this.#within === undefined ? {} : { within: this.#within }) };
    }
    if (kind === 'value') return { text, ...this.#numbers() };
    if (kind === 'text') return { text, answers: this.#lines('answers') };
    if (kind === 'choice') {
      return {
        ...{ text, choices: this.#lines('choices') },
        right: Number(this.#part('right').value) - 1,
      };
    }
    return { text };
  }
}
