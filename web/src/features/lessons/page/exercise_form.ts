import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { options, withValue } from '../../../ui/lit/controls';
import type { Exercise } from './lesson';
import { readAnswer } from './parse_answer';
import { QUANTITY_NAMES } from './quantities';
import { t, type Key } from '../texts';

const KINDS = ['open', 'number', 'value', 'text', 'choice'] as const;
type Kind = (typeof KINDS)[number];

type Box = 'text' | 'kind' | 'number' | 'place' | 'value' | 'off' | 'answers' | 'choices' | 'right';

/** What stands in the boxes of a question, also in those of other kinds of answers than the one that is chosen. */
export interface ExerciseBoxes extends Record<Box, string> {
  /** How far an answer may be off, which the editor leaves as it was. */
  readonly within: number | undefined;
}

function kindOf({ choices, number, value, answers }: Exercise): Kind {
  if (choices) return 'choice';
  if (number !== undefined) return 'number';
  if (value !== undefined) return 'value';
  return answers ? 'text' : 'open';
}

export function exerciseBoxes(exercise: Exercise): ExerciseBoxes {
  const { text, number, within, choices = [], right = 0, value, off, answers = [] } = exercise;
  const [name, place = ''] = (number ?? '').split(':');
  return {
    ...{ text, place, within, kind: kindOf(exercise) },
    number: name || (QUANTITY_NAMES[0] ?? ''),
    value: value === undefined ? '' : String(value),
    off: off === undefined ? '' : String(off),
    answers: answers.join('\n'),
    choices: choices.join('\n'),
    right: String(right + 1),
  };
}

/** The author's own number, and how far an answer may be off. */
function numbersOf(boxes: ExerciseBoxes): Pick<Exercise, 'value' | 'off'> {
  const [value] = readAnswer(boxes.value);
  const [off] = readAnswer(boxes.off);
  if (value === undefined) return {};
  return { value, ...(off === undefined || off < 0 ? {} : { off }) };
}

const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

export function exerciseOf(boxes: ExerciseBoxes): Exercise {
  const { text, kind, within, answers, choices, right } = boxes;
  if (kind === 'number') {
    const place = boxes.place.replace(/\s|，/g, (c) => (c === '，' ? ',' : ''));
    const number = boxes.number + (place === '' ? '' : `:${place}`);
    return { text, number, ...(within === undefined ? {} : { within }) };
  }
  if (kind === 'value') return { text, ...numbersOf(boxes) };
  if (kind === 'text') return { text, answers: linesOf(answers) };
  if (kind === 'choice') return { text, choices: linesOf(choices), right: Number(right) - 1 };
  return { text };
}

/** A question in the editor. */
export function exerciseForm(
  boxes: ExerciseBoxes,
  changed: () => void,
  remove: () => void,
): TemplateResult {
  const put = (name: Box) =>
    withValue((value) => {
      boxes[name] = value;
      changed();
    });
  const area = (name: Box, words: Key, rows: number) => html`
    <label class="field"><span>${t(words)}</span><textarea rows=${rows} data-part=${name} .value=${live(boxes[name])} @input=${put(name)}></textarea></label>`;
  const decimal = (name: Box, words: Key) => html`
    <label class="field short"><span>${t(words)}</span><input type="text" inputmode="decimal" data-part=${name} size="10" .value=${live(boxes[name])} @input=${put(name)}></label>`;
  /** Only what this kind of answer needs is seen. */
  const only = (kind: Kind, ...fields: readonly TemplateResult[]) =>
    html`<div data-for=${kind} ?hidden=${kind !== boxes.kind}>${fields}</div>`;
  const kinds = KINDS.map((kind) => [kind, t(`lessons.kind.${kind}`)] as const);
  const quantities = QUANTITY_NAMES.map((name) => [name, t(`lessons.q.${name}`)] as const);
  // Of an own number that is none the question would silently become an open one.
  const isNone =
    boxes.kind === 'value' && boxes.value !== '' && numbersOf(boxes).value === undefined;
  return html`<li><fieldset class="editor-exercise">
    <legend>${t('lessons.exercise')}</legend>
    ${area('text', 'lessons.exerciseText', 2)}
    <label class="field short"><span>${t('lessons.answerKind')}</span><select data-part="kind" @change=${put('kind')}>${options(kinds, boxes.kind)}</select></label>
    ${only(
      'number',
      html`<label class="field"><span>${t('lessons.number')}</span><select data-part="number" @change=${put('number')}>${options(quantities, boxes.number)}</select></label>
      <label class="field short"><span>${t('lessons.place')}</span><input type="text" data-part="place" size="6" placeholder="0" .value=${live(boxes.place)} @input=${put('place')}></label>`,
    )}
    ${only('value', decimal('value', 'lessons.ownNumber'), decimal('off', 'lessons.ownOff'))}
    ${only('text', area('answers', 'lessons.ownTexts', 2), html`<p class="hint">${t('lessons.textRule')}</p>`)}
    ${only(
      'choice',
      area('choices', 'lessons.choicesLines', 3),
      html`<label class="field short"><span>${t('lessons.rightLine')}</span><input type="number" data-part="right" min="1" max="8" .value=${live(boxes.right)} @input=${put('right')}></label>`,
    )}
    <p class="hint incomplete" role="status">${isNone ? t('lessons.ownNoNumber') : ''}</p>
    <p class="lesson-tools"><button type="button" class="button" data-part="remove" @click=${remove}>${t('lessons.remove')}</button></p>
  </fieldset></li>`;
}
