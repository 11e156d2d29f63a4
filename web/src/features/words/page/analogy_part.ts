import { html, nothing, type TemplateResult } from 'lit-html';
import formulas from '../formulas.json';
import { typedText } from '../../../ui/lit/controls';
import { tableHead } from '../../../ui/lit/tables';
import { formula } from '../../../ui/lit/texts';
import type { View } from '../../panel';
import { ANALOGIES, type Example } from '../shared/examples';
import { glossed } from '../shared/glosses';
import {
  answerOf,
  cosineOf,
  cosineOfSteps,
  type Answer,
  type Neighbour,
} from '../shared/similarity';
import type { WordTable } from '../shared/word_table';
import { analogyText, shownWords } from './shown_words';
import { LONGEST_WORD, typed } from '../state';
import { englishWord, entryOf, three, WordsPart } from './words_part';
import { t } from '../feature';

const NAMES = ['a', 'b', 'c'] as const;
const LISTED = 5;
const COLUMNS = ['column', 'expected', 'found', 'second', 'verdict'] as const;
const SIGNS = { a: '', b: '−', c: '+' } as const;

/** An example with what the vectors answer. */
export interface Judged extends Example {
  readonly answer: Answer;
}

const judged = new WeakMap<WordTable, readonly Judged[]>();

/** All examples with their answers, worked out once. */
export function judge(table: WordTable): readonly Judged[] {
  const known = judged.get(table);
  if (known) return known;
  const all = ANALOGIES.flatMap((example) => {
    const answer = answerOf(table, example.words, 2);
    return answer ? [{ ...example, answer }] : [];
  });
  judged.set(table, all);
  return all;
}

export const isRight = ({ answer, expected }: Judged): boolean =>
  answer.nearest[0]?.word === expected;

const form = ([a, b, c]: Example['words']) => t('words.analogy.form', { a, b, c });

/** Why an analogy fails, for a reader. */
const whyOf = (why: NonNullable<Example['why']>, table: WordTable): string =>
  t(`words.why.${why}`, {
    value: three(cosineOf(table, 'hot', 'cold')),
    step: three(cosineOfSteps(table, ['hot', 'cold'], ['big', 'small'])),
  });

/** a - b + c: of the reader, and of examples that succeed and fail. */
export class AnalogyPart extends WordsPart {
  /** The examples with their answers; none before the vectors are there. */
  get judged(): readonly Judged[] {
    return this.table ? judge(this.table) : [];
  }

  protected inputs({ state, look }: View): readonly unknown[] {
    return [this.table, analogyText(shownWords(state).analogy), look];
  }

  protected render({ state }: View): TemplateResult {
    const { table } = this;
    if (!table) return html``;
    const { analogy } = shownWords(state);
    const words = analogyText(analogy).split(' ') as [string, string, string];
    const answer = answerOf(table, words, LISTED);
    return html`<div class="words-analogy">
      <h3>${t('words.analogy.title')}</h3>
      <p class="words-text">${t('words.analogy.intro')}</p>
      <div class="tools-row" role="group" aria-label=${t('words.analogy.inputs')} data-control>
        ${NAMES.map((name, i) => this.#box(name, analogy[i] ?? ''))}
      </div>
      <p class="words-answer" role="status">${answerText(table, words, answer, state.language)}</p>
      <div class="lab">
        ${this.#examples(state.language)}
        <div class="lab-side">
          <div class="formula">${formula(formulas.analogy)}</div>
          <ol class="words-list">${answer?.nearest.map(({ word, cosine }) => entryOf(englishWord(glossed(word, state.language)), cosine))}</ol>
          <p class="hint words-too">${answer ? tooText(answer) : ''}</p>
          <ul class="words-why">${this.judged.map((example) => whyItem(example, table))}</ul>
        </div>
      </div>
    </div>`;
  }

  #box(name: (typeof NAMES)[number], word: string): TemplateResult {
    return html`
      <label class="words-term"><span aria-hidden="true">${SIGNS[name]}</span><span class="visually-hidden">${t(`words.analogy.${name}`)}</span>
        <input type="text" id="words-${name}" lang="en" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength=${LONGEST_WORD}
          @input=${() => this.change({ wordsAnalogy: typed(this.#words().join(' ')) })} ${typedText(word, (each) => each)}></label>`;
  }

  /** Of the link, so without a space in a word. */
  #words(): string[] {
    const valueOf = (name: string) => this.find(`#words-${name}`, HTMLInputElement).value;
    return NAMES.map((name) => valueOf(name).replace(/\s+/g, ''));
  }

  #examples(language: string): TemplateResult {
    const { judged: all } = this;
    const score = { right: all.filter(isRight).length, all: all.length };
    const press = ({ words }: Judged) => this.change({ wordsAnalogy: words.join(' ') });
    return html`<div class="lab-main">
      <div class="words-scroll" role="region" tabindex="0" aria-label=${t('words.analogy.table')}>
        <table class="data-table words-examples">
          ${tableHead(COLUMNS.map((name) => t(`words.analogy.${name}`)))}
          <tbody>${all.map((example) => exampleRow(example, language, () => press(example)))}</tbody>
        </table></div>
      <p class="words-text words-score">${t('words.analogy.score', score)}</p>
    </div>`;
  }
}

function answerText(
  table: WordTable,
  [a, b, c]: Example['words'],
  answer: Answer | null,
  language: string,
): string {
  const [first, second] = answer?.nearest ?? [];
  if (!first || !second) {
    const missing = [a, b, c].filter((word) => !table.rowOf.has(word)).map((word) => word || '–');
    return t('words.analogy.unknown', { words: missing.join(', ') });
  }
  return t('words.analogy.answer', {
    ...{ a, b, c, word: glossed(first.word, language), value: three(first.cosine) },
    ...{ second: glossed(second.word, language), secondValue: three(second.cosine) },
  });
}

const tooText = ({ withInputs: { word, cosine } }: Answer) =>
  t('words.analogy.inputToo', { word, value: three(cosine) });

const whyItem = (example: Judged, table: WordTable) =>
  example.why && !isRight(example)
    ? html`<li><b lang="en">${form(example.words)}</b> ${whyOf(example.why, table)}</li>`
    : nothing;

/** A row of the table: a button that puts its words into the boxes, and four cells. */
function exampleRow(example: Judged, language: string, press: () => void): TemplateResult {
  const nameOf = (found: Neighbour | undefined) =>
    found ? `${glossed(found.word, language)} ${three(found.cosine)}` : '';
  const [first, second] = example.answer.nearest;
  const right = isRight(example);
  const label = (column: number) => t(`words.analogy.${COLUMNS[column] ?? 'column'}`);
  return html`<tr class=${right ? nothing : 'words-failed'}>
    <th scope="row"><button type="button" class="button" lang="en" data-words=${example.words.join(' ')} @click=${press}>${form(example.words)}</button></th>
    <td lang="en" data-label=${label(1)}>${glossed(example.expected, language)}</td>
    <td lang="en" data-label=${label(2)}>${nameOf(first)}</td>
    <td lang="en" data-label=${label(3)}>${nameOf(second)}</td>
    <td data-label=${label(4)}>${t(right ? 'words.analogy.right' : 'words.analogy.wrong')}</td></tr>`;
}
