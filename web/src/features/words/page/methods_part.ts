import formulas from '../formulas.json';
import type { View } from '../../panel';
import { ngramsOf } from '../shared/ngrams';
import { shownWords } from './shown_words';
import { WordsPart } from './words_part';
import { t } from '../feature';

const METHODS = ['word2vec', 'glove', 'fasttext'] as const;
const LETTERS = 12;

/** What word2vec, GloVe and FastText optimise. */
export class MethodsPart extends WordsPart {
  protected template(): string {
    const article = (name: (typeof METHODS)[number]) => `
      <article><div><h4 data-t="words.${name}.name"></h4>
          <div class="formula">${formulas[name]}</div></div>
        <p data-t="words.${name}.text"></p></article>`;
    return `
      <h3 data-t="words.methods.title"></h3>
      <p class="words-text" data-t="words.methods.intro"></p>
      <div class="words-methods">${METHODS.map(article).join('')}</div>
      <p class="hint words-example"></p>`;
  }

  update({ state, look }: View): void {
    const { near } = shownWords(state);
    const word = Array.from(near || 'cat')
      .slice(0, LETTERS)
      .join('');
    if (!this.changed(word, look)) return;
    const pieces = ngramsOf(word);
    const values = { word, count: pieces.length, pieces: pieces.join(', ') };
    this.setText('.words-example', t('words.fasttext.example', values));
  }
}
