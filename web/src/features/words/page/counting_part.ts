import formulas from '../formulas.json';
import { radiosHtml } from '../../../ui/controls';
import { setText } from '../../../ui/dom';
import { richOf } from '../../../i18n/i18n';
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
import { barOf, element, three, WordsPart } from './words_part';
import { t } from '../feature';

/** Rows of the table. */
const MOST_ROWS = 24;
/** The width of a number of a one-hot vector, in rem. */
const ONE_HOT_CELL = 0.45;

const nameOf = (document: number) => `D${document + 1}`;

/** Documents of the reader as one-hot vectors, bags of words and TF-IDF. */
export class CountingPart extends WordsPart {
  #bags: Bags | null = null;

  protected template(): string {
    return `
      <h3 data-t="words.count.title"></h3>
      <p class="words-text" data-t="words.count.intro"></p>
      <div class="control" data-control><label for="words-text"></label>
        <textarea id="words-text" rows="4" maxlength="${LONGEST_TEXT}" spellcheck="false"></textarea></div>
      <div class="tools-row" data-control>
        <fieldset class="segmented"><legend class="visually-hidden" data-t="words.count.cells"></legend>
          ${radiosHtml('words-cells', CELLS, (cells) => `words.cells.${cells}`)}</fieldset>
        <button type="button" class="button" data-press="reset" data-t="words.count.reset"></button>
      </div>
      <p class="words-empty" data-t="words.count.none"></p>
      <div class="words-counted lab">
        <div class="lab-main">
          <div class="words-scroll" role="region" tabindex="0" data-t-label="words.count.table">
            <table class="data-table words-counts"><thead></thead><tbody></tbody></table></div>
          <p class="hint words-more"></p>
          <p class="words-text" data-t="words.count.limit"></p>
        </div>
        <div class="lab-side">
          <div class="control" data-control><label for="words-term" data-t="words.count.term"></label>
            <select id="words-term"></select></div>
          <div class="formula">${formulas.tfidf}</div>
          <p class="hint" data-t="words.count.where"></p>
          <ul class="words-lines"></ul>
          <p class="words-rare"></p>
          <h4 data-t="words.count.likeness"></h4>
          <table class="data-table words-likeness" data-t-label="words.count.likenessTable"><thead></thead><tbody></tbody></table>
          <p class="words-closest"></p>
        </div>
      </div>`;
  }

  protected override ready(): void {
    const box = this.find('#words-text', HTMLTextAreaElement);
    box.addEventListener('input', () => this.change({ wordsText: typed(box.value) }));
    this.find('[data-press=reset]', HTMLElement).addEventListener('click', () =>
      this.change({ wordsText: null, wordsTerm: null }),
    );
    const term = this.find('#words-term', HTMLSelectElement);
    term.addEventListener('change', () => this.change({ wordsTerm: term.value }));
    this.addEventListener('change', ({ target }) => {
      if (!(target instanceof HTMLInputElement) || target.name !== 'words-cells') return;
      this.change({ wordsCells: CELLS.find((cells) => cells === target.value) ?? null });
    });
  }

  update({ state, look }: View): void {
    const { text, cells, term } = shownWords(state);
    const box = this.find('#words-text', HTMLTextAreaElement);
    if (document.activeElement !== box || state.wordsText === null) {
      if (box.value !== text) box.value = text;
    }
    this.setText('label[for=words-text]', t('words.count.documents', { most: MOST_DOCUMENTS }));
    for (const radio of this.querySelectorAll<HTMLInputElement>('[name=words-cells]')) {
      radio.checked = radio.value === cells;
    }
    if (!this.changed(text, cells, term, look)) return;
    const bags = bagsOf(text);
    this.#bags = bags;
    const none = bags.vocabulary.length === 0;
    this.find('.words-empty', HTMLElement).hidden = !none;
    this.find('.words-counted', HTMLElement).hidden = none;
    if (none) return;
    this.#table(bags, cells);
    this.#work(bags, termOf(bags, term));
    this.#compare(bags, cells);
  }

  /** The documents that are counted; null before the first. */
  get bags(): Bags | null {
    return this.#bags;
  }

