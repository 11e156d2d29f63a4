import './style.css';
import { html, type TemplateResult } from 'lit-html';
import { LIMITS } from '../../state/state';
import type { Figure } from '../../ui/export_figure';
import { slider } from '../../ui/lit/controls';
import { tableHead } from '../../ui/lit/tables';
import { four, percent } from '../../ui/numbers';
import { LitPanel } from '../lit_panel';
import { isCurrent, type View } from '../panel';
import { t } from './feature';
import { panelnameFigure } from './page/figure';
import { panelnameCountOf } from './state';
import type { PanelnameResult } from './worker/frame_feature';

/** How much of its weight the query gives to a few keys. */
class PanelnamePanel extends LitPanel {
  protected inputs(view: View): readonly unknown[] {
    return [view.state.panelnameCount, resultOf(view), view.list, view.look];
  }

  protected render(view: View): TemplateResult {
    const count = panelnameCountOf(view.state);
    const result = resultOf(view);
    return html`<div class="card">
      <div data-control>
        ${slider({
          ...{ id: 'panelname-count', label: t('panelname.count'), limits: LIMITS.panelnameCount },
          ...{ place: count, words: String(count) },
          take: (panelnameCount) => this.change({ panelnameCount }),
        })}
      </div>
      ${result ? keysOf(result, view.list.tokens) : html`<p>${t('panelname.empty')}</p>`}
    </div>`;
  }

  override figure(view: View): Promise<Figure | null> {
    const result = resultOf(view);
    return Promise.resolve(result && panelnameFigure(result, view.list.tokens));
  }
}

function keysOf(
  { keys, query, share }: PanelnameResult,
  tokens: readonly string[],
): TemplateResult {
  const values = { count: keys.length, query: tokens[query] ?? '', share: percent(share) };
  const row = ({ key, weight }: (typeof keys)[number]) =>
    html`<tr><th scope="row"><bdi>${tokens[key]}</bdi></th><td>${four(weight)}</td></tr>`;
  return html`
    <p class="panelname-share">${t('panelname.share', values)}</p>
    <table class="panelname-keys">
      <caption class="visually-hidden">${t('panelname.keys')}</caption>
      ${tableHead([t('panelname.key'), t('panelname.weight')])}
      <tbody>${keys.map(row)}</tbody>
    </table>`;
}

/** What the latest frame has of this panel, if it is about the tokens on the page. */
const resultOf = (view: View): PanelnameResult | null =>
  isCurrent(view) ? view.frame.panelname : null;

customElements.define('qkv-panel-panelname', PanelnamePanel);
