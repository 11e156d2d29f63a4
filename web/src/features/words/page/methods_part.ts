import { html, type TemplateResult } from 'lit-html';
import { formula, rich } from '../../../ui/lit/texts';
import formulas from '../formulas.json';
import type { View } from '../../panel';
import { piecesOf } from '../shared/ngrams';
import { shownWords } from './shown_words';
import { WordsPart } from './words_part';
import { t } from '../feature';

const METHODS = ['word2vec', 'glove', 'fasttext'] as const;
/** Of a longer word the pieces of its first letters are listed. */
const LETTERS = 12;

/** What word2vec, GloVe and FastText optimise. */
export class MethodsPart extends WordsPart {
  protected inputs({ state, look }: View): readonly unknown[] {
    return [shownWords(state).near, look];
  }

  protected render({ state }: View): TemplateResult {
    const { near } = shownWords(state);
    const word = Array.from(near || 'cat')
      .slice(0, LETTERS)
      .join('');
    const pieces = piecesOf(word);
    const values = { word, count: pieces.length, pieces: pieces.join(', ') };
    const article = (name: (typeof METHODS)[number]) => html`
      <article><div><h4>${t(`words.${name}.name`)}</h4>
          <div class="formula">${formula(formulas[name])}</div></div>
        <p>${rich(`words.${name}.text`)}</p></article>`;
    return html`
      <h3>${t('words.methods.title')}</h3>
      <p class="words-text">${t('words.methods.intro')}</p>
      <div class="words-methods">${METHODS.map(article)}</div>
      <p class="hint words-example">${t('words.fasttext.example', values)}</p>`;
  }
}
