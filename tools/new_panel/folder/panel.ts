import './style.css';
import { LIMITS } from '../../state/state';
import type { Figure } from '../../ui/export_figure';
import { four, percent } from '../../ui/numbers';
import { isCurrent, Panel, type View } from '../panel';
import { t } from './feature';
import { panelnameFigure } from './page/figure';
import { panelnameCountOf } from './state';
import type { PanelnameResult } from './worker/frame_feature';

/** How much of its weight the query gives to a few keys. */
class PanelnamePanel extends Panel {
  protected template(): string {
    const [least, most] = LIMITS.panelnameCount;
    return `
      <div class="card">
        <div class="control" data-control>
          <label for="panelname-count" data-t="panelname.count"></label>
          <div class="with-number">
            <input id="panelname-count" type="range" min="${least}" max="${most}" step="1">
            <output for="panelname-count"></output>
          </div>
        </div>
        <p class="panelname-share"></p>
        <table class="panelname-keys">
          <caption class="visually-hidden" data-t="panelname.keys"></caption>
          <thead><tr><th scope="col" data-t="panelname.key"></th><th scope="col" data-t="panelname.weight"></th></tr></thead>
          <tbody></tbody>
        </table>
      </div>`;
  }

  protected override ready(): void {
    const slider = this.find('#panelname-count', HTMLInputElement);
    slider.addEventListener('input', () => this.change({ panelnameCount: +slider.value }));
  }

  update(view: View): void {
    const { list, look, state } = view;
    const count = panelnameCountOf(state);
    this.find('#panelname-count', HTMLInputElement).value = String(count);
    this.setText('output', String(count));
    const result = resultOf(view);
    if (!this.changed(result, list, look)) return;
    this.find('.panelname-keys', HTMLElement).hidden = result === null;
    if (result) this.#showKeys(result, list.tokens);
    else this.setText('.panelname-share', t('panelname.empty'));
  }

  override figure(view: View): Promise<Figure | null> {
    const result = resultOf(view);
    return Promise.resolve(result && panelnameFigure(result, view.list.tokens));
  }

  #showKeys({ keys, query, share }: PanelnameResult, tokens: readonly string[]): void {
    const values = { count: keys.length, query: tokens[query] ?? '', share: percent(share) };
    this.setText('.panelname-share', t('panelname.share', values));
    const rows = keys.map(({ key, weight }) => {
      const row = document.createElement('tr');
      row.innerHTML = '<th scope="row"><bdi></bdi></th><td></td>';
      row.querySelector('bdi')?.append(tokens[key] ?? '');
      row.querySelector('td')?.append(four(weight));
      return row;
    });
    this.find('.panelname-keys tbody', HTMLElement).replaceChildren(...rows);
  }
}

/** What the latest frame has of this panel, if it is about the tokens on the page. */
const resultOf = (view: View): PanelnameResult | null =>
  isCurrent(view) ? view.frame.panelname : null;

customElements.define('qkv-panel-panelname', PanelnamePanel);
