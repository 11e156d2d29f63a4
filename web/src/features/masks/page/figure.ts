import type { MasksResult } from '../worker/masked_grid';
import type { Frame } from '../../../worker/protocol';
import { t } from '../feature';
import { headName, provenance } from '../../head_names';
import type { Figure } from '../../../ui/export_figure';
import { colours, drawMap } from '../../../ui/heatmap_svg';

export function masksFigure(frame: Frame, result: MasksResult, canvas: HTMLCanvasElement): Figure {
  const { tokens, mask, weights, request } = result;
  const { source, seed, temperature } = frame.request.layer;
  const count = tokens.length;
  const parts = [
    headName(frame.request.layer, result.head),
    t(`masks.${request.maskKind}`),
    `τ ${temperature}`,
    provenance(source, seed),
  ];
  const allowed = (row: number, col: number) => mask[row * count + col] === 1;
  const drawn = { tokens, values: weights, allowed, colour: colours('weights', 1) };
  return {
    name: 'masks',
    svg: drawMap(drawn, canvas, parts.join(' · ')),
    table: [
      ['', ...tokens],
      ...tokens.map((token, row) => [token, ...weights.subarray(row * count, (row + 1) * count)]),
    ],
    data: { masks: result, layer: frame.request.layer },
  };
}
