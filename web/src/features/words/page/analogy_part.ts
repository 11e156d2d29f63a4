import formulas from '../formulas.json';
import { find } from '../../../ui/dom';
import type { View } from '../../panel';
import { ANALOGIES, type Example } from '../shared/examples';
import { glossed } from '../shared/glosses';
import { answerOf, cosineOf, type Answer, type Neighbour } from '../shared/similarity';
import type { WordTable } from '../shared/word_table';
import { analogyText, shownWords } from './shown_words';
import { LONGEST_WORD, typed } from '../state';
import { barOf, element, englishWord, three, WordsPart } from './words_part';
import { t } from '../feature';

const NAMES = ['a', 'b', 'c'] as const;
const LISTED = 5;
const COLUMNS = ['column', 'expected', 'found', 'second', 'verdict'] as const;
const SIGNS = { a: '', b: '−', c: '+' } as const;

const boxHtml = (name: (typeof NAMES)[number]) => `
  <label class="words-term"><span aria-hidden="true">${SIGNS[name]}</span><span class="visually-hidden" data-t="words.analogy.${name}"></span>
    <input type="text" id="words-${name}" lang="en" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="${LONGEST_WORD}"></label>`;

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
  t(`words.why.${why}`, { value: three(cosineOf(table, 'hot', 'cold')) });

/** a - b + c: of the reader, and of examples that succeed and fail. */
export class AnalogyPart extends WordsPart {
  protected template(): string {
    return `
      <div class="words-analogy">
        <h3 data-t="words.analogy.title"></h3>
        <p class="words-text" data-t="words.analogy.intro"></p>
        <div class="tools-row" role="group" data-t-label="words.analogy.inputs" data-control>${NAMES.map(boxHtml).join('')}</div>
        <p class="words-answer" role="status"></p>
        <div class="lab">
          <div class="lab-main">
            <div class="words-scroll" role="region" tabindex="0" data-t-label="words.analogy.table">
              <table class="data-table words-examples"><thead><tr>
                ${COLUMNS.map((name) => `<th scope="col" data-t="words.analogy.${name}"></th>`).join('')}
              </tr></thead><tbody></tbody></table></div>
            <p class="words-text words-score"></p>
          </div>
          <div class="lab-side">
            <div class="formula">${formulas.analogy}</div>
            <ol class="words-list"></ol>
            <p class="hint words-too"></p>
            <ul class="words-why"></ul>
          </div>
        </div>
      </div>`;
  }

  protected override ready(): void {
    for (const name of NAMES) {
      this.#box(name).addEventListener('input', () =>
        this.change({ wordsAnalogy: typed(this.#words().join(' ')) }),
      );
    }
    this.find('.words-examples', HTMLElement).addEventListener('click', ({ target }) => {
      const button = target instanceof Element ? target.closest('button') : null;
      if (button) this.change({ wordsAnalogy: button.dataset['words'] ?? null });
    });
  }

  #box(name: (typeof NAMES)[number]): HTMLInputElement {
    return this.find(`#words-${name}`, HTMLInputElement);
  }

  /** Of the link, so without a space in a word. */
  #words(): string[] {
    return NAMES.map((name) => this.#box(name).value.replace(/\s+/g, ''));
  }

  /** The examples with their answers; none before the vectors are there. */
  get judged(): readonly Judged[] {
    return this.table ? judge(this.table) : [];
  }

  update({ state, look }: View): void {
    const { analogy } = shownWords(state);
    NAMES.forEach((name, i) => {
      const box = this.#box(name);
      const word = analogy[i] ?? '';
      if (document.activeElement !== box && box.value !== word) box.value = word;
    });
    const { table } = this;
    if (!table || !this.changed(table, analogyText(analogy), look)) return;
    const [a, b, c] = analogyText(analogy).split(' ') as [string, string, string];
    this.#answer(table, [a, b, c], state.language);
    this.#examples(table, state.language);
  }

  #answer(table: WordTable, [a, b, c]: Example['words'], language: string): void {
    const answer = answerOf(table, [a, b, c], LISTED);
    const list = this.find('.words-list', HTMLElement);
    list.replaceChildren(...(answer?.nearest ?? []).map((each) => listItem(each, language)));
    const [first, second] = answer?.nearest ?? [];
    if (!answer || !first || !second) {
      const missing = [a, b, c].filter((word) => !table.rowOf.has(word)).map((word) => word || '–');
      this.setText('.words-answer', t('words.analogy.unknown', { words: missing.join(', ') }));
      this.setText('.words-too', '');
      return;
    }
    this.setText(
      '.words-answer',
      t('words.analogy.answer', {
        ...{ a, b, c, word: glossed(first.word, language), value: three(first.cosine) },
        ...{ second: glossed(second.word, language), secondValue: three(second.cosine) },
      }),
    );
    const { word, cosine } = answer.withInputs;
    this.setText('.words-too', t('words.analogy.inputToo', { word, value: three(cosine) }));
  }

  #examples(table: WordTable, language: string): void {
    const body = this.find('.words-examples tbody', HTMLElement);
    const all = this.judged;
    if (body.childElementCount !== all.length) {
      body.replaceChildren(...all.map((example) => exampleRow(example)));
    }
    all.forEach((example, i) => tellRow(body.children[i] as HTMLElement, example, language));
    const right = all.filter(isRight).length;
    this.setText('.words-score', t('words.analogy.score', { right, all: all.length }));
    const failed = all.filter((example) => !isRight(example));
    this.find('.words-why', HTMLElement).replaceChildren(
      ...failed.flatMap(({ words, why }) => {
        if (!why) return [];
        const name = element('b', '', form(words));
        name.lang = 'en';
        return [element('li', '', name, ' ', whyOf(why, table))];
      }),
    );
  }
}

const listItem = ({ word, cosine }: Neighbour, language: string) =>
  element(
    'li',
    '',
    englishWord(glossed(word, language)),
    barOf(cosine),
    element('span', 'value', three(cosine)),
  );

/** A row of the table: a button that puts its words into the boxes, and four cells. */
function exampleRow({ words }: Judged): HTMLElement {
  const button = element('button', 'button', form(words));
  button.type = 'button';
  button.lang = 'en';
  button.dataset['words'] = words.join(' ');
  const head = element('th', '', button);
  head.scope = 'row';
  const cells = Array.from({ length: 4 }, () => element('td', ''));
  for (const cell of cells.slice(0, 3)) cell.lang = 'en';
  return element('tr', '', head, ...cells);
}

function tellRow(row: HTMLElement, example: Judged, language: string): void {
  const [first, second] = example.answer.nearest;
  const told = (found: Neighbour | undefined) =>
    found ? `${glossed(found.word, language)} ${three(found.cosine)}` : '';
  const right = isRight(example);
  const texts = [glossed(example.expected, language), told(first), told(second)];
  texts.push(t(right ? 'words.analogy.right' : 'words.analogy.wrong'));
  texts.forEach((text, i) => {
    const cell = find(row, `:nth-child(${i + 2})`, HTMLElement);
    cell.textContent = text;
    cell.dataset['label'] = t(`words.analogy.${COLUMNS[i + 1] ?? 'column'}`);
  });
  row.classList.toggle('words-failed', !right);
}
