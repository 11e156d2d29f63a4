import { sentences } from '../../../i18n/i18n';
import { find } from '../../../ui/dom';
import { Panel, type View } from '../../panel';
import { t } from '../texts';

/** Of a longer sentence the first different words are drawn. */
const MOST = 8;

/** Each different word of the sentence as a one-hot vector, and the sum of all words: how often each is there. */
export class WordsPicture extends Panel {
  /** Where in the sentence each drawn word is first. */
  #places: readonly number[] = [];

  protected template(): string {
    return `
      <div class="picture-grid-box"><table class="picture-grid"><caption class="visually-hidden" data-t="pictures.onehot"></caption><tbody></tbody></table></div>
      <p class="hint picture-caption" role="status"></p>`;
  }

  protected override ready(): void {
    this.find('tbody', HTMLElement).addEventListener('click', ({ target }) => {
      const row = target instanceof Element ? target.closest('tr')?.rowIndex : undefined;
      const query = row === undefined ? undefined : this.#places[row];
      if (query !== undefined) this.change({ query });
    });
  }

  update({ list, query, look }: View): void {
    if (!this.changed(list, query, look)) return;
    // As for most tables of words: “The” and “the” are the same.
    const tokens = list.tokens.map((token) => token.toLowerCase());
    const counts = new Map<string, number>();
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
    const words = [...counts.keys()].slice(0, MOST);
    this.#places = words.map((word) => tokens.indexOf(word));
    const chosen = tokens[query];
    const rows = words.map((word) => {
      const row = rowOf(word, (column) => (words[column] === word ? 1 : 0), words.length);
      row.classList.toggle('picture-chosen', word === chosen);
      return row;
    });
    const sum = rowOf(
      t('pictures.sum'),
      (column) => counts.get(words[column] ?? '') ?? 0,
      words.length,
    );
    this.find('tbody', HTMLElement).replaceChildren(...rows, ...(words.length > 0 ? [sum] : []));
    const values = { word: chosen ?? words[0] ?? '', count: counts.size };
    const first = counts.size > MOST ? t('pictures.wordsFirst', { shown: MOST }) : '';
    const caption = sentences(t('pictures.words', values), first);
    this.setText('.picture-caption', words.length > 0 ? caption : '');
  }
}

/** A line of the table: a name and its numbers. */
function rowOf(
  name: string,
  number: (column: number) => number,
  columns: number,
): HTMLTableRowElement {
  const row = document.createElement('tr');
  const cells = Array.from({ length: columns }, (_, column) => {
    const value = number(column);
    return `<td${value > 0 ? ' class="picture-seen"' : ''}>${value}</td>`;
  });
  row.innerHTML = `<th scope="row"><bdi class="token"></bdi></th>${cells.join('')}`;
  find(row, 'bdi', HTMLElement).append(name);
  return row;
}
