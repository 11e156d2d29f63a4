import { stacked, text, type Figure } from '../../../ui/export_figure';
import { filePen } from '../../../ui/plot';
import { sharpBound, simpleBound, worstChange } from '../shared/bounds';
import { CURVE } from '../shared/constants';
import type { FragilityResult } from '../worker/frame_feature';
import { drawChanges, HEIGHT } from './plots';

const WIDTH = 600;

/** The curves, and their numbers at every temperature. */
export function fragilityFigure(result: FragilityResult): Figure {
  const { scores, shake, curve } = result;
  const titles = { x: 'τ', y: '|p′ − p|₁' };
  const { body, end } = stacked([[HEIGHT, drawChanges(filePen, WIDTH, result, titles)]], {
    top: 36,
  });
  const title = `s = (${scores.join(', ')}), ε = ${shake}`;
  return {
    name: 'fragility',
    svg: {
      width: WIDTH + 24,
      height: end,
      body: text(12, 24, title, { 'font-weight': 700 }) + body,
    },
    table: [
      ['tau', 'mean', 'largest', 'worst of this row', '2 tanh(epsilon / 2 tau)', 'epsilon / tau'],
      ...CURVE.map((tau, i) => [
        ...[tau, curve[i]?.mean ?? 0, curve[i]?.largest ?? 0],
        ...[worstChange(scores, shake, tau), sharpBound(shake, tau), simpleBound(shake, tau)],
      ]),
    ],
    data: { fragility: result },
  };
}
