import { html, nothing, type TemplateResult } from 'lit-html';
import formulas from '../formulas.json';
import { options, radios, typedText, withValue } from '../../../ui/lit/controls';
import { formula, rich, type Content } from '../../../ui/lit/texts';
import type { View } from '../../panel';
import {
  bagsOf,
  cellOf,
  closestPair,
  likeness,
  MOST_DOCUMENTS,
  termOf,
  type Bags,
} from '../shared/counts';
import { shownWords } from './shown_words';
import { LONGEST_TEXT, typed } from '../state';
import { CELLS, type Cells } from '../shared/cells';
import { barOf, three, WordsPart } from './words_part';
import { t } from '../feature';

/** Rows of the table. */
const MOST_ROWS = 24;
/** The width of a number of a one-hot vector, in rem. */
const ONE_HOT_CELL = 0.45;

const nameOf = (document: number) => `D${document + 1}`;

/** Documents of the reader as one-hot vectors, bags of words and TF-IDF. */
export class CountingPart extends WordsPart {
  #bags: Bags | null = null;

  /** The documents that are counted; null before the first. */
  get bags(): Bags | null {
    return this.#bags;
  }

  protected inputs({ state, look }: View): readonly unknown[] {
    const { text, cells, term } = shownWords(state);
    return [text, state.wordsText === null, cells, term, look];
  }

  protected render({ state }: View): TemplateResult {
    const { text, cells, term } = shownWords(state);
    const bags = bagsOf(text);
    this.#bags = bags;
    const take = (value: string) => this.change({ wordsText: typed(value) });
    return html`
      <h3>${t('words.count.title')}</h3>
      <p class="words-text">${t('words.count.intro')}</p>
      <div class="control" data-control><label for="words-text">${t('words.count.documents', { most: MOST_DOCUMENTS })}</label>
        <textarea id="words-text" rows="4" maxlength=${LONGEST_TEXT} spellcheck="false" @input=${withValue(take)}
          ${typedText(text, (each) => each, state.wordsText === null)}></textarea></div>
      <div class="tools-row" data-control>
        <fieldset class="segmented"><legend class="visually-hidden">${t('words.count.cells')}</legend>
          ${radios(
            'words-cells',
            CELLS.map((each) => [each, t(`words.cells.${each}`)] as const),
            cells,
            (wordsCells) => this.change({ wordsCells }),
          )}</fieldset>
        <button type="button" class="button" data-press="reset" @click=${() =>
          this.change({ wordsText: null, wordsTerm: null })}>${t('words.count.reset')}</button>
      </div>
      <p class="hint words-cut" ?hidden=${bags.found <= MOST_DOCUMENTS}>${t('words.count.cut', { most: MOST_DOCUMENTS })}</p>
      ${
        bags.vocabulary.length === 0
          ? html`<p class="words-empty">${t('words.count.none')}</p>`
          : this.#counted(bags, cells, termOf(bags, term))
      }`;
  }

  #counted(bags: Bags, cells: Cells, at: number): TemplateResult {
    const { vocabulary } = bags;
    const shown = Math.min(MOST_ROWS, vocabulary.length);
    const more = { shown, all: vocabulary.length };
    return html`<div class="words-counted lab">
      <div class="lab-main">
        <div class="words-scroll" role="region" tabindex="0" aria-label=${t('words.count.table')}>${countsTable(bags, cells)}</div>
        <p class="hint words-more">${shown < vocabulary.length ? t('words.count.more', more) : ''}</p>
        <p class="words-text">${t('words.count.limit')}</p>
      </div>
      <div class="lab-side">
        <div class="control" data-control><label for="words-term">${t('words.count.term')}</label>
          <select id="words-term" @change=${withValue((wordsTerm) => this.change({ wordsTerm }))}>${options(
            vocabulary.map((word) => [word, word] as const),
            vocabulary[at] ?? '',
          )}</select></div>
        <div class="formula">${formula(formulas.tfidf)}</div>
        <p class="hint">${rich('words.count.where')}</p>
        ${workedTerm(bags, at)}
        <h4>${t('words.count.likeness')}</h4>
        ${likenessTable(likeness(bags, cells), bags.documents)}
      </div>
    </div>`;
  }
}