  #table(bags: Bags, cells: Cells): void {
    const columns = bags.documents.map((text, i) => headCell(nameOf(i), text));
    const heads = (['df', 'idf', 'onehot'] as const).map((name) => {
      const cell = element('th', '', ...richOf(`words.count.${name}`));
      cell.scope = 'col';
      return cell;
    });
    this.find('.words-counts thead', HTMLElement).replaceChildren(
      element('tr', '', headCell(t('words.count.word')), ...columns, ...heads),
    );
    const rows = bags.vocabulary.slice(0, MOST_ROWS);
    const values = rows.map((_, i) => bags.documents.map((_text, d) => cellOf(bags, cells, i, d)));
    const most = Math.max(...values.flat(), Number.MIN_VALUE);
    this.find('.words-counts tbody', HTMLElement).replaceChildren(
      ...rows.map((word, i) =>
        element(
          'tr',
          '',
          rowHead(word),
          ...(values[i] ?? []).map((value) => valueCell(value, value / most, cells)),
          element('td', '', String(bags.documentFrequency[i])),
          element('td', '', three(bags.idf[i] ?? NaN)),
          oneHotCell(i, bags.vocabulary.length),
        ),
      ),
    );
    const all = bags.vocabulary.length;
    const cut = rows.length < all ? t('words.count.more', { shown: rows.length, all }) : '';
    this.setText('.words-more', cut);
  }

  /** TF-IDF of one word in every document, step by step. */
  #work(bags: Bags, at: number): void {
    const options = bags.vocabulary.map((word) => new Option(word, word));
    const select = this.find('#words-term', HTMLSelectElement);
    const same = bags.vocabulary.join() === Array.from(select.options, (o) => o.value).join();
    if (!same) select.replaceChildren(...options);
    select.selectedIndex = at;
    const [term, frequency, idf] = [
      bags.vocabulary[at] ?? '',
      bags.documentFrequency[at] ?? 0,
      bags.idf[at] ?? 0,
    ];
    const all = bags.documents.length;
    const lines = bags.documents.map((_, document) => {
      const count = bags.counts[at]?.[document] ?? 0;
      const length = bags.lengths[document] ?? 0;
      return element(
        'li',
        '',
        t('words.count.line', {
          ...{ document: document + 1, count, length, all, frequency, idf: three(idf) },
          tf: three(cellOf(bags, 'tf', at, document)),
          value: three(cellOf(bags, 'tfidf', at, document)),
        }),
      );
    });
    this.find('.words-lines', HTMLElement).replaceChildren(...lines);
    const key = frequency === all ? 'words.count.everywhere' : 'words.count.rare';
    this.find('.words-rare', HTMLElement).replaceChildren(...richOf(key, { term, frequency, all }));
  }

  #compare(bags: Bags, cells: Cells): void {
    const cosines = likeness(bags, cells);
    const names = bags.documents.map((text, i) => headCell(nameOf(i), text));
    this.find('.words-likeness thead', HTMLElement).replaceChildren(
      element('tr', '', element('td', ''), ...names),
    );
    this.find('.words-likeness tbody', HTMLElement).replaceChildren(
      ...cosines.map((row, i) =>
        element('tr', '', rowHead(nameOf(i)), ...row.map((value) => valueCell(value, value, 'tf'))),
      ),
    );
    const closest = closestPair(cosines);
    const [a, b] = closest?.pair ?? [0, 0];
    setText(
      this.find('.words-closest', HTMLElement),
      closest ? t('words.count.closest', { a: a + 1, b: b + 1, value: three(closest.cosine) }) : '',
    );
  }
}

function headCell(name: string, title = ''): HTMLTableCellElement {
  const cell = element('th', '', name);
  cell.scope = 'col';
  if (title) cell.title = title;
  return cell;
}

function rowHead(name: string): HTMLTableCellElement {
  const cell = element('th', 'token', name);
  cell.scope = 'row';
  return cell;
}

const valueCell = (value: number, share: number, cells: Cells) =>
  element('td', '', cells === 'counts' ? String(value) : three(value), barOf(share));

/** As wide as the vocabulary, and filled where the word has its 1. */
function oneHotCell(at: number, size: number): HTMLTableCellElement {
  const filled = element('i', '');
  filled.style.left = `${(100 * at) / size}%`;
  filled.style.width = `${100 / size}%`;
  const strip = element('span', 'words-onehot', filled);
  strip.style.width = `${size * ONE_HOT_CELL}rem`;
  strip.setAttribute('role', 'img');
  strip.setAttribute('aria-label', `${at + 1} / ${size}`);
  return element('td', '', strip);
}
