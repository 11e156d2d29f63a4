import { headCount, shownHead } from '../../../domain/sources';
import { richNodes } from '../../../i18n/markup';
import { find } from '../../../ui/dom';
import { headName } from '../../head_names';
import { drawSplit, splitWords, widthsOf } from './split';
import { Panel, type View } from '../../panel';
import { t } from '../texts';

/** Of a model with more heads the first are listed. */
const MOST = 16;

/** What each head does with the same sentence, in two numbers; a head is chosen here, too. */
export class HeadsPicture extends Panel {
  #key = '';

  protected template(): string {
    return `
      <table class="data-table picture-heads">
        <thead><tr><th scope="col" data-t="controls.head"></th><th scope="col" data-t="pictures.distance"></th><th scope="col" data-t="pictures.spread"></th></tr></thead>
        <tbody></tbody>
      </table>
      <div class="picture-split"></div>
      <p class="hint split-words"></p>`;
  }

  protected override ready(): void {
    this.addEventListener('click', ({ target }) => {
      const head = target instanceof HTMLElement ? target.dataset['head'] : undefined;
      if (head !== undefined) this.change({ head: Number(head) });
    });
  }

  update(view: View): void {
    this.#showSplit(view);
    const { state, heads, report, look, list } = view;
    if (!this.changed(heads.source, heads.trainedHeads, report, look, list, state.head)) return;
    const count = Math.min(MOST, headCount(heads));
    const key = [heads.source, count, look].join();
    const body = this.find('tbody', HTMLElement);
    if (key !== this.#key) {
      this.#key = key;
      body.innerHTML = Array.from({ length: count }, (_, head) => {
        return `<tr><th scope="row"><button type="button" class="button" data-head="${head}"></button></th>${'<td><span class="bar"><i></i></span><span class="picture-number"></span></td>'.repeat(2)}</tr>`;
      }).join('');
    }
    const longest = Math.log(Math.max(2, list.tokens.length));
    body.querySelectorAll('tr').forEach((row, head) => {
      const button = find(row, 'button', HTMLElement);
      button.textContent = headName(heads, head);
      button.setAttribute('aria-pressed', String(head === shownHead(state.head, heads)));
      const numbers = list.tokens.length > 0 ? report?.heads[head] : undefined;
      const shares = [
        [numbers?.distance, Math.max(1, list.tokens.length - 1) / 2],
        [numbers?.entropy, longest],
      ] as const;
      row.querySelectorAll('td').forEach((cell, i) => {
        const [value, most] = shares[i] ?? [undefined, 1];
        find(cell, 'i', HTMLElement).style.width = `${Math.min(1, (value ?? 0) / most) * 100}%`;
        find(cell, '.picture-number', HTMLElement).textContent =
          value === undefined ? '' : value.toFixed(2);
      });
    });
    this.querySelector('table')?.setAttribute('aria-label', t('pictures.heads'));
  }

  /** How the numbers of a token are shared out among the heads. */
  #showSplit(view: View): void {
    const widths = widthsOf(view);
    const chosen = shownHead(view.state.head, view.heads) % (widths?.heads ?? 1); // of a trained model, its place in its layer
    const key = widths ? [widths.dModel, widths.heads, widths.dK, chosen, view.look].join() : '';
    const picture = this.find('.picture-split', HTMLElement);
    if (picture.dataset['of'] === key) return;
    picture.dataset['of'] = key;
    picture.innerHTML = widths ? drawSplit(widths, chosen) : '';
    this.find('.split-words', HTMLElement).replaceChildren(
      ...(widths ? richNodes(splitWords(widths)) : []),
    );
  }
}
