import { html, nothing, type TemplateResult } from 'lit-html';
import { options, withValue } from '../../../ui/lit/controls';
import { tableHead } from '../../../ui/lit/tables';
import { percent } from '../../../ui/numbers';
import { t } from '../feature';
import type { CutEdge, CutHead, CutResult } from '../shared/protocol';
import { edgeText, headText } from './names';

interface CutOptions {
  readonly labels: readonly string[];
  readonly size: readonly [layers: number, heads: number];
  /** Whether a query reads earlier keys alone. */
  readonly causal: boolean;
  /** The edge that the selects show. */
  readonly edge: CutEdge;
  readonly choose: (edge: CutEdge) => void;
  readonly heads: readonly CutHead[];
  readonly edges: readonly CutEdge[];
  readonly cut: CutResult | null;
  readonly setHeads: (heads: readonly CutHead[]) => void;
  readonly setEdges: (edges: readonly CutEdge[]) => void;
}

const same = (a: readonly number[], b: readonly number[]) => a.join('.') === b.join('.');

/** A list without an entry, or with it where it was not there. */
export function toggled<Of extends readonly number[]>(list: readonly Of[], one: Of): readonly Of[] {
  const others = list.filter((each) => !same(each, one));
  return others.length < list.length ? others : [...list, one];
}

/** The edge at the place of another prompt or model: a place that is not there is the last one that is. */
export function edgeWithin(
  [layer, head, query, key]: CutEdge,
  { count, size, causal }: { count: number; size: readonly [number, number]; causal: boolean },
): CutEdge {
  const at = Math.min(query, count - 1);
  const most = causal ? at : count - 1;
  return [Math.min(layer, size[0] - 1), Math.min(head, size[1] - 1), at, Math.min(key, most)];
}

/** Restores what a button is for, which then is gone: the focus goes on to what cuts. */
const restoring = (restore: () => void) => (event: Event) => {
  const card = (event.currentTarget as Element).closest('.microscope-card');
  card?.querySelector<HTMLElement>('[data-do=edge]')?.focus();
  restore();
};

/** Which edge to cut, what is cut, and what that does to the next token. */
export function cutsView(of: CutOptions): TemplateResult {
  const { heads, edges, cut, labels } = of;
  const none = heads.length + edges.length === 0;
  const back = () => {
    if (heads.length > 0) of.setHeads([]);
    if (edges.length > 0) of.setEdges([]);
  };
  return html`
    ${edgeControls(of)}
    <ul class="microscope-cuts">
      ${heads.map((head) => cutItem(t('microscope.head', { name: headText(head) }), () => of.setHeads(toggled(heads, head))))}
      ${edges.map((edge) => cutItem(edgeText(edge, labels), () => of.setEdges(toggled(edges, edge))))}
    </ul>
    <p class="hint" role="status">${none ? t('microscope.nothingCut') : t('microscope.someCut', { count: heads.length + edges.length })}
      <button type="button" class="button" data-do="back" ?hidden=${none} @click=${restoring(back)}>${t('microscope.back')}</button></p>
    ${cut ? nextTable(cut) : nothing}`;
}

const cutItem = (name: string, restore: () => void) => html`
  <li><span>${name}</span> <button type="button" class="button" aria-label=${t('microscope.restoreOf', { name })} @click=${restoring(restore)}>${t('microscope.restore')}</button></li>`;

function edgeControls(of: CutOptions): TemplateResult {
  const { labels, edge, edges, size, causal } = of;
  const [layer, head, query, key] = edge;
  const names = Array.from({ length: size[0] * size[1] }, (_, at) =>
    headText([Math.floor(at / size[1]), at % size[1]]),
  );
  const tokens = labels.map((label, at) => [String(at), `${at} ${label}`] as const);
  const keys = causal ? tokens.slice(0, query + 1) : tokens;
  const select = (
    name: 'edgeHead' | 'edgeQuery' | 'edgeKey',
    choices: readonly (readonly [string, string])[],
    chosen: string,
    take: (value: string) => CutEdge,
  ) => html`<label class="minus"><span>${t(`microscope.${name}`)}</span>
    <select id="microscope-${name}" @change=${withValue((value) => of.choose(take(value)))}>${options(choices, chosen)}</select></label>`;
  const headChosen = (value: string): CutEdge => {
    const at = names.indexOf(value);
    return [Math.floor(at / size[1]), at % size[1], query, key];
  };
  const queryChosen = (value: string): CutEdge => {
    const at = Number(value);
    return [layer, head, at, causal ? Math.min(key, at) : key];
  };
  const headNames = names.map((name) => [name, name] as const);
  const isCut = edges.some((each) => same(each, edge));
  return html`<div class="microscope-controls" data-control>
    ${select('edgeHead', headNames, headText([layer, head]), headChosen)}
    ${select('edgeQuery', tokens, String(query), queryChosen)}
    ${select('edgeKey', keys, String(key), (value) => [layer, head, query, Number(value)])}
    <button type="button" class="button" data-do="edge" aria-pressed=${isCut} @click=${() => of.setEdges(toggled(edges, edge))}>${t('microscope.cutEdge')}</button>
  </div>`;
}

const barCell = (p: number) =>
  html`<td><span class="bar" aria-hidden="true"><i .style=${`width: ${100 * p}%`}></i></span><span class="value">${percent(p)}</span></td>`;

/** The next token before and after, side by side. */
function nextTable({ rows }: CutResult): TemplateResult {
  const titles = ['next', 'before', 'after'] as const;
  return html`<table class="data-table microscope-next">
    <caption class="visually-hidden">${t('microscope.nextTable')}</caption>
    ${tableHead(titles.map((title) => t(`microscope.${title}`)))}
    <tbody>${rows.map(({ label, before, after }) => html`<tr><th scope="row"><bdi>${label}</bdi></th>${barCell(before)}${barCell(after)}</tr>`)}</tbody></table>`;
}