const headCell = (name: Content, title?: string) =>
  html`<th scope="col" title=${title || nothing}>${name}</th>`;
const rowHead = (name: string) => html`<th class="token" scope="row">${name}</th>`;
const valueCell = (value: number, share: number, cells: Cells) =>
  html`<td>${cells === 'counts' ? value : three(value)}${barOf(share)}</td>`;

function countsTable(bags: Bags, cells: Cells): TemplateResult {
  const rows = bags.vocabulary.slice(0, MOST_ROWS);
  const values = rows.map((_, i) => bags.documents.map((_text, d) => cellOf(bags, cells, i, d)));
  const most = Math.max(...values.flat(), Number.MIN_VALUE);
  const row = (word: string, i: number) => html`<tr>${rowHead(word)}
    ${values[i]?.map((value) => valueCell(value, value / most, cells))}
    <td>${bags.documentFrequency[i]}</td><td>${three(bags.idf[i] ?? NaN)}</td>${oneHotCell(i, bags.vocabulary.length)}</tr>`;
  return html`<table class="data-table words-counts">
    <thead><tr>${headCell(t('words.count.word'))}${bags.documents.map((text, i) => headCell(nameOf(i), text))}
      ${(['df', 'idf', 'onehot'] as const).map((name) => headCell(rich(`words.count.${name}`)))}</tr></thead>
    <tbody>${rows.map(row)}</tbody></table>`;
}

/** TF-IDF of one word in every document, step by step. */
function workedTerm(bags: Bags, at: number): TemplateResult {
  const [term, idf] = [bags.vocabulary[at] ?? '', bags.idf[at] ?? 0];
  const frequency = bags.documentFrequency[at] ?? 0;
  const all = bags.documents.length;
  const line = (document: number) =>
    t('words.count.line', {
      ...{ document: document + 1, all, frequency, idf: three(idf) },
      ...{ count: bags.counts[at]?.[document] ?? 0, length: bags.lengths[document] ?? 0 },
      tf: three(cellOf(bags, 'tf', at, document)),
      value: three(cellOf(bags, 'tfidf', at, document)),
    });
  const key = frequency === all ? 'words.count.everywhere' : 'words.count.rare';
  return html`
    <ul class="words-lines">${bags.documents.map((_, document) => html`<li>${line(document)}</li>`)}</ul>
    <p class="words-rare">${rich(key, { term, frequency, all })}</p>`;
}

function likenessTable(cosines: number[][], documents: readonly string[]): TemplateResult {
  const closest = closestPair(cosines);
  const [a, b] = closest?.pair ?? [0, 0];
  const row = (values: readonly number[], i: number) =>
    html`<tr>${rowHead(nameOf(i))}${values.map((value) => valueCell(value, value, 'tf'))}</tr>`;
  return html`
    <table class="data-table words-likeness" aria-label=${t('words.count.likenessTable')}>
      <thead><tr><td></td>${documents.map((text, i) => headCell(nameOf(i), text))}</tr></thead>
      <tbody>${cosines.map(row)}</tbody></table>
    <p class="words-closest">${
      closest ? t('words.count.closest', { a: a + 1, b: b + 1, value: three(closest.cosine) }) : ''
    }</p>`;
}

/** As wide as the vocabulary, and filled where the word has its 1. */
function oneHotCell(at: number, size: number): TemplateResult {
  const filled = `left: ${(100 * at) / size}%; width: ${100 / size}%`;
  return html`<td><span class="words-onehot" role="img" aria-label="${at + 1} / ${size}"
    .style=${`width: ${size * ONE_HOT_CELL}rem`}><i .style=${filled}></i></span></td>`;
}
