import formulas from '../formulas.json';
import { PlotStage } from '../../../ui/plot_stage';
import { whole } from '../../../ui/numbers';
import type { View } from '../../panel';
import { glossed } from '../shared/glosses';
import { ngramsOf, relativesOf } from '../shared/ngrams';
import { cosineOf, neighboursOf } from '../shared/similarity';
import { plainWord, vectorOf, type WordTable } from '../shared/word_table';
import { shownWords } from './shown_words';
import { LONGEST_WORD, typed } from '../state';
import { drawVectors, VECTOR_LINE } from './drawings';
import { barOf, element, englishWord, three, WordsPart } from './words_part';
import { CARD } from './word_source';
import { t } from '../feature';

const NEIGHBOURS = 8;
const RELATIVES = 6;

const wordBox = (name: 'near' | 'other') => `
  <div class="control"><label for="words-${name}" data-t="words.near.${name === 'near' ? 'word' : 'other'}"></label>
    <input id="words-${name}" type="text" lang="en" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="${LONGEST_WORD}"></div>`;

/** A word that the reader types: its numbers, its neighbours, and what is to be done where it has none. */
export class NeighboursPart extends WordsPart {
  #stage: PlotStage | null = null;

  protected template(): string {
    return `
      <h3 data-t="words.near.title"></h3>
      <p class="words-text words-intro"></p>
      <div class="tools-row" data-control>${wordBox('near')}${wordBox('other')}</div>
      <p class="hint words-none" data-t="words.near.empty"></p>
      <div class="words-known">
        <p class="hint words-vector"></p>
        <div class="plot-stage" data-figure="vectors" lang="en"></div>
        <div class="lab">
          <div class="lab-main">
            <h4 class="words-list-title"></h4>
            <ol class="words-list"></ol>
          </div>
          <div class="lab-side">
            <p class="words-cosine"></p>
            <div class="formula">${formulas.cosine}</div>
            <p class="words-text words-note"></p>
          </div>
        </div>
      </div>
      <div class="words-unknown">
        <p class="words-text words-unknown-text"></p>
        <p class="words-text words-unknown-pieces"></p>
        <p class="words-pieces" lang="en"></p>
        <p class="words-text words-relatives-title"></p>
        <ul class="words-relatives"></ul>
      </div>
      <p class="hint words-source"></p>`;
  }

  protected override ready(): void {
    this.#stage = new PlotStage(this.find('[data-figure=vectors]', HTMLElement));
    for (const [name, field] of [
      ['near', 'wordsNear'],
      ['other', 'wordsOther'],
    ] as const) {
      const box = this.find(`#words-${name}`, HTMLInputElement);
      box.addEventListener('input', () => this.change({ [field]: typed(box.value) }));
    }
  }

  update({ state, look }: View): void {
    const { near, other } = shownWords(state);
    for (const [name, word] of [
      ['near', near],
      ['other', other],
    ] as const) {
      const box = this.find(`#words-${name}`, HTMLInputElement);
      if (document.activeElement !== box && plainWord(box.value) !== word) box.value = word;
    }
    const { table } = this;
    if (!table || !this.changed(table, near, other, look)) return;
    const known = table.rowOf.has(near);
    this.find('.words-none', HTMLElement).hidden = near !== '';
    this.find('.words-known', HTMLElement).hidden = !known;
    this.find('.words-unknown', HTMLElement).hidden = known || near === '';
    const count = whole(table.words.length);
    this.setText('.words-intro', t('words.near.intro', { count, width: table.width }));
    this.#source(count);
    if (known) this.#known(table, [near, other], state.language);
    else if (near !== '') this.#unknown(table, near);
  }

  #source(count: string): void {
    const [source] = CARD.data;
    const { name, version } = { name: source?.name ?? '', version: source?.version ?? '' };
    const hash = CARD.file.sha256.slice(0, 16);
    this.setText(
      '.words-source',
      t('words.near.source', { name, version, count, all: whole(CARD.of), hash }),
    );
  }

  #known(table: WordTable, [near, other]: readonly [string, string], language: string): void {
    const both = table.rowOf.has(other) && other !== near ? [near, other] : [near];
    const vectors = both.map((word) => vectorOf(table, word));
    const all = vectors.flat();
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const most = three(Math.max(-low, high));
    this.setText('.words-vector', t('words.near.vector', { width: table.width, most }));
    this.#stage?.show({
      height: both.length * VECTOR_LINE,
      label: t('words.near.vectorLabel', {
        ...{ width: table.width, words: both.join(', ') },
        ...{ low: three(low), high: three(high) },
      }),
      draw: (width) => drawVectors('page', width, both, vectors),
    });
    const value = cosineOf(table, near, other);
    this.setText(
      '.words-cosine',
      Number.isNaN(value)
        ? t('words.analogy.unknown', { words: other || '–' })
        : t('words.near.cosine', { a: near, b: other, value: three(value) }),
    );
    const count = whole(table.words.length);
    this.setText('.words-list-title', t('words.near.list', { word: near, count }));
    this.find('.words-list', HTMLElement).replaceChildren(
      ...neighboursOf(table, near, NEIGHBOURS).map(({ word, cosine }) =>
        element(
          'li',
          '',
          englishWord(glossed(word, language)),
          barOf(cosine),
          element('span', 'value', three(cosine)),
        ),
      ),
    );
    const cosineText = (a: string, b: string) => three(cosineOf(table, a, b));
    this.setText(
      '.words-note',
      t('words.near.note', {
        ...{ a: 'hot', b: 'cold', value: cosineText('hot', 'cold') },
        ...{ money: cosineText('bank', 'money'), river: cosineText('bank', 'river') },
      }),
    );
  }

  #unknown(table: WordTable, word: string): void {
    const pieces = ngramsOf(word);
    const count = whole(table.words.length);
    this.setText('.words-unknown-text', t('words.unknown', { word, count }));
    this.setText('.words-unknown-pieces', t('words.unknown.fasttext', { count: pieces.length }));
    this.find('.words-pieces', HTMLElement).replaceChildren(
      ...pieces.flatMap((piece) => [element('span', 'token', piece), ' ']),
    );
    const relatives = relativesOf(word, table.words, RELATIVES);
    const title = relatives.length > 0 ? 'words.unknown.relatives' : 'words.unknown.none';
    this.setText('.words-relatives-title', t(title));
    this.find('.words-relatives', HTMLElement).replaceChildren(
      ...relatives.map((relative) => {
        const item = element('li', '');
        item.lang = 'en';
        item.textContent = t('words.unknown.relative', {
          word: relative.word,
          share: three(relative.share),
        });
        return item;
      }),
    );
  }
}
