import { html, nothing, type TemplateResult } from 'lit-html';
import formulas from '../formulas.json';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { tableHead, tableRow } from '../../../ui/lit/tables';
import { formula, type Content } from '../../../ui/lit/texts';
import { digits, whole, withUnit } from '../../../ui/numbers';
import {
  bytesOf,
  evenLength,
  generationFlops,
  pairsOf,
  parametersOf,
  passFlops,
  tokenFlops,
} from './operation_count';
import type { Shape } from '../shared/shape';
import { t } from '../feature';

export const FLOP_ROWS = ['projections', 'scores', 'values', 'feedForward', 'logits'] as const;
export const BYTE_ROWS = ['weights', 'cache', 'square', 'streaming'] as const;

/** The counts of a shape, with their formulas. */
export class CountsPart extends LitPanel {
  protected inputs({ state, look }: View): readonly unknown[] {
    return [state.costShape, look];
  }

  protected render({ state: { costShape: shape } }: View): TemplateResult {
    return html`
      <h3>${t('cost.work')}</h3>
      ${flopsTable(shape)}
      <p class="cost-half">${halfText(shape)}</p>
      <p class="cost-again">${againText(shape)}</p>
      <h3>${t('cost.memory')}</h3>
      ${bytesTable(shape)}
      <p class="cost-cache">${cacheText(shape)}</p>
      <p class="hint cost-letters">${lettersText(shape)}</p>`;
  }
}

/** The name with its formula: beside it, or below it where there is little room. */
const heading = (name: keyof typeof formulas) =>
  html`<span class="cost-name"><span>${t(`cost.${name}`)}</span><span>${formula(formulas[name])}</span></span>`;

function flopsTable(shape: Shape): TemplateResult {
  const [pass, one] = [passFlops(shape), tokenFlops(shape)];
  const tokens = whole(shape.tokens);
  const two = (name: keyof typeof pass, share: Content) =>
    html`<span class="cost-two"><span data-pass=${name}>${withUnit(pass[name], 'FLOP')}</span>${share}
      <span data-one=${name}>${withUnit(one[name], 'FLOP')}</span></span>`;
  const row = (name: (typeof FLOP_ROWS)[number]) => {
    const share = html`<span class="bar"><i data-share=${name} .style=${`width: ${(100 * pass[name]) / pass.total}%`}></i></span>`;
    return tableRow(heading(name), [two(name, share)]);
  };
  const heads = html`<span class="cost-two">
    <span class="pass-head">${t('cost.pass', { tokens })}</span><span class="one-head">${t('cost.one', { tokens })}</span></span>`;
  return html`<table class="data-table cost-table">${tableHead([null, heads])}
    <tbody>${FLOP_ROWS.map(row)}${tableRow(t('cost.total'), [two('total', nothing)], 'total')}</tbody></table>`;
}

function bytesTable(shape: Shape): TemplateResult {
  const bytes = bytesOf(shape);
  const row = (name: (typeof BYTE_ROWS)[number]) =>
    html`<tr><th scope="row">${heading(name)}</th><td data-bytes=${name}>${withUnit(bytes[name], 'B')}</td></tr>`;
  return html`<table class="data-table cost-table">${tableHead([null, t('cost.size')])}
    <tbody>${BYTE_ROWS.map(row)}</tbody></table>`;
}

function halfText(shape: Shape): string {
  const { scores, values, total } = passFlops(shape);
  const part = digits((100 * (scores + values)) / total, 3);
  const half = whole(Math.ceil(evenLength(shape)));
  return t('cost.half', { part, tokens: whole(shape.tokens), half });
}

function againText(shape: Shape): string {
  const { cached, again } = generationFlops(shape);
  return t('cost.again', {
    ...{ tokens: whole(shape.tokens), ratio: digits(again / cached, 3) },
    ...{ cached: withUnit(cached, 'FLOP'), again: withUnit(again, 'FLOP') },
  });
}

function cacheText(shape: Shape): string {
  const { numHeads, numKvHeads, tokens } = shape;
  const { cache, cacheOfAll } = bytesOf(shape);
  return t(numHeads === numKvHeads ? 'cost.cacheEach' : 'cost.cacheShared', {
    ...{ heads: numHeads, kv: numKvHeads, cache: withUnit(cache, 'B') },
    ...{ all: withUnit(cacheOfAll, 'B'), one: withUnit(cache / tokens, 'B') },
  });
}

const lettersText = (shape: Shape): string =>
  t('cost.letters', {
    ...{ pairs: whole(pairsOf(shape)), m: shape.gated ? 3 : 2, n: shape.tables },
    parameters: withUnit(parametersOf(shape), ''),
  });

customElements.define('qkv-cost-counts', CountsPart);
