import './style.css';
import { html, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import formulas from './formulas.json';
import { sentences } from '../../i18n/i18n';
import type { Figure } from '../../ui/export_figure';
import { formula, rich, type Content } from '../../ui/lit/texts';
import { digits, four } from '../../ui/numbers';
import { LitPanel } from '../lit_panel';
import { isCurrent, type View } from '../panel';
import { shareOf } from '../../ui/token_chip';
import { headName, provenance } from '../head_names';
import { barStyle, columns, reachOf } from './page/product_bars';
import type { PairNumbers, Share } from './worker/frame_feature';
import { pairFigure } from './page/figure';
import { t } from './feature';
import { madeStory } from './page/sentences';

/** Numbers, and the view that had them. */
interface Shown {
  readonly pair: PairNumbers;
  readonly view: View;
}

const pairOf = (view: View): PairNumbers | null => (isCurrent(view) ? view.frame.pair : null);

/** Query and key of the sentence on their way to a score, a weight and the output. */
class PairPanel extends LitPanel {
  /** The latest: it stays until there are numbers of the tokens on the page. */
  #shown: Shown | null = null;

  protected inputs(view: View): readonly unknown[] {
    const { frame, list, look, state } = view;
    return [pairOf(view), !frame?.pair, list, state.pairKey, look];
  }

  protected render(view: View): TemplateResult {
    const pair = pairOf(view);
    if (pair) this.#shown = { pair, view };
    const shown = this.#shown;
    const isEmpty = view.list.tokens.length === 0;
    const isWaiting = isEmpty || !view.frame?.pair;
    return html`<div class="card pair-card">
      <p class="hint pair-waiting" ?hidden=${!isWaiting}>${t(isEmpty ? 'pair.empty' : 'pair.loading')}</p>
      <div class="pair-parts" ?hidden=${isWaiting}>${shown && [this.#keys(shown, view.state.pairKey), scoreOf(shown), valueOf(shown)]}</div>
      <p class="hint pair-made">${shown && originOf(shown)}</p>
      <p class="hint check-note pair-check">${shown && checkOf(shown)}</p>
    </div>`;
  }

  /** The keys, and what each of them adds to the output; `wanted` is chosen even before its numbers are there. */
  #keys({ pair, view }: Shown, wanted: number | null): TemplateResult {
    const { shares, rest, output } = pair;
    const { tokens } = view.list;
    const parts = rest ? [...shares, rest] : shares;
    const drawn = [output, ...parts.map(({ part }) => part)];
    const most = Math.max(...drawn.flatMap((part) => Array.from(part, Math.abs)));
    const chosen = shares.some(({ key }) => key === wanted) ? wanted : pair.key;
    const row = ({ key, weight, part }: PairNumbers['shares'][number]) => {
      const token = tokens[key] ?? '';
      const name = t('pair.key', { position: key, token, weight: weight.toFixed(3) });
      return html`<label class="pair-row"><input type="radio" name="pair-key" value=${key} aria-label=${name}
        .checked=${live(key === chosen)} @change=${() => this.change({ pairKey: key })}>
        <bdi>${token}</bdi><b>${shareOf(weight, false)}</b>${pictureOf(part, most)}</label>`;
    };
    const sum = parts.reduce((total, { weight }) => total + weight, 0);
    return html`<div class="pair-keys">
      <h3 id="pair-keys">${t('pair.keys', { query: tokens[pair.query] ?? '' })}</h3>
      <div class="pair-list" role="radiogroup" aria-labelledby="pair-keys">${shares.map(row)}${rest && restRow(rest, most)}</div>
      <div class="pair-row pair-sum"><span></span><span>${t('pair.sum')}</span><b>${shareOf(sum, false)}</b>${pictureOf(output, most)}</div>
      <p class="hint">${rich('pair.keysNote')}</p>
      <button type="button" class="button pair-strongest" data-control ?hidden=${wanted === null} @click=${this.#chooseStrongest}>${t('pair.strongest')}</button>
    </div>`;
  }

  readonly #chooseStrongest = () => {
    this.change({ pairKey: null }); // which hides the button
    this.querySelector<HTMLElement>('.pair-list :checked')?.focus({ preventScroll: true });
  };

  override figure({ frame }: View): Promise<Figure | null> {
    const tokens = frame?.request.layer.tokens ?? []; // which may not be on the page any more
    return Promise.resolve(frame?.pair ? pairFigure(frame.pair, tokens) : null);
  }
}

/** All other keys together. */
const restRow = ({ keys, weight, part }: Share & { readonly keys: number }, most: number) =>
  html`<div class="pair-row pair-rest"><span></span><span class="rest-name">${t('pair.rest', { count: keys })}</span><b>${shareOf(weight, false)}</b>${pictureOf(part, most)}</div>`;

