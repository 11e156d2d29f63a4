import { stacked, text, type Figure } from '../../../ui/export_figure';
import { filePen } from '../../../ui/plot';
import { BLOCK, WAYS, type Tested } from '../shared/protocol';
import { drawAccuracy, HEIGHT } from './plot';

const WIDTH = 600;

/** The curves, and accuracy in every block of positions. */
export function extrapolationFigure(tested: Tested): Figure {
  const { settings, step, accuracy } = tested;
  const words = { x: 'position', y: 'accuracy', trained: 'trained', chance: 'chance' };
  const { body, end } = stacked([[HEIGHT, drawAccuracy(filePen, WIDTH, tested, words)]], {
    top: 36,
  });
  const title = `${settings.trained} positions, seed ${settings.seed}, step ${step}`;
  return {
    name: 'extrapolation',
    svg: {
      width: WIDTH + 24,
      height: end,
      body: text(12, 24, title, { 'font-weight': 700 }) + body,
    },
    table: [
      ['positions from', ...WAYS],
      ...accuracy.learned.map((_, block) => [
        block * BLOCK,
        ...WAYS.map((way) => accuracy[way][block] ?? 0),
      ]),
    ],
    data: { extrapolation: tested },
  };
}
