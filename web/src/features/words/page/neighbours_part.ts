import { html, nothing, type TemplateResult } from 'lit-html';
import formulas from '../formulas.json';
import { typedText, withValue } from '../../../ui/lit/controls';
import { stage } from '../../../ui/lit/plots';
import { formula } from '../../../ui/lit/texts';
import { whole } from '../../../ui/numbers';
import type { View } from '../../panel';
import { glossed } from '../shared/glosses';
import { ngramsOf, relativesOf } from '../shared/ngrams';
import { cosineOf, neighboursOf } from '../shared/similarity';
import { plainWord, vectorOf, type WordTable } from '../shared/word_table';
import { shownWords } from './shown_words';
import { LONGEST_WORD, typed } from '../state';
import { drawVectors, VECTOR_LINE } from './drawings';
import { englishWord, entryOf, three, WordsPart } from './words_part';
import { CARD } from './word_source';
import { t } from '../feature';

const NEIGHBOURS = 8;
const RELATIVES = 6;

/** A word that the reader types: its numbers, its neighbours, and what is to be done where it has none. */
export class NeighboursPart extends WordsPart {
  protected inputs({ state, look }: View): readonly unknown[] {
    const { near, other } = shownWords(state);
    return [this.table, near, other, look];
  }

  protected render({ state }: View): TemplateResult {
    const { near, other } = shownWords(state);
    const { table } = this;
    if (!table) return html``;
    const known = table.rowOf.has(near);
    const count = whole(table.words.length);
    return html`
      <h3>${t('words.near.title')}</h3>
      <p class="words-text words-intro">${t('words.near.intro', { count, width: table.width })}</p>
      <div class="tools-row" data-control>
        ${this.#box('near', t('words.near.word'), near)}${this.#box('other', t('words.near.other'), other)}
      </div>
      ${near === '' ? html`<p class="hint words-none">${t('words.near.empty')}</p>` : nothing}
      ${known ? knownOf(table, [near, other], state.language) : nothing}
      ${known || near === '' ? nothing : unknownOf(table, near)}
      <p class="hint words-source">${sourceOf(count)}</p>`;
  }

  #box(name: 'near' | 'other', label: string, word: string): TemplateResult {
    const take = (value: string) =>
      this.change({ [name === 'near' ? 'wordsNear' : 'wordsOther']: typed(value) });
    return html`
      <div class="control"><label for="words-${name}">${label}</label>
        <input id="words-${name}" type="text" lang="en" autocomplete="off" autocapitalize="off" spellcheck="false"
          maxlength=${LONGEST_WORD} @input=${withValue(take)} ${typedText(word, plainWord)}></div>`;
  }
}

function sourceOf(count: string): string {
  const [source] = CARD.data;
  const { name, version } = { name: source?.name ?? '', version: source?.version ?? '' };
  const hash = CARD.file.sha256.slice(0, 16);
  return t('words.near.source', { name, version, count, all: whole(CARD.of), hash });
}

function knownOf(
  table: WordTable,
  [near, other]: readonly [string, string],
  language: string,
): TemplateResult {
  const count = whole(table.words.length);
  const cosine = cosineOf(table, near, other);
  const cosineText = (a: string, b: string) => three(cosineOf(table, a, b));
  const note = {
    ...{ a: 'hot', b: 'cold', value: cosineText('hot', 'cold') },
    ...{ money: cosineText('bank', 'money'), river: cosineText('bank', 'river') },
  };
  return html`<div class="words-known">
    ${vectorsOf(table, table.rowOf.has(other) && other !== near ? [near, other] : [near])}
    <div class="lab">
      <div class="lab-main">
        <h4 class="words-list-title">${t('words.near.list', { word: near, count })}</h4>
        <ol class="words-list">${neighboursOf(table, near, NEIGHBOURS).map((each) =>
          entryOf(englishWord(glossed(each.word, language)), each.cosine),
        )}</ol>
      </div>
      <div class="lab-side">
        <p class="words-cosine">${
          Number.isNaN(cosine)
            ? t('words.analogy.unknown', { words: other || '–' })
            : t('words.near.cosine', { a: near, b: other, value: three(cosine) })
        }</p>
        <div class="formula">${formula(formulas.cosine)}</div>
        <p class="words-text words-note">${t('words.near.note', note)}</p>
      </div>
    </div>
  </div>`;
}

function vectorsOf(table: WordTable, words: readonly string[]): TemplateResult {
  const vectors = words.map((word) => vectorOf(table, word));
  const all = vectors.flat();
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const { width } = table;
  return html`
    <p class="hint words-vector">${t('words.near.vector', { width, most: three(Math.max(-low, high)) })}</p>
    ${stage(
      'vectors',
      {
        height: words.length * VECTOR_LINE,
        label: t('words.near.vectorLabel', {
          ...{ width, words: words.join(', ') },
          ...{ low: three(low), high: three(high) },
        }),
        draw: (wide) => drawVectors('page', wide, words, vectors),
      },
      'en',
    )}`;
}

function unknownOf(table: WordTable, word: string): TemplateResult {
  const pieces = ngramsOf(word);
  const relatives = relativesOf(word, table.words, RELATIVES);
  const values = { word, count: whole(table.words.length) };
  return html`<div class="words-unknown">
    <p class="words-text words-unknown-text">${t('words.unknown', values)}</p>
    <p class="words-text words-unknown-pieces">${t('words.unknown.fasttext', { count: pieces.length })}</p>
    <p class="words-pieces" lang="en">${pieces.map((piece) => html`<span class="token">${piece}</span> `)}</p>
    <p class="words-text words-relatives-title">${t(relatives.length > 0 ? 'words.unknown.relatives' : 'words.unknown.none')}</p>
    <ul class="words-relatives">${relatives.map(
      ({ word: relative, share }) =>
        html`<li lang="en">${t('words.unknown.relative', { word: relative, share: three(share) })}</li>`,
    )}</ul>
  </div>`;
}