function pictureOf(values: ArrayLike<number>, most: number): TemplateResult {
  const { up, down } = columns(values, most);
  return html`<svg viewBox="0 0 ${values.length} 2" aria-hidden="true" preserveAspectRatio="none"><path d=${up} class="up"/><path d=${down} class="down"/></svg>`;
}

const wordsOf = ({ pair: { query, key }, view: { list } }: Shown) => ({
  query: list.tokens[query] ?? '',
  key: list.tokens[key] ?? '',
});

function scoreOf(shown: Shown): TemplateResult {
  const { q, k, products, scale } = shown.pair;
  const isUsual = Math.abs(scale * Math.sqrt(q.length) - 1) < 1e-6;
  const heads = [head(role('q')), head(role('k')), head(t('pair.product'))];
  return html`<div class="pair-score">
    <h3>${rich('pair.scoreTitle', wordsOf(shown))}</h3>
    <div class="formula" ?hidden=${!isUsual}>${formula(formulas.score, { width: String(q.length) })}</div>
    ${tableOf('score', heads, [q, k, products])}
    ${stepsOf(shown.pair, isUsual)}
    <div class="formula">${formula(formulas.weight)}</div>
  </div>`;
}

/** From the sum of the products to the weight. */
function stepsOf(pair: PairNumbers, isUsual: boolean): TemplateResult {
  const { q, dot, scale, score, temperature, weight, allowed } = pair;
  const values = { width: q.length, scale: digits(scale, 4) };
  const steps = [
    ['dot', t('pair.dot'), dot],
    ['scale', t(isUsual ? 'pair.scale' : 'pair.ownScale', values), score],
    ['tempered', t('pair.tempered', { temperature }), score / temperature],
    ['softmax', t('pair.softmax', { count: allowed }), weight],
  ] as const;
  return html`<dl class="pair-steps">${steps.map(([step, name, value]) => html`<div><dt data-step=${step}>${name}</dt><dd>${four(value)}</dd></div>`)}</dl>`;
}

function valueOf(shown: Shown): TemplateResult {
  const { v, weight, output } = shown.pair;
  const heads = [
    head(role('v')),
    head(html`p·${role('v')}`),
    html`<th scope="col" class="role-o">${t('pair.output')}</th>`,
  ];
  return html`<div class="pair-value">
    <h3>${rich('pair.valueTitle', wordsOf(shown))}</h3>
    <div class="formula">${formula(formulas.output)}</div>
    ${tableOf('value', heads, [v, Array.from(v, (value) => weight * value), output])}
  </div>`;
}

const head = (content: Content) => html`<th scope="col">${content}</th>`;
const role = (name: 'q' | 'k' | 'v') => html`<span class="role role-${name}">${name}</span>`;

/** A row for each component; the numbers of the last column have bars. */
function tableOf(
  name: 'score' | 'value',
  heads: readonly TemplateResult[],
  [first, second, last]: readonly [ArrayLike<number>, ArrayLike<number>, ArrayLike<number>],
): TemplateResult {
  const reach = reachOf(last);
  const row = (value: number, c: number) => html`
    <tr><th scope="row">${c + 1}</th><td>${four(first[c] ?? NaN)}</td><td>${four(second[c] ?? NaN)}</td><td class="with-bar"><b>${four(value)}</b><span
      class="bar" aria-hidden="true"><i .style=${barStyle(value, reach)}></i></span></td></tr>`;
  return html`<table class="components" data-of=${name}><caption class="visually-hidden">${t(`pair.${name}Name`)}</caption>
    <thead><tr><th scope="col">c</th>${heads}</tr></thead>
    <tbody>${Array.from(last, row)}</tbody></table>`;
}

/** Which head it is, and what its components are. */
function originOf({ view: { state, heads, frame } }: Shown): string {
  const at = frame?.request.view.head ?? 0;
  const from = { head: headName(heads, at), source: provenance(state.source, state.seed) };
  return sentences(t('pair.from', from), madeStory(state, at));
}

/** What was computed by whom, and how far off it is. */
function checkOf({ pair: { sums, error }, view: { state } }: Shown): string {
  const numbers = { sum: sums.score, ...error };
  const written = Object.entries(numbers).map(([name, value]) => [name, digits(value, 2)]);
  // The others have no projections that could be computed again.
  const isProjected = state.source === 'constructed' || state.source === 'random';
  const check = isProjected ? 'pair.check' : 'pair.checkGiven';
  return t(check, Object.fromEntries(written) as Record<string, string>);
}

customElements.define('qkv-panel-pair', PairPanel);
