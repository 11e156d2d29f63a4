import { tableSvg, type Figure } from '../../../ui/export_figure';
import { t } from '../feature';
import type { Microscope, WholePass } from '../shared/protocol';
import { mapRows } from './map_table';
import { partName } from './names';

/** All numbers of the panel as one table; null before there are any. */
export function microscopeFigure(of: Microscope): Figure | null {
  const { prompts, shares, cut, pass, maps } = of;
  if (!prompts) return null;
  const rows: (string | number)[][] = [
    [t('microscope.clean'), ...prompts.clean.labels],
    [t('microscope.corrupt'), ...prompts.corrupt.labels],
  ];
  if (prompts.answer && prompts.instead) {
    rows.push([t('microscope.answer'), prompts.answer.label]);
    rows.push([t('microscope.instead'), prompts.instead.label]);
  }
  if (pass) rows.push(...passNumbers(pass));
  for (const map of maps?.maps ?? []) rows.push(...mapRows(map, prompts.clean.labels));
  if (shares) {
    rows.push([t('microscope.partColumn'), t('microscope.shareColumn')]);
    for (const part of shares.parts) rows.push([partName(part), part.value]);
    rows.push([t('microscope.totalColumn'), shares.total]);
  }
  if (cut) {
    rows.push([t('microscope.next'), t('microscope.before'), t('microscope.after')]);
    for (const { label, before, after } of cut.rows) rows.push([label, before, after]);
  }
  const written = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(3)) : cell.slice(0, 40))),
  );
  return { name: 'microscope', svg: tableSvg(written), table: rows, data: { microscope: of } };
}

/** What every part of the pass adds at the token that is followed: how long it is, and what it gives. */
function passNumbers({ at, labels, embed, layers, bias, final }: WholePass): (string | number)[][] {
  const columns = ['pass.lengthColumn', 'pass.givesColumn'] as const;
  return [
    [
      `${t('microscope.pass.token')} ${at} ${labels[at] ?? ''}`,
      ...columns.map((name) => t(`microscope.${name}`)),
    ],
    [t('microscope.part.embed'), embed.streams[at] ?? NaN, embed.value],
    ...layers.flatMap(({ parts, streams }, layer) => [
      ...parts.map((part) => [partName(part), part.norm ?? '', part.value]),
      [t('microscope.pass.afterLayer', { layer }), streams[at] ?? NaN],
    ]),
    [t('microscope.pass.norm'), final, bias],
  ];
}
