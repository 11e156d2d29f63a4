import { tableSvg, type Figure } from '../../../ui/export_figure';
import { four } from '../../../ui/numbers';
import type { PanelnameResult } from '../worker/frame_feature';

/** The keys that are listed, as a table and as its drawing. */
export function panelnameFigure(result: PanelnameResult, tokens: readonly string[]): Figure {
  const heading = ['position', 'key', 'weight'];
  const rows = result.keys.map(({ key, weight }) => ({ key, token: tokens[key] ?? '', weight }));
  const drawn = rows.map(({ key, token, weight }) => [key, token, four(weight)]);
  return {
    name: 'panelname',
    svg: tableSvg([heading, ...drawn]),
    table: [heading, ...rows.map(({ key, token, weight }) => [key, token, weight])],
    data: { panelname: { ...result, query: tokens[result.query] ?? '' } },
  };
}
