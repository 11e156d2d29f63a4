import { html, nothing, type TemplateResult } from 'lit-html';
import { tableHead, tableRow } from '../../../ui/lit/tables';
import { percent } from '../../../ui/numbers';
import { t } from '../feature';
import type { HeadPass, PassLayer, WholePass, Zoom } from '../shared/protocol';
import { partName, signed } from './names';
import { lengthText, streamsBefore } from './pass_rows';

type Row = readonly [name: string, length: string, gives: string];

const total = ({ parts }: PassLayer) => parts.reduce((sum, { value }) => sum + value, 0);

function wholeRows({ embed, layers, bias, final, total: all, at }: WholePass): Row[] {
  return [
    [t('microscope.part.embed'), lengthText(embed.streams[at] ?? NaN), signed(embed.value)],
    ...layers.map((layer, i): Row => {
      const name = t('microscope.pass.afterLayer', { layer: i });
      return [name, lengthText(layer.streams[at] ?? NaN), signed(total(layer))];
    }),
    [t('microscope.pass.norm'), lengthText(final), signed(bias)],
    [t('microscope.pass.logits'), '', signed(all)],
  ];
}

function layerRows(pass: WholePass, layer: number): Row[] {
  const { at } = pass;
  const { parts, streams } = pass.layers[layer]!;
  const before = streamsBefore(pass, layer)[at] ?? NaN;
  return [
    [t('microscope.pass.before'), lengthText(before), ''],
    ...parts.map((part): Row => {
      const { norm, value } = part;
      return [partName(part), norm === null ? '' : lengthText(norm), signed(value)];
    }),
    [t('microscope.pass.after'), lengthText(streams[at] ?? NaN), ''],
  ];
}

/** The numbers of the picture: the same for who does not see it. */
export function passTable(pass: WholePass, [layer, head]: Zoom): TemplateResult {
  const isHead = head !== undefined;
  const rows = layer === undefined ? wholeRows(pass) : layerRows(pass, layer);
  const columns = ['partColumn', 'pass.lengthColumn', 'pass.givesColumn'] as const;
  return html`<details class="pass-numbers"><summary>${t('microscope.pass.numbers')}</summary>
    ${isHead && pass.head ? keysTable(pass, pass.head) : nothing}
    ${
      isHead
        ? nothing
        : html`<table class="data-table">${tableHead(columns.map((name) => t(`microscope.${name}`)))}
      <tbody>${rows.map(([name, ...cells]) => tableRow(name, cells))}</tbody></table>`
    }</details>`;
}

/** What the token reads in one head. */
function keysTable({ at, labels }: WholePass, { map }: HeadPass): TemplateResult {
  const row = map.subarray(at * labels.length, (at + 1) * labels.length);
  const name = (key: number) => html`${key} <bdi class="token">${labels[key]}</bdi>`;
  return html`<table class="data-table">${tableHead([t('microscope.edgeKey'), t('microscope.pass.weight')])}
    <tbody>${Array.from(row, (weight, key) => tableRow(name(key), [percent(weight)]))}</tbody></table>`;
}
