import { stacked, type Figure } from '../../../ui/export_figure';
import { filePen } from '../../../ui/plot';
import { SHARPNESS, WAYS } from '../shared/constants';
import { costOf } from '../shared/counts';
import type { LinearResult } from '../worker/frame_feature';
import {
  COSTS_HEIGHT,
  drawCosts,
  drawErrors,
  drawWeights,
  ERRORS_HEIGHT,
  WEIGHTS_HEIGHT,
} from './plots';

const WIDTH = 600;

/** The three drawings, errors and costs. */
export function linearFigure(
  result: LinearResult,
  sizes: { readonly tokens: number; readonly width: number; readonly window: number },
): Figure {
  const names = { softmax: 'softmax', window: `window of ${result.window}`, linear: 'linear' };
  const { body, end } = stacked(
    [
      [WEIGHTS_HEIGHT, drawWeights(filePen, WIDTH, result, names)],
      [ERRORS_HEIGHT, drawErrors(filePen, WIDTH, result, { x: 'c', y: 'error' })],
      [COSTS_HEIGHT, drawCosts(filePen, WIDTH, sizes, { x: 'T', y: 'operations' })],
    ],
    { top: 12 },
  );
  return {
    name: 'linear',
    svg: { width: WIDTH + 24, height: end, body },
    table: [
      ['c', 'error of the window', 'error of linear attention'],
      ...SHARPNESS.map((c, i) => [c, result.curve[i]?.window ?? 0, result.curve[i]?.linear ?? 0]),
      [`T = ${sizes.tokens}`, 'operations', 'numbers kept'],
      ...WAYS.map((way) => {
        const { operations, kept } = costOf(way, sizes);
        return [way, operations, kept];
      }),
    ],
    data: { linear: result, sizes },
  };
}
